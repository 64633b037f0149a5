"""Generated from apis/: one module of models per kind, and the bundle of all definitions."""
