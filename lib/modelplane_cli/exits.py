"""Exit codes of the command: what a script may rely on."""

from __future__ import annotations

FINE = 0
"""Asked and answered: everything wanted is there."""
NO = 1
"""The answer is no: something wanted is not placed, not ready, or would be disrupted."""
BAD_INPUT = 2
"""The author must change something; one line per problem says what."""
BUG = 3
"""Ours to fix."""
BROKEN_PIPE = 141
"""The reader of our output left, as `head` does; the shell's code for SIGPIPE."""
INTERRUPTED = 130
"""Stopped by Ctrl-C; the shell's code for SIGINT."""
