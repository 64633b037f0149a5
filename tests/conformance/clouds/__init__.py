"""What clusters from nothing are made of, judged by a real API server with the definitions of the clouds' providers."""
