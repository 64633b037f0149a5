"""Capacity of one pool: what a node of a class counts, what is held, and whether more fits. It knows no deployment."""
