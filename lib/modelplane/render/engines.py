"""Command line of an engine container: the author's arguments and the flags that follow from model and topology.

The topology is the only source of truth for parallelism. A flag that the author omits is added. A flag that contradicts
the topology is refused with both values. A command that runs a shell or an unknown program is opaque: it is neither
parsed nor changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.render import arguments
from modelplane.render.arguments import Given, Option, Takes
from modelplane.render.dialects import DIALECTS, Dialect, Flag, Launcher
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role

Json: TypeAlias = Any

DATA_PARALLEL_PORT = 5555
SGLANG_GANG_PORT = 20000
SGLANG_BOOTSTRAP_PORT = 8998


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


def command_line(launch: Launch, container: Mapping[str, Json]) -> CommandLine:
    """Return the command line of the engine container.

    Raises: InvalidInput if a flag contradicts the model or the topology; its path starts inside the container.
    """
    command, args = _words(container, "command"), _words(container, "args")
    dialect = DIALECTS.get(launch.engine)
    found = None if dialect is None else _launcher(dialect, command, args)
    if dialect is None or found is None:
        return _opaque(command, args)
    launcher, own = found
    if launch.topology.is_gang:
        _refuse_in_gang(dialect, own)
    front: list[str] = []
    added: list[str] = []
    for wanted in _wanted(launch):
        option = dialect.options.get(wanted.flag)
        if wanted.flag is Flag.MODEL and launcher.takes_model and _leading_model(own) is not None:
            _compare(wanted, Given(0, own[0], (own[0],)), option or Option(("the model",)))
            continue
        given = None if option is None else arguments.find(own, option)
        if given is not None and option is not None:
            _compare(wanted, given, option)
        elif wanted.flag is Flag.MODEL and launcher.takes_model:
            front.extend(wanted.values)
        elif option is not None and not wanted.is_default and not arguments.is_given_in_parts(own, option):
            added.extend((option.name, *wanted.values))
    return CommandLine(launcher.words, (*front, *own, *added), (*front, *added))


def said_of(line: CommandLine) -> str:
    """Return a text with the added arguments, or with the fact that the command line is opaque."""
    return "opaque, taken as written" if line.is_opaque else f"added {' '.join(line.added)}"


def served_model(launch: Launch, container: Mapping[str, Json]) -> str | None:
    """Return the model that the author's arguments load, None if it is unknown."""
    dialect = DIALECTS.get(launch.engine)
    found = None if dialect is None else _launcher(dialect, _words(container, "command"), _words(container, "args"))
    if dialect is None or found is None:
        return None
    launcher, own = found
    leading = _leading_model(own) if launcher.takes_model else None
    option = dialect.options.get(Flag.MODEL)
    given = None if option is None else arguments.find(own, option)
    value = leading or (given.values[0] if given is not None and given.values else None)
    return None if value is None or "$(" in value else value


def _words(container: Mapping[str, Json], key: str) -> tuple[str, ...]:
    return tuple(str(word) for word in container.get(key) or ())


def _opaque(command: tuple[str, ...], args: tuple[str, ...]) -> CommandLine:
    # A backend that lays its own command under an absent half would run something else: fill both where there are
    # words for it.
    if command and not args:
        return CommandLine(command[:1], command[1:], is_opaque=True)
    return CommandLine(command, args, is_opaque=True)


def _launcher(
    dialect: Dialect, command: tuple[str, ...], args: tuple[str, ...]
) -> tuple[Launcher, tuple[str, ...]] | None:
    """Return the launcher and the words behind it, None where the command is not one of the engine's own."""
    if arguments.is_shell(command or args):
        return None
    words = (*command, *args)
    for launcher in dialect.launchers:
        size = len(launcher.words)
        if words[:size] == launcher.words or (words and _base(words[:size]) == launcher.words):
            return Launcher(words[:size], launcher.takes_model), words[size:]
    return None if command else (dialect.launchers[0], args)


def _base(words: tuple[str, ...]) -> tuple[str, ...]:
    return (words[0].rsplit("/", 1)[-1], *words[1:])


def _leading_model(own: Sequence[str]) -> str | None:
    return own[0] if own and not own[0].startswith("-") else None


def _refuse_in_gang(dialect: Dialect, own: Sequence[str]) -> None:
    for name, why in dialect.refused_in_gang.items():
        flag, _, value = name.partition("=")
        given = arguments.find(own, Option((flag,), Takes.ONE if value else Takes.NOTHING))
        if given is not None and not given.negated and (not value or value in given.values):
            raise InvalidInput(
                f"{given.spelt} cannot be given where a worker spans nodes: {why}", path=("args", given.index)
            )


def _wanted(launch: Launch) -> Iterator[_Wanted]:
    """Yield what the engine must be told, in the order it is added."""
    yield from _what_is_served(launch)
    if launch.engine is EngineType.SGLANG:
        yield from _sglang_sizes(launch.topology)
    else:
        yield from _sizes(launch)
    if launch.has_metrics:
        yield _Wanted(Flag.METRICS, (), "the endpoint picker, which reads them", ("true",))
    if launch.is_disaggregated and launch.engine is EngineType.VLLM:
        yield _kv_transfer(launch.role)
    if launch.is_disaggregated and launch.engine is EngineType.SGLANG:
        yield from _sglang_disaggregation(launch.role)
    if launch.member is not Member.ALONE:
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
    yield _Wanted(Flag.HOST, ("0.0.0.0",), "the pod's own address", is_default=not serves)  # noqa: S104 - a pod serves
    port = str(launch.port)
    yield _Wanted(Flag.PORT, (port,), "the serving technology's port", (port,), is_default=not serves)


