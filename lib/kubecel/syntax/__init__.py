"""The text of an expression as a tree: tokens, grammar, macros, and where a fault stands."""
