"""The cost of an expression: the estimate before an evaluation, and the charge during it."""
