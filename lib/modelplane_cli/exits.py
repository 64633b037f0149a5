"""Exit codes of the command, on which scripts may rely."""

from __future__ import annotations

FINE = 0
"""Success: everything desired is placed and ready."""
NO = 1
"""The answer is no: something desired is not placed or not ready, or it would be disrupted."""
BAD_INPUT = 2
"""Bad input: the author must change something. Each problem is one line."""
BUG = 3
"""An internal error."""
BROKEN_PIPE = 141
"""The reader of the output has closed the pipe, as `head` does. It is the shell's code for SIGPIPE."""
INTERRUPTED = 130
"""The command was stopped by Ctrl-C. It is the shell's code for SIGINT."""
