"""Launch of an engine by Dynamo: the command of its worker, which is never an author's, and the flags behind it.

In a worker over several nodes the operator reads the sizes of vLLM in the arguments, in one spelling, and puts all
arguments into a line of a shell, which its quoting does not keep in every case.

Source: internal/dynamo/backend_vllm.go (getFlagValue), internal/dynamo/backend_common.go (shellQuoteForBashC,
injectFlagsIntoContainerCommand) of the operator 1.6.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import arguments, capability, pods
from modelplane.render.backends.dynamo import dialects
from modelplane.render.dialects import Flag
from modelplane.render.engines import CommandLine, Launch, Member
from modelplane.render.flags.table import Table
from modelplane.render.workers import launching
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, RoleSpec

Json: TypeAlias = Any

PORT = 8000
"""The port of the frontend."""
SYSTEM_PORT = 9090
"""The port on which a worker says whether it lives."""

_BARE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
# One of these makes the operator put a word into double quotes, where it escapes all that it has to but "'".
_QUOTED_FOR = frozenset(' \t\n"\\{}[]$`!')


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine of a replica, the same for all its pods."""

    type: EngineType
    model: Model | None
    is_disaggregated: bool


def line(engine: Engine, role: RoleSpec) -> CommandLine:
    """Return the command line of the role's workers.

    Raises: InvalidInput at the command or the flag that the author must change.
    """
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    given = [str(word) for word in container.get("args") or ()]
    _refuse_flags(engine, given, path)
    found = capability.command_line(_launch(engine, role), role, dialects.DIALECTS)
    if found.is_opaque:
        raise InvalidInput(
            f"Dynamo starts {engine.type} with {' '.join(_words(engine.type))}, and no other command; remove it, "
            "and write flags in args",
            path=(*path, "command" if container.get("command") else "args"),
        )
    _refuse_command(container, found, path)
    dialect = dialects.DIALECTS[engine.type]
    if not arguments.read(found.args, dialect.table).all_of(dialect.options[Flag.MODEL]):
        raise InvalidInput(
            "Dynamo must know the weights; set it to hf:// with a repository or pvc:// with a claim, or name them with "
            f"{dialect.options[Flag.MODEL]} in args",
            path=("spec", "model", "uri"),
        )
    if not role.topology.is_gang:
        return found
    if engine.type is EngineType.VLLM:
        more = tuple(_unread(role.topology, found.args))
        found = replace(found, args=(*found.args, *more), added=(*found.added, *more))
    _refuse_words(given, path)
    return found


def start_probe(container: Mapping[str, Json], seconds: int) -> dict[str, Json]:
    """Return the startup probe of a worker: the operator's, with the author's times or else with a budget."""
    times = container.get("startupProbe") or {}
    period = times.get("periodSeconds", 10)
    return {
        "httpGet": {"path": "/live", "port": SYSTEM_PORT, "scheme": "HTTP"},
        "timeoutSeconds": 5,
        "periodSeconds": period,
        "failureThreshold": -(-seconds // period),
        **times,
    }


def _launch(engine: Engine, role: RoleSpec) -> Launch:
    """Return the launch of one process; the operator adds what the pods of a worker differ in."""
    launch = launching.launch(engine.type, engine.model, role, Member.ALONE)
    return replace(launch, port=PORT, is_disaggregated=engine.is_disaggregated)


def _words(engine: EngineType) -> tuple[str, ...]:
    return dialects.DIALECTS[engine].launchers[0].words


def _refuse_command(container: Mapping[str, Json], found: CommandLine, path: tuple[str | int, ...]) -> None:
    """Refuse flags behind the worker in command: what is refused of flags is looked for in args."""
    if len(container.get("command") or ()) > len(found.command):
        raise InvalidInput(
            f"write flags in args; only {' '.join(found.command)} may stand here",
            path=(*path, "command", len(found.command)),
        )


def _refuse_flags(engine: Engine, given: Sequence[str], path: tuple[str | int, ...]) -> None:
    refused = dict(dialects.REFUSED[engine.type])
    if not engine.is_disaggregated:
        refused = {**dialects.REFUSED_IN_ONE_ROLE, **refused}
    for index, names in _named(given, dialects.DIALECTS[engine.type].table, path):
        why = next((refused[name] for name in names if name in refused), None)
        if why is not None:
            raise InvalidInput(f"{given[index]} cannot be given with Dynamo: {why}", path=(*path, "args", index))


def _named(given: Sequence[str], table: Table, path: tuple[str | int, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the place of every flag with its name as written, and then with all its names, if the table knows it.

    Raises: InvalidInput at a word that the engine would refuse.
    """
    for index, word in enumerate(given):
        name = word.partition("=")[0]
        yield index, (name.replace("_", "-") if name.startswith("--") else name,)
    try:
        words = arguments.read(given, table)
    except InvalidInput as error:
        raise error.under(*path) from None
    for one in words.given:
        if one.option is not None:
            yield one.index, one.option.names


def _unread(topology: Topology, args: Sequence[str]) -> Iterator[str]:
    """Yield the sizes that stand in the arguments in a spelling that the operator does not read, as it reads them."""
    options = dialects.DIALECTS[EngineType.VLLM].options
    sizes = {Flag.TENSOR: topology.tensor, Flag.PIPELINE: topology.pipeline, Flag.DATA: topology.data}
    pairs = set(itertools.pairwise(args))
    for flag, size in sizes.items():
        if size > 1 and (options[flag], str(size)) not in pairs:
            yield from (options[flag], str(size))


def _refuse_words(given: Sequence[str], path: tuple[str | int, ...]) -> None:
    """Refuse words that would not come out of the operator's shell line as they went in."""
    for number, word in enumerate(given):
        is_quoted = bool(_QUOTED_FOR & set(word)) and "'" not in word and "$(" not in word
        if _BARE.match(word) is None and not is_quoted:
            raise InvalidInput(
                "Dynamo's operator puts the arguments of a worker over several nodes into a line of a shell, which "
                f"would not keep {word!r}; write it without ' ; & | < > ( ) * ? # ~ and $(NAME)",
                path=(*path, "args", number),
            )
