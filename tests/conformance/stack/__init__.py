"""Charts of the serving stack, rendered by Helm's own code with our values and taken by a real API server."""
