"""Completion of the command line: what may stand next, and the scripts that ask for it in a shell."""
