"""What we render, judged by the real API server with the real definitions of those whose kinds we write."""
