"""The memory of a model: its weights, its cache per token, and the topologies of devices that hold both.

All numbers are bytes or counts. Nothing here is measured: each figure follows from the model's published config.json
and from the rules of the engine, which a suite holds to the engine's own code. An architecture without a known formula
is refused.
"""
