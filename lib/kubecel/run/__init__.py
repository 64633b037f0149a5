"""The evaluation of a checked expression: plans, and functions that run them."""
