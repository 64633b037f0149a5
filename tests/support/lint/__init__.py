"""Checks of this repository's own code that no tool of others makes; `hatch run lint` runs them."""
