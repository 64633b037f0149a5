"""Clouds, one module each. A cloud must not know another."""
