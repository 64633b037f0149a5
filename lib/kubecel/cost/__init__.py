"""The cost of an expression: the worst case before it runs, and the charge as it runs."""
