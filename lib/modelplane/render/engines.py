"""Command line of an engine container: the author's arguments and the flags that follow from model and topology.

The topology is the only source of truth for parallelism. A flag that the author omits is added. A flag that contradicts
the topology is refused with both values, and so is one that is stated twice or that would keep probes and routes from
the engine. A command that runs a shell or an unknown program is opaque: it is neither parsed nor changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.render import arguments, authored
from modelplane.render.arguments import Given, Words
from modelplane.render.dialects import DIALECTS, Dialect, Flag, Launcher
from modelplane.render.flags.table import Takes
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role

Json: TypeAlias = Any

DATA_PARALLEL_PORT = 5555
SGLANG_GANG_PORT = 20000
SGLANG_BOOTSTRAP_PORT = 8998

_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - a pod serves
# No field of an author changes what these must say.
_FIXED = frozenset({Flag.HOST, Flag.PORT})
# A text of several values in one: llama.cpp takes addresses and names apart by commas.
_LISTS = {EngineType.LLAMACPP: frozenset({Flag.HOST, Flag.SERVED_NAME})}


class Member(StrEnum):
    """The part of a pod in its worker."""

    ALONE = "alone"
    LEADER = "leader"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Launch:
    """The parameters of one engine process.

    `model_path` is the repository or path that it loads, None if the author's arguments name it. `served_names` are the
    names for clients, the first is that of the model. `port` is the port on which the backend expects the API. An
    engine that publishes metrics only when told is told if `has_metrics`.
    """

    engine: EngineType
    role: Role
    topology: Topology
    member: Member
    port: int
    model_path: str | None = None
    revision: str | None = None
    served_names: tuple[str, ...] = ()
    is_disaggregated: bool = False
    has_metrics: bool = False


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The command and arguments of the container, and those that were added. An opaque one is unchanged."""

    command: tuple[str, ...]
    args: tuple[str, ...]
    added: tuple[str, ...] = ()
    is_opaque: bool = False


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A flag that follows from the model or the topology.

    `accepts` are the values that the author may give, None for any. `because` names the source of the value.
    """

    flag: Flag
    values: tuple[str, ...]
    because: str
    accepts: tuple[str, ...] | None = None
    is_default: bool = False


def command_line(
    launch: Launch, container: Mapping[str, Json], dialects: Mapping[EngineType, Dialect] = DIALECTS
) -> CommandLine:
    """Return the command line of the engine container. A backend with launchers of its own has `dialects` of its own.

    Raises: InvalidInput if a flag contradicts the model or the topology, is stated twice, or would keep probes and
    routes from the engine; its path starts inside the container.
    """
    command, args = authored.words(container, "command"), authored.words(container, "args")
    dialect = dialects.get(launch.engine)
    found = None if dialect is None else authored.launcher(dialect, command, args)
    if dialect is None or found is None:
        return _opaque(command, args)
    launcher, own = found
    try:
        front, added = _follows(launch, dialect, launcher, own)
    except InvalidInput as error:
        raise _placed(error, len(launcher.words) if (*command, *args) != own else 0, len(command)) from None
    return CommandLine(launcher.words, (*front, *own, *added), (*front, *added))


def _placed(error: InvalidInput, launcher: int, command: int) -> InvalidInput:
    """Return the error at the word that the author wrote: the engine's own words may begin in command."""
    *front, index = error.path
    place = int(index) + launcher
    path = ("command", place) if place < command else ("args", place - command)
    return InvalidInput(error.message, path=(*front[:-1], *path))


