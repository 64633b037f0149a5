"""The arguments that name events: what happens to a fleet, in the order of the command line."""

from __future__ import annotations

import argparse
from typing import Any


class _Happen(argparse.Action):
    """The events in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Append the option and its value."""
        namespace.happenings = [*(getattr(namespace, "happenings", None) or []), (option_string, values)]


def add(made: argparse.ArgumentParser) -> None:
    """Add the arguments that name events."""
    for option, metavar, what in (
        ("--drain", "CLUSTER", "move all replicas off a cluster"),
        ("--lose", "CLUSTER", "lose a cluster for good"),
        ("--unreachable", "CLUSTER", "let a cluster not answer for a while"),
        ("--lose-label", "KEY=VALUE", "lose all clusters with a label at once"),
        (
            "--lose-nodes",
            "CLUSTER/POOL=N",
            "let N nodes of a pool take nothing new, as if they were cordoned or broken",
        ),
        ("--scale", "NAMESPACE/NAME=N", "scale a ModelDeployment to N replicas"),
        ("--add", "PATH", "apply further documents"),
    ):
        made.add_argument(option, metavar=metavar, action=_Happen, dest="happenings", help=what)
