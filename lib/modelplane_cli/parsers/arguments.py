"""Arguments of the sub-commands."""

from __future__ import annotations

import argparse
import difflib
from typing import NoReturn


class _Parser(argparse.ArgumentParser):
    """A parser that proposes the option that an unknown one reads like."""

    def error(self, message: str) -> NoReturn:
        """Report the message with a proposal, and exit."""
        start, colon, words = message.partition("unrecognized arguments: ")
        if colon and not start:
            known = [one for one in self._option_string_actions if one.startswith("--")]
            given = [word.partition("=")[0] for word in words.split() if word.startswith("--")]
            close = [match for word in given for match in difflib.get_close_matches(word, known, n=1)]
            message += f"; did you mean {' and '.join(dict.fromkeys(close))}?" if close else ""
        super().error(message)


def parser(command: str, description: str, epilog: str, *, allow_abbrev: bool = True) -> argparse.ArgumentParser:
    """Return the parser of a sub-command, without arguments. The lines of the epilog stay as they are."""
    return _Parser(
        prog=f"modelplane {command}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=allow_abbrev,
    )