def _follows(launch: Launch, dialect: Dialect, launcher: Launcher, own: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the words to write before and behind the author's. Raises: InvalidInput with the index of a word."""
    words = arguments.read(own, dialect.table)
    model = authored.model_word(launcher, own, words)
    _refuse_words(launch, dialect, words)
    front: list[str] = []
    added: list[str] = []
    for wanted in _wanted(launch, words, dialect):
        name = dialect.options.get(wanted.flag)
        is_added = not wanted.is_default and wanted.flag not in dialect.compared
        if wanted.flag is Flag.MODEL and model is not None:
            _compare(launch, wanted, (model,), is_added=is_added)
            continue
        given = () if name is None else authored.given(words, dialect, wanted.flag, name)
        if given:
            _compare(launch, wanted, given, is_added=is_added)
        elif wanted.flag is Flag.MODEL and launcher.takes_model:
            front.extend(wanted.values)
        elif name is not None and is_added:
            added.extend((name, *wanted.values))
    return front, added


def said_of(line: CommandLine) -> str:
    """Return a text with the added arguments, or with the fact that the command line is opaque."""
    return "opaque, taken as written" if line.is_opaque else f"added {' '.join(line.added)}"


def _opaque(command: tuple[str, ...], args: tuple[str, ...]) -> CommandLine:
    # A backend that lays its own command under an absent half would run something else: fill both where there are
    # words for it.
    if command and not args:
        return CommandLine(command[:1], command[1:], is_opaque=True)
    return CommandLine(command, args, is_opaque=True)


def _refuse_words(launch: Launch, dialect: Dialect, words: Words) -> None:
    """Raise where a flag is stated twice, or does what cannot be done in this pod."""
    twice = next(arguments.stated_twice(words), None)
    if twice is not None:
        first, second = twice
        raise InvalidInput(
            f"{authored.name_of(second)} states what {authored.name_of(first)} states before it; remove one of them",
            path=("args", second.index),
        )
    _refuse(dialect.refused, "cannot be given", words)
    if launch.topology.is_gang:
        _refuse(dialect.refused_in_gang, "cannot be given where a worker spans nodes", words)
    if launch.topology.data > 1:
        _refuse(dialect.refused_with_data, "cannot be given with data ranks", words)


def _refuse(refused: Mapping[str, str], where: str, words: Words) -> None:
    for name, why in refused.items():
        flag, _, value = name.partition("=")
        for given in words.all_of(flag):
            if not given.negated and (not value or value in given.values):
                raise InvalidInput(f"{given.spelt} {where}: {why}", path=("args", given.index))


def _wanted(launch: Launch, words: Words, dialect: Dialect) -> Iterator[_Wanted]:
    """Yield what the engine must be told, in the order it is added."""
    yield from _what_is_served(launch)
    if launch.engine is EngineType.SGLANG:
        own = words.all_of(dialect.options[Flag.ATTENTION_DATA])
        yield from _sglang_sizes(launch.topology, has_attention_size=bool(own))
    else:
        yield from _sizes(launch)
    if launch.has_metrics:
        yield _Wanted(Flag.METRICS, (), "the endpoint picker, which reads them", ("true",))
    if launch.is_disaggregated and launch.engine is EngineType.VLLM:
        yield _kv_transfer(launch.role)
        yield _role(launch.role)
    if launch.is_disaggregated and launch.engine is EngineType.SGLANG:
        yield from _sglang_disaggregation(launch.role)
    if launch.member is Member.ALONE:
        yield _Wanted(Flag.NODES, (), "workers.topology (one node)", ("1",), is_default=True)
        yield _Wanted(Flag.RANK, (), "workers.topology (one node)", ("0",), is_default=True)
    else:
        yield from _gang(launch)


def _what_is_served(launch: Launch) -> Iterator[_Wanted]:
    if launch.model_path is not None:
        yield _Wanted(Flag.MODEL, (launch.model_path,), "model.uri", (launch.model_path,))
    if launch.revision is not None:
        yield _Wanted(Flag.REVISION, (launch.revision,), "model.uri", (launch.revision,))
    serves = launch.member is not Member.WORKER
    if launch.served_names:
        served = launch.served_names if launch.engine is EngineType.VLLM else launch.served_names[:1]
        yield _Wanted(Flag.SERVED_NAME, served, "model.name", served[:1], is_default=not serves)
    where = _EVERY_ADDRESS[:1]
    yield _Wanted(
        Flag.HOST, where, "what probes and routes reach", _EVERY_ADDRESS if serves else None, is_default=not serves
    )
    port = str(launch.port)
    yield _Wanted(Flag.PORT, (port,), "the serving technology's port", (port,), is_default=not serves)


def _size(flag: Flag, size: int, because: str) -> _Wanted:
    return _Wanted(flag, (str(size),), because, (str(size),), is_default=size == 1)


def _sizes(launch: Launch) -> Iterator[_Wanted]:
    topology = launch.topology
    yield _size(Flag.TENSOR, topology.tensor, "workers.topology.tensor")
    yield _size(Flag.PIPELINE, topology.pipeline, "workers.topology.pipeline")
    yield _size(Flag.DATA, topology.data, "workers.topology.data")
    yield _size(Flag.CONTEXT, 1, "workers.topology (context parallelism takes more devices)")
    if topology.data > 1:
        local = str(topology.data_local)
        yield _Wanted(Flag.DATA_LOCAL, (local,), "workers.topology.dataLocal", (local,))
    if launch.engine is EngineType.TRTLLM:
        size = topology.tensor if topology.expert else 1
        yield _size(Flag.EXPERT, size, "workers.topology.expert")
    else:
        accepts = ("true",) if topology.expert else ("false",)
        yield _Wanted(Flag.EXPERT, (), "workers.topology.expert", accepts, is_default=not topology.expert)


def _sglang_sizes(topology: Topology, *, has_attention_size: bool) -> Iterator[_Wanted]:
    """Yield SGLang's sizes: its data-parallel attention divides the tensor group, it does not multiply it.

    Ranks over nodes, or with experts over ranks, run as one tensor group of tensor * data devices with attention
    split by data. SGLang 0.5.23 says the split by a size of its own and still takes the older pair of flags, which are
    written because all versions know them.
    """
    shared = topology.data > 1 and (topology.expert or topology.nodes > topology.pipeline)
    group = topology.tensor * topology.data if shared else topology.tensor
    yield _size(Flag.TENSOR, group, "workers.topology (tensor x data)" if shared else "workers.topology.tensor")
    yield _size(Flag.PIPELINE, topology.pipeline, "workers.topology.pipeline")
    is_pair = shared and not has_attention_size
    yield _size(
        Flag.ATTENTION_DATA, topology.data if shared else 1, "workers.topology.data" if shared else "workers.topology"
    )
    yield _size(Flag.DATA, topology.data if is_pair or not shared else 1, "workers.topology.data")
    yield _Wanted(
        Flag.DATA_ATTENTION, (), "workers.topology", ("true",) if is_pair else ("false",), is_default=not is_pair
    )
    yield _size(Flag.EXPERT, group if topology.expert else 1, "workers.topology.expert")


def _kv_transfer(role: Role) -> _Wanted:
    wanted = "kv_producer" if role is Role.PREFILL else "kv_consumer"
    text = json.dumps({"kv_connector": "NixlConnector", "kv_role": wanted}, separators=(",", ":"))
    return _Wanted(Flag.KV_TRANSFER, (text,), f"the role {role}", (wanted, "kv_both"))


def _role(role: Role) -> _Wanted:
    return _Wanted(Flag.DISAGGREGATION, (str(role),), f"the role {role}", (str(role),))


def _sglang_disaggregation(role: Role) -> Iterator[_Wanted]:
    """Yield the role, and the port where a decode worker asks for the KV cache; NIXL unless the author says else."""
    port = str(SGLANG_BOOTSTRAP_PORT)
    yield _role(role)
    yield _Wanted(Flag.TRANSFER_BACKEND, ("nixl",), f"the role {role}")
    yield _Wanted(Flag.BOOTSTRAP_PORT, (port,), "the routing sidecar", (port,))


def _gang(launch: Launch) -> Iterator[_Wanted]:
    leader = f"$({names.ENV_LEADER_ADDRESS})"
    nodes = str(launch.topology.nodes)
    yield _Wanted(Flag.NODES, (f"$({names.ENV_WORLD_SIZE})",), "workers.topology", (nodes,))
    # All pods of a gang have one template, so a literal rank would be that of each.
    rank = f"$({names.ENV_RANK})"
    yield _Wanted(Flag.RANK, (rank,), "the pod's place in the gang", (rank,))
    address = f"{leader}:{SGLANG_GANG_PORT}" if launch.engine is EngineType.SGLANG else leader
    yield _Wanted(Flag.LEADER, (address,), "the gang")
    if launch.topology.data > 1:
        # The leader binds this address, and a ZeroMQ bind takes no host name.
        own = f"$({names.ENV_POD_IP})" if launch.member is Member.LEADER else leader
        yield _Wanted(Flag.DATA_ADDRESS, (own,), "the gang")
        yield _Wanted(Flag.DATA_PORT, (str(DATA_PARALLEL_PORT),), "the gang")
    if launch.member is Member.WORKER:
        yield _Wanted(Flag.HEADLESS, (), "the gang")


def _compare(launch: Launch, wanted: _Wanted, given: Sequence[Given], *, is_added: bool) -> None:
    """Raise where the author's flag says something else than model and topology do."""
    if wanted.accepts is None or not all(one.is_readable for one in given):
        return
    last = given[-1]
    said = _said(launch, wanted, given)
    # llama.cpp takes a quantization behind the repository: org/m:Q4_K_M.
    end = ":" if launch.engine is EngineType.LLAMACPP and wanted.flag is Flag.MODEL else None
    if said is None or any({value, value.split(end)[0] if end else value} & {*wanted.accepts} for value in said):
        return
    ours = " or ".join(wanted.accepts)
    change = f"write {ours}" if wanted.flag in _FIXED else "change one of them"
    omit = "leave the flag out and it is added" if is_added else "leave the flag out"
    raise InvalidInput(
        f"{last.spelt} says {' '.join(said) or 'nothing'}, {wanted.because} says {ours}: {change}, or {omit}",
        path=("args", last.index),
    )


def _said(launch: Launch, wanted: _Wanted, given: Sequence[Given]) -> tuple[str, ...] | None:
    """Return what the author's flag says, None if it says nothing of what is wanted."""
    last = given[-1]
    if wanted.flag is Flag.KV_TRANSFER:
        return _kv_roles(given)
    if last.option is not None and last.option.takes is Takes.NOTHING:
        return ("false",) if last.negated else ("true",)
    values = tuple(value for one in given for value in one.values)
    if wanted.flag in _LISTS.get(launch.engine, ()):
        return tuple(part.strip() for value in values for part in value.split(","))
    return values


def _kv_roles(given: Sequence[Given]) -> tuple[str, ...] | None:
    """Return the role in the KV transfer, from the whole object or from its parts, None if no part says it."""
    if given[-1].part:
        return next((one.values for one in given if one.part == "kv_role"), None)
    last = given[-1]
    try:
        config = arguments.json_value(last.values[0] if last.values else "")
    except ValueError:
        raise InvalidInput(f"{authored.name_of(last)} needs a JSON object", path=("args", last.index)) from None
    return (str(config.get("kv_role", "")),) if isinstance(config, dict) else ("",)
