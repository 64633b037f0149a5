"""Advice about selectors: what their author probably meant, never a verdict."""
