"""The evaluation of a checked expression: plans, and the functions made of them."""
