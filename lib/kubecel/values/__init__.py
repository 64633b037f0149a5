"""The values that an expression takes and gives, and the errors among them."""
