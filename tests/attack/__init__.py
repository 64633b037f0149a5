"""The attacks that once succeeded, played against the function server as a process: `python -m tests.attack`.

`plane` is a small Crossplane of its own, `judge` counts what stands by its own arithmetic, and each line of `lines` is
one attack: the theft, then reconciles until nothing moves, then the harm that was done looked for.
"""
