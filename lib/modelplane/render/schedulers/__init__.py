"""Cluster schedulers, one module each. What may never happen here: one that knows another, or a backend."""
