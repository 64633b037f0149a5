"""The words that may stand next on a command line.

Where nothing is proposed the shell completes files, which most arguments are.
"""

from __future__ import annotations

import argparse
import importlib
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from modelplane_cli import shorts
from modelplane_cli.completing import written

KUBECTL_SECONDS = 2
_CLUSTER, _DEPLOYMENT = "InferenceCluster", "ModelDeployment"


class Proposal(NamedTuple):
    """A word and what it means."""

    word: str
    about: str = ""


class Line(NamedTuple):
    """A command line up to the cursor: its complete words after the program, and the word that is being written."""

    words: tuple[str, ...]
    current: str


def read(text: str) -> Line:
    """Return the words of a line as a shell would split them. Nothing in it is expanded or run."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()  # a quotation that is not closed yet
    if not text or text[-1:].isspace():
        words.append("")
    kept = [word for word in words[1:] if word != "--debug"] or [""]
    return Line(tuple(kept[:-1]), kept[-1])


def of(line: Line, commands: Mapping[str, str]) -> list[Proposal]:
    """Return the words that may stand in place of the current one, in order."""
    if not line.words or line.words == ("help",):
        found = [Proposal(name, about) for name, about in commands.items()]
    elif line.words[0] in commands:
        found = _arguments(line.words[0], line.words[1:], line.current)
    else:
        found = []
    return [one for one in found if one.word.startswith(line.current)]


def _arguments(command: str, words: Sequence[str], current: str) -> list[Proposal]:
    made: argparse.ArgumentParser = importlib.import_module(f"modelplane_cli.parsers.{shorts.module(command)}").parser()
    options = {flag: action for action in made._actions for flag in action.option_strings}
    flag, equals, _ = current.partition("=")
    if equals and flag in options:
        return [Proposal(f"{flag}={word}", about) for word, about in _values(options[flag], words)]
    before = options.get(words[-1]) if words else None
    if before is not None and before.nargs != 0:
        return _values(before, words)
    if current.startswith("-"):
        given = {options[word] for word in words if word in options}
        return [
            Proposal(flag, action.help or "")
            for flag, action in options.items()
            if flag.startswith("--") and (action not in given or action.dest == "happenings")
        ]
    return _positional(command, _free_words(words, options), words, current)


def _free_words(words: Sequence[str], options: Mapping[str, argparse.Action]) -> list[str]:
    """Return the words that are neither options nor their values."""
    found, is_value = [], False
    for word in words:
        if not is_value and not word.startswith("-"):
            found.append(word)
        is_value = not is_value and word in options and options[word].nargs != 0
    return found


def _values(action: argparse.Action, words: Sequence[str]) -> list[Proposal]:
    """Return the values of an option, none where it takes a file or anything."""
    if action.choices is not None:
        return [Proposal(str(choice)) for choice in action.choices]
    if action.dest == "namespace":
        return _distinct(one.namespace for one in written.objects(words))
    if action.metavar == "CLUSTER":
        return _distinct(one.name for one in written.objects(words) if one.kind == _CLUSTER)
    if action.metavar == "region|class|LABEL":
        return [Proposal(word) for word in ("region", "class")]
    if action.metavar == "NAMESPACE/NAME=N":
        found = (one for one in written.objects(words) if one.kind == _DEPLOYMENT)
        return _distinct(f"{one.namespace or 'default'}/{one.name}=" for one in found)
    if (action.dest, action.metavar) == ("context", "NAME"):
        return _contexts()
    return []


def _positional(command: str, given: Sequence[str], words: Sequence[str], current: str) -> list[Proposal]:
    if command == "explain" and ("/" in current or given):
        return _subjects(words, current)
    if command == "schema" and not given:
        from modelplane.api import catalogue  # noqa: PLC0415 - only where a kind is asked for

        return [Proposal(kind) for kind in catalogue.kinds()]
    if command == "fit" and not given:
        from modelplane.sizing import catalogue as models  # noqa: PLC0415 - only where a model is asked for

        known = sorted(models.read())
        return [Proposal(name if "/" in current else name.rpartition("/")[2]) for name in known]
    if command == "class" and not given:
        from modelplane_cli.parsers import classes  # noqa: PLC0415 - as for the others

        return [Proposal(action) for action in classes.ACTIONS]
    if command == "completion" and not given:
        from modelplane_cli.parsers import completion  # noqa: PLC0415 - it names this module's callers

        return [Proposal(shell) for shell in completion.SHELLS]
    return []


def _subjects(words: Sequence[str], current: str) -> list[Proposal]:
    """Return the objects of the documents that `explain` takes, with the short name that was begun."""
    begun = current.partition("/")[0]
    asked = {kind: short for short, kind in shorts.KINDS.items() if short.startswith(begun)}
    found = {
        Proposal(f"{asked[one.kind]}/{one.name}", f"{one.kind} in {one.namespace}" if one.namespace else one.kind)
        for one in written.objects(words)
        if one.kind in asked
    }
    return sorted(found)


def _contexts() -> list[Proposal]:
    """Return the contexts of the kubeconfig, none without kubectl."""
    program = shutil.which("kubectl")
    if program is None:
        return []
    asked = (program, "config", "get-contexts", "--output=name")
    try:
        answer = subprocess.run(  # noqa: S603 - fixed arguments
            asked, capture_output=True, text=True, timeout=KUBECTL_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return _distinct(answer.stdout.splitlines())


def _distinct(words: Iterable[str]) -> list[Proposal]:
    return [Proposal(word) for word in sorted(set(words)) if word]
