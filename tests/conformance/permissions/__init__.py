"""What we ship of roles and policies, on a real API server: who can do what, and who cannot."""
