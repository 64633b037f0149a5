"""Cluster schedulers, one module each. A scheduler must not know another, nor a backend."""
