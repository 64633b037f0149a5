"""ResourceSlice and DeviceClass of resource.k8s.io, decoded into what is published and how it is claimed.

Shape: the whole object as plain JSON, of v1, v1beta2, or v1beta1, whose devices have their values below `basic`. The
API server checked what a live cluster has; an object of a file is refused with its path where it has another form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane.api import inference_class
from modelplane.api.fields import Field
from modelplane.devices.model import Device
from modelplane.errors import InvalidInput
from modelplane.inventory.model import Amounts, DeviceClass, Published, Reach, Requirement, Slice, Term

Json: TypeAlias = Any

GROUP = "resource.k8s.io"
KIND = "ResourceSlice"
CLASS_KIND = "DeviceClass"
_PUBLISHED = ("attributes", "capacity", "allowMultipleAllocations", "taints")


def decode(resource: Mapping[str, Json]) -> Slice:
    """Return the slice. Raises: InvalidInput with the path from the document's root."""
    root = Field(resource)
    spec = root.at("spec")
    pool = spec.at("pool")
    driver = spec.at("driver").text()
    return Slice(
        name=root.at("metadata", "name").text(),
        driver=driver,
        pool=pool.at("name").text(),
        generation=pool.at("generation").integer(0),
        slices_in_pool=pool.at("resourceSliceCount").integer(1),
        reach=_reach(spec),
        is_per_device=spec.at("perDeviceNodeSelection").flag(default=False),
        devices=tuple(_published(entry, driver) for entry in spec.at("devices").items()),
        counter_sets=tuple((one.at("name").text(), _amounts(one)) for one in spec.at("sharedCounters").items()),
    )


def decode_class(resource: Mapping[str, Json]) -> DeviceClass:
    """Return the DeviceClass. Raises: InvalidInput with the path from the document's root."""
    root = Field(resource)
    spec = root.at("spec")
    selectors = tuple(one.at("cel", "expression").text() for one in spec.at("selectors").items())
    return DeviceClass(root.at("metadata", "name").text(), selectors, has_config=any(spec.at("config").items()))


def _published(entry: Field, driver: str) -> Published:
    basic = entry.at("basic")
    values = basic if basic.is_set else entry
    return Published(
        name=entry.at("name").text(),
        kind=_kind(values, driver),
        draws=tuple((one.at("counterSet").text(), _amounts(one)) for one in values.at("consumesCounters").items()),
        reach=_reach(values),
    )


def _kind(values: Field, driver: str) -> Device:
    """Return the content of a device, read as the device of a class is."""
    fields = {key: values.members()[key] for key in _PUBLISHED if values.members().get(key)}
    taints = [
        {key: text for key, text in one.members().items() if key != "timeAdded"} for one in values.at("taints").items()
    ]
    fields |= {"taints": taints} if taints else {}
    spec = {"devices": [{"name": "device", "driver": driver, "deviceClassName": driver, **fields}]}
    try:
        (device,) = inference_class.decode({"metadata": {"name": "class"}, "spec": spec}).devices
    except InvalidInput as error:
        error.path = (*values.path, *error.path[3:])
        raise
    return replace(device, name="", device_class="")


def _amounts(holder: Field) -> Amounts:
    counters = holder.at("counters")
    return tuple((name, counters.at(name, "value").quantity()) for name in sorted(counters.members()))


def _reach(holder: Field) -> Reach:
    terms = tuple(
        Term(
            tuple(_requirement(one) for one in term.at("matchExpressions").items()),
            tuple(_requirement(one) for one in term.at("matchFields").items()),
        )
        for term in holder.at("nodeSelector", "nodeSelectorTerms").items()
    )
    return Reach(holder.at("nodeName").text(""), holder.at("allNodes").flag(default=False), terms)


def _requirement(entry: Field) -> Requirement:
    return Requirement(entry.at("key").text(), entry.at("operator").text(), entry.at("values").texts())
