"""What KServe itself makes of the services we render."""
