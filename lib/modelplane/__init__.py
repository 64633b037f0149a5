"""Fleet-level control plane for LLM inference: the pure library.

Nothing here reads a clock, a random number, the environment, a file or a socket; everything is a function of its
arguments. `modelplane_functions` and `modelplane_cli` are the shells around it.
"""
