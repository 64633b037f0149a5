"""Advice about valid documents that are probably mistakes: selectors that narrowly miss the given devices.

Advice is a warning and never a refusal. It is based on the InferenceClasses among the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.api import inference_class, workload
from modelplane.devices import published
from modelplane.devices.hints import advice
from modelplane.devices.model import Device
from modelplane.errors import InvalidInput
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Document, Problem
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any


def advise(checked: Checked, about: Key | None = None) -> list[Problem]:
    """Return the remarks, each at the field it is about, every one of them once; only on one ModelDeployment if given.

    Cost: a look at every device for every selector.
    """
    devices: list[Device] = []
    found: list[Problem] = []
    for key, resource in checked.objects.items():
        if key.kind == inference_class.KIND:
            known = tuple(_devices(resource))
            devices += known
            if about is None:
                found += _nominal(known, checked.sources[key])
    for key, resource in checked.objects.items():
        if key.kind == "ModelDeployment" and about in (None, key):
            found += _selectors(resource, devices, checked.sources[key])
    return list(dict.fromkeys(found))


def _devices(resource: Mapping[str, Json]) -> Iterator[Device]:
    try:
        yield from inference_class.decode(resource).devices
    except InvalidInput:
        return  # said by the checks, with its place


def _nominal(devices: tuple[Device, ...], document: Document) -> Iterator[Problem]:
    for position, device in enumerate(devices):
        nominal = published.nominal_memory(device)
        if nominal is not None:
            yield document.problem(
                f"{nominal.declared} is the size in the name {nominal.product}; its driver publishes "
                f"{nominal.publishes}, and the cluster matches selectors against that: write {nominal.publishes}",
                ("spec", "devices", position, "capacity", published.MEMORY, "value"),
                WARNING,
            )


def _selectors(resource: Mapping[str, Json], devices: list[Device], document: Document) -> Iterator[Problem]:
    for field in workload.selectors(resource.get("spec") or {}):
        if field.is_set:
            for device in devices:
                for remark in advice.selector_advice(field.text(), device):
                    yield document.problem(remark.message, field.path, WARNING)
