"""The flag tables of the engines, held to the engines' own parsers."""
