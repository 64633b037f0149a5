"""Fleet-level control plane for LLM inference: the pure library.

The library reads no clock, random number, environment variable, file or socket; every result depends only on the
arguments. `modelplane_functions` and `modelplane_cli` are the shells around it.
"""
