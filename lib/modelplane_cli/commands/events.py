"""The events that the options of a command name."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from modelplane.errors import InvalidInput
from modelplane_cli.commands.stage import Stage
from modelplane_cli.documents import reading
from modelplane_cli.planning.happenings import Addition, Drain, Happening, Loss, NodeLoss, Scaling, Silence
from modelplane_cli.planning.replicas import Deployment


def read(stage: Stage, options: argparse.Namespace) -> list[Happening]:
    """Return the events of the options, in their order. Raises: InvalidInput when one cannot be understood."""
    return [_happening(stage, options, *given) for given in options.happenings or ()]


def _happening(stage: Stage, options: argparse.Namespace, option: str, value: str) -> Happening:
    """Return what an option lets happen. Raises: InvalidInput when it cannot be understood."""
    if option == "--add":
        objects = stage.objects(reading.read([value]), options.namespace)
        if objects is None:
            raise InvalidInput(f"--add {value}: nothing is added while its documents have problems")
        return Addition(value, objects)
    return _SIMPLE[option](value, options.namespace)


def _loss_by_label(value: str, _namespace: str) -> Happening:
    key, equals, wanted = value.partition("=")
    if not key or not equals:
        raise InvalidInput(f"--lose-label {value}: write KEY=VALUE, for example modelplane.ai/region=eu-west-1")
    return Loss((), (key, wanted))


def _node_loss(value: str, _namespace: str) -> Happening:
    target, _, count = value.rpartition("=")
    cluster, slash, pool = target.partition("/")
    if not slash or not cluster or not pool or not (count.isascii() and count.isdecimal()):
        raise InvalidInput(f"--lose-nodes {value}: write CLUSTER/POOL=N, for example eks-eu/h100=1")
    return NodeLoss(cluster, pool, int(count))


def _scaling(value: str, namespace: str) -> Happening:
    target, _, count = value.rpartition("=")
    if not target or not count.isdecimal():
        raise InvalidInput(f"--scale {value}: write NAMESPACE/NAME=N, for example ml-team/qwen3-8b=4")
    before, slash, name = target.partition("/")
    return Scaling(Deployment(before, name) if slash else Deployment(namespace, target), int(count))


_SIMPLE: dict[str, Callable[[str, str], Happening]] = {
    "--drain": lambda value, _namespace: Drain(value),
    "--lose": lambda value, _namespace: Loss((value,)),
    "--unreachable": lambda value, _namespace: Silence(value),
    "--lose-label": _loss_by_label,
    "--lose-nodes": _node_loss,
    "--scale": _scaling,
}
