"""The arguments and the help of each sub-command, without what it computes with.

Help and completion load this room alone, so that neither waits for a library.
"""