def _size(flag: Flag, size: int, because: str) -> _Wanted:
    return _Wanted(flag, (str(size),), because, (str(size),), is_default=size == 1)


def _sizes(launch: Launch) -> Iterator[_Wanted]:
    topology = launch.topology
    yield _size(Flag.TENSOR, topology.tensor, "workers.topology.tensor")
    yield _size(Flag.PIPELINE, topology.pipeline, "workers.topology.pipeline")
    yield _size(Flag.DATA, topology.data, "workers.topology.data")
    if topology.data > 1:
        local = str(topology.data_local)
        yield _Wanted(Flag.DATA_LOCAL, (local,), "workers.topology.dataLocal", (local,))
    if launch.engine is EngineType.TRTLLM:
        size = topology.tensor if topology.expert else 1
        yield _size(Flag.EXPERT, size, "workers.topology.expert")
    else:
        accepts = ("true",) if topology.expert else ("false",)
        yield _Wanted(Flag.EXPERT, (), "workers.topology.expert", accepts, is_default=not topology.expert)


def _sglang_sizes(topology: Topology) -> Iterator[_Wanted]:
    """Yield SGLang's sizes: its data-parallel attention divides the tensor group, it does not multiply it.

    Ranks over nodes, or with experts over ranks, run as one tensor group of tensor * data devices with attention
    split by data.
    """
    shared = topology.data > 1 and (topology.expert or topology.nodes > topology.pipeline)
    group = topology.tensor * topology.data if shared else topology.tensor
    yield _size(Flag.TENSOR, group, "workers.topology (tensor x data)" if shared else "workers.topology.tensor")
    yield _size(Flag.PIPELINE, topology.pipeline, "workers.topology.pipeline")
    yield _size(Flag.DATA, topology.data, "workers.topology.data")
    yield _Wanted(
        Flag.DATA_ATTENTION, (), "workers.topology", ("true",) if shared else ("false",), is_default=not shared
    )
    yield _size(Flag.EXPERT, group if topology.expert else 1, "workers.topology.expert")


def _kv_transfer(role: Role) -> _Wanted:
    wanted = "kv_producer" if role is Role.PREFILL else "kv_consumer"
    text = json.dumps({"kv_connector": "NixlConnector", "kv_role": wanted}, separators=(",", ":"))
    return _Wanted(Flag.KV_TRANSFER, (text,), f"the role {role}", (wanted, "kv_both"))


def _sglang_disaggregation(role: Role) -> Iterator[_Wanted]:
    """Yield the role, and the port where a decode worker asks for the KV cache; NIXL unless the author says else."""
    mode, port = str(role), str(SGLANG_BOOTSTRAP_PORT)
    yield _Wanted(Flag.DISAGGREGATION, (mode,), f"the role {role}", (mode,))
    yield _Wanted(Flag.TRANSFER_BACKEND, ("nixl",), f"the role {role}")
    yield _Wanted(Flag.BOOTSTRAP_PORT, (port,), "the routing sidecar", (port,))


def _gang(launch: Launch) -> Iterator[_Wanted]:
    leader = f"$({names.ENV_LEADER_ADDRESS})"
    yield _Wanted(Flag.NODES, (f"$({names.ENV_WORLD_SIZE})",), "the gang")
    yield _Wanted(Flag.RANK, (f"$({names.ENV_RANK})",), "the gang")
    address = f"{leader}:{SGLANG_GANG_PORT}" if launch.engine is EngineType.SGLANG else leader
    yield _Wanted(Flag.LEADER, (address,), "the gang")
    if launch.topology.data > 1:
        # The leader binds this address, and a ZeroMQ bind takes no host name.
        own = f"$({names.ENV_POD_IP})" if launch.member is Member.LEADER else leader
        yield _Wanted(Flag.DATA_ADDRESS, (own,), "the gang")
        yield _Wanted(Flag.DATA_PORT, (str(DATA_PARALLEL_PORT),), "the gang")
    if launch.member is Member.WORKER:
        yield _Wanted(Flag.HEADLESS, (), "the gang")


def _compare(wanted: _Wanted, given: Given, option: Option) -> None:
    """Raise where the author's flag says something else than model and topology do."""
    if wanted.accepts is None or not given.is_readable:
        return
    if option.takes is Takes.NOTHING:
        said: tuple[str, ...] = ("false",) if given.negated else ("true",)
    elif wanted.flag is Flag.KV_TRANSFER:
        said = _kv_roles(given)
    else:
        said = given.values
    if any(value in wanted.accepts for value in said):
        return
    ours = " or ".join(wanted.accepts)
    raise InvalidInput(
        f"{given.spelt} says {' '.join(said) or 'nothing'}, {wanted.because} says {ours}: "
        "change one of them, or leave the flag out and it is added",
        path=("args", given.index),
    )


def _kv_roles(given: Given) -> tuple[str, ...]:
    try:
        config = arguments.json_value(given.values[0] if given.values else "")
    except ValueError:
        name = given.spelt.partition("=")[0]
        raise InvalidInput(f"{name} needs a JSON object", path=("args", given.index)) from None
    return (str(config.get("kv_role", "")),) if isinstance(config, dict) else ("",)
