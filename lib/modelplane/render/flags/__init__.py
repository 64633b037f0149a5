"""The flags of the engines as data: one table per engine, held to the engine's own parser by tests/conformance/engines.

A table holds the flags of all versions of its range. No decision is made here.
"""
