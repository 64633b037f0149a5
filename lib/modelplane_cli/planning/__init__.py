"""Plans, explanations and simulations of a fleet, from worlds that the real functions settle.

What may never happen here: an answer that the functions would not give. Where replicas go is read from what was
composed, never decided a second time.
"""
