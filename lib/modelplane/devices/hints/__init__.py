"""Advice about selectors: the probable intention of their author. Advice is never a verdict."""
