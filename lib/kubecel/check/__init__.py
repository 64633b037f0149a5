"""The types of an expression: what is declared, and what fits."""
