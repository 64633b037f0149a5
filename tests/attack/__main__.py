"""Plays the table: `python -m tests.attack`. The exit code is 1 when an attack succeeded or could not be played."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import grpc

from tests.attack import judge, lines
from tests.attack.plane import Refused
from tests.attack.play import Play
from tests.support import functionserver

_FAILED = (AssertionError, grpc.RpcError, Refused, LookupError, TypeError)


def main(given: Sequence[str] | None = None) -> int:
    """Print a line for each attack; return 1 unless all were seen to fail."""
    made = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    made.add_argument("--only", default="", metavar="TEXT", help="only attacks whose words or name hold the text")
    made.add_argument("--fast", action="store_true", help="the short form that the tests play")
    options = made.parse_args(given)
    chosen = [one for one in lines.LINES if options.only in f"{one.attack} {one.name}"]
    chosen = [one for one in chosen if not (options.fast and one.is_slow)]
    taken = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        functionserver.running(["--insecure"]) as server,
        grpc.insecure_channel(server.target) as channel,
    ):
        play = Play(server, channel, Path(folder), thorough=not options.fast)
        for line in chosen:
            taken += _played(line, play)
    sys.stdout.write(f"{len(chosen)} attacks, {taken} not seen to fail\n")
    return 1 if taken or not chosen else 0


def _played(line: lines.Line, play: Play) -> bool:
    """Print what came of an attack; return whether it was not seen to fail."""
    began, verdict = time.monotonic(), "safe"
    try:
        said = line.play(play)
    except judge.Taken as taken:
        verdict, said = "TAKEN", str(taken)
    except _FAILED as error:  # it was not played to its end, and proves nothing
        verdict, said = "BROKEN", f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - began
    sys.stdout.write(f"{line.severity:<9} {line.attack:<62} {verdict:<6} {seconds:>6.1f} s  {said}\n")
    sys.stdout.flush()
    return verdict != "safe"


if __name__ == "__main__":
    raise SystemExit(main())
