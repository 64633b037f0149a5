"""The modelplane command."""

def main() -> int:
    """Exit code."""
    return 0
