"""Our API on the real API server: what it accepts, what it refuses and with which words, what people see."""
