"""The problems of documents on standard error, one line each."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from modelplane_cli.documents.reading import Problem


def write(found: Iterable[Problem]) -> None:
    """Write one line per problem, as a reader goes through the files."""
    for problem in sorted(found, key=lambda item: item.order):
        print(problem, file=sys.stderr)
