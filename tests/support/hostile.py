"""Inputs that were made to cost far more than their size: documents that the schema takes, and some past it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import yaml

from kubecel import interruption
from modelplane.devices.model import Attribute, AttributeKind, Device, NodeClass, Request
from modelplane_functions import responder
from tests.support import commands, requests

Json = Any
Object = dict[str, Json]

GPU = "gpu.nvidia.com"
REQUESTS_MAX = SELECTORS_MAX = 32
"""So many requests, and selectors of each, does the API server take."""
PAST_EXACT = 2**53


def dear_selector(number: int, *, width: int = 15) -> str:
    """Return a selector near the cost limit of Kubernetes that is true of every device; `number` makes it its own."""
    listed = "[" + ",".join(str(one) for one in range(width)) + "]"
    return f"{listed}.all(a,{listed}.all(b,{listed}.all(c,{listed}.all(d,a+b+c+d>=-{number}))))"


def kinds(count: int = 8, of_each: int = 4) -> list[Object]:
    """Return the devices of a class of so many kinds, all of one DeviceClass."""
    return [
        {
            "name": f"kind{number}",
            "driver": GPU,
            "deviceClassName": GPU,
            "count": of_each,
            "attributes": {"model": {"string": f"m{number}"}},
        }
        for number in range(count)
    ]


def world(**deployment: Json) -> list[Object]:
    """Return a class of eight kinds, a cluster of it that is ready, and a deployment with `spec` changed."""
    class_, cluster, made = (yaml.safe_load(text) for text in (commands.CLASS, commands.CLUSTER, commands.DEPLOYMENT))
    class_["spec"]["devices"] = kinds()
    cluster["status"] = {
        "gateway": {"address": "192.0.2.1", "port": 80, "scheme": "http"},
        "conditions": [{"type": "ClusterReady", "status": "True"}],
        "pools": [{"name": "p", "className": "l4", "nodes": {"declared": 2}, "allocations": [], "free": {}}],
    }
    made["spec"] |= deployment
    return [class_, cluster, made]


def many_selectors(*, width: int = 15) -> Json:
    """Return spec.nodeSelector with as many selectors as the schema takes, each within the cost limit."""
    return {
        "devices": [
            {
                "name": f"r{position}",
                "count": 1,
                "selectors": [
                    {"cel": dear_selector(position * SELECTORS_MAX + number + 1, width=width)}
                    for number in range(SELECTORS_MAX)
                ],
            }
            for position in range(REQUESTS_MAX)
        ]
    }


def eight_kinds(*, of_each: int = 4) -> NodeClass:
    """Return a class of eight kinds of device that one DeviceClass names."""
    return NodeClass(
        "eight",
        tuple(
            Device(
                one["name"],
                GPU,
                of_each,
                device_class=GPU,
                attributes=(("model", Attribute(AttributeKind.STRING, one["attributes"]["model"]["string"])),),
            )
            for one in kinds(of_each=of_each)
        ),
    )


def one_unsatisfiable() -> tuple[Request, ...]:
    """Return 32 requests for `eight_kinds`: the last three want the kind of which only one request's worth is there."""
    picky = f'device.attributes["{GPU}"].model == "m7"'
    plain = tuple(Request(f"r{number}", 1) for number in range(REQUESTS_MAX - 3))
    return (*plain, *(Request(f"last{number}", 2, (picky,)) for number in range(3)))


def answered(objects: list[Object], kind: str, *, children: Mapping[str, Object] | None = None) -> Json:
    """Return the settled response of the function to the object of a kind, among all others."""
    composite = next(one for one in objects if one["kind"] == kind)
    return requests.settle(responder.answer, requests.request(composite, children=children), objects)[0]


def last_request(objects: list[Object], kind: str) -> Json:
    """Return the request that shows the object of a kind all it asks for."""
    composite = next(one for one in objects if one["kind"] == kind)
    seen: list[Json] = []

    def run(message: Json) -> Json:
        seen.append(message)
        return responder.answer(message)

    requests.settle(run, requests.request(composite), objects)
    return seen[-1]


def told(response: Json) -> str:
    """Return what an author reads of a response: the fatal result, else the first condition that is not True."""
    if response.results and response.results[-1].severity == 1:
        return str(response.results[-1].message)
    said = [f"{one.type} {one.reason}: {one.message}" for one in response.conditions if one.status != 2]
    return said[0] if said else "all conditions are True"


def changed(value: Json, path: tuple[str | int, ...], to: Json) -> Json:
    """Return a copy of JSON with the value at `path` replaced; steps that are missing are made."""
    made = copy.deepcopy(value)
    here = made
    for step in path[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    here[path[-1]] = to
    return made


def undecided() -> tuple[Request, ...]:
    """Return requests for `eight_kinds(of_each=35)` of which the search cannot say in time whether they fit."""
    counts = (12, 16, 14, 17, 16, 8, 16, 7, 14, 11, 15, 10, 10, 14, 15, 15, 14, 13, 17, 9)
    return tuple(Request(f"r{number:02}", count) for number, count in enumerate(counts))


class Steps:
    """How many checkpoints work has passed: a measure of it that is the same on every machine."""

    def __init__(self, most: int | None = None) -> None:
        """Interrupt what passes more than `most`."""
        self.passed = 0
        self._most = most

    def __call__(self) -> None:
        self.passed += 1
        if self._most is not None and self.passed > self._most:
            raise interruption.Interrupted
