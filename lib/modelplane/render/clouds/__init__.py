"""Where clusters come from, one module each. What may never happen here: one that knows another."""
