"""The command line that an author wrote for an engine: its launcher, its words, and the model that they name.

A command that runs a shell or an unknown program is opaque: nothing in it is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import arguments
from modelplane.render.arguments import Given, Words
from modelplane.render.dialects import DIALECTS, Dialect, Flag, Launcher
from modelplane.workload.model import EngineType

Json: TypeAlias = Any

_INSTEAD = {Flag.MODEL: Flag.MODEL_FILE}


def read(engine: EngineType, container: Mapping[str, Json]) -> tuple[str | None, Words] | None:
    """Return the model that the arguments load, None if it is unknown, and all flags; None for an opaque command.

    Raises: InvalidInput with the index of a word that the engine would refuse.
    """
    dialect = DIALECTS.get(engine)
    found = None if dialect is None else launcher(dialect, words(container, "command"), words(container, "args"))
    if dialect is None or found is None:
        return None
    start, own = found
    flags = arguments.read(own, dialect.table)
    loose = model_word(start, own, flags)
    name = dialect.options.get(Flag.MODEL)
    stated = (loose,) if loose is not None else () if name is None else given(flags, dialect, Flag.MODEL, name)
    value = stated[-1].values[0] if stated and stated[-1].values else None
    return (None if value is None or "$(" in value else value), flags


def served_model(engine: EngineType, container: Mapping[str, Json]) -> str | None:
    """Return the model that the arguments load, None if it is unknown. Raises: as `read`."""
    found = read(engine, container)
    return None if found is None else found[0]


def words(container: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Return the words of the container's `command` or `args`."""
    return tuple(str(word) for word in container.get(key) or ())


def launcher(
    dialect: Dialect, command: tuple[str, ...], args: tuple[str, ...]
) -> tuple[Launcher, tuple[str, ...]] | None:
    """Return the launcher and the words behind it, None where the command is not one of the engine's own."""
    if arguments.is_shell(command or args):
        return None
    every = (*command, *args)
    for one in dialect.launchers:
        size = len(one.words)
        if every[:size] == one.words or (every and _base(every[:size]) == one.words):
            return dataclasses.replace(one, words=every[:size]), every[size:]
    return None if command else (dialect.launchers[0], args)


def _base(every: tuple[str, ...]) -> tuple[str, ...]:
    return (every[0].rsplit("/", 1)[-1], *every[1:])


def model_word(start: Launcher, own: Sequence[str], flags: Words) -> Given | None:
    """Return the model that stands without a flag. Raises: InvalidInput for any other word that belongs to none."""
    loose = list(flags.loose)
    model = loose.pop(0) if start.reads_model and loose else None
    if loose:
        raise InvalidInput(f"{own[loose[0]]} does not belong to a flag; remove it", path=("args", loose[0]))
    named = () if model is None else flags.all_of("--model")
    if named:
        raise InvalidInput(
            f"{name_of(named[0])} states the model, and so does {own[model or 0]}; remove one of them",
            path=("args", named[0].index),
        )
    return None if model is None else Given(model, own[model], None, (own[model],))


def given(flags: Words, dialect: Dialect, flag: Flag, name: str) -> tuple[Given, ...]:
    """Return the places that state a flag, or the one that may stand instead of it."""
    other = _INSTEAD.get(flag)
    instead = None if other is None else dialect.options.get(other)
    return flags.all_of(name) or (() if instead is None else flags.all_of(instead))


def name_of(one: Given) -> str:
    """Return the flag as the author spelt it, without its value."""
    return one.spelt.partition("=")[0]
