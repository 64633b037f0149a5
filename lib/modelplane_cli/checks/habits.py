"""Warnings about values that are valid and seldom meant: memory in bytes, and images that change by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from modelplane import names, units
from modelplane.api import kinds
from modelplane.errors import InvalidInput
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.documents.yamltext import Path
from modelplane_cli.simulator.store import controller_of

Json: TypeAlias = Any

_NUMBER: Final = re.compile(r"([0-9]+)[a-zA-Z]?$")
_LEAST: Final = units.quantity("1Mi")
_TEMPLATES: Final = (("spec", "workers", "template", "spec"), ("spec", "prefill", "workers", "template", "spec"))
_AMOUNTS: Final = ("memory", "ephemeral-storage")
_SIZES: Final[Mapping[str, tuple[kinds.Steps, ...]]] = {
    "ModelDeployment": tuple(
        (*template, *steps)
        for template in _TEMPLATES
        for steps in (
            *(("containers", "*", "resources", part, one) for part in ("requests", "limits") for one in _AMOUNTS),
            ("volumes", "*", "emptyDir", "sizeLimit"),
        )
    ),
    "InferenceClass": (("spec", "node", "memory"), ("spec", "devices", "*", "capacity", "memory", "value")),
}
"""The fields by kind that are bytes; less than a mebibyte is meant nowhere."""
_IMAGES: Final[Mapping[str, tuple[kinds.Steps, ...]]] = {
    "ModelDeployment": tuple((*template, "containers", "*", "image") for template in _TEMPLATES),
    "LLMInference": (("spec", "image"),),
}


def check(checked: Checked) -> list[Problem]:
    """Return a warning at each such value of the documents that people wrote."""
    return [
        checked.sources[key].problem(message, path, WARNING)
        for key, resource in sorted(checked.objects.items(), key=lambda entry: entry[0])
        if key.group == names.GROUP and controller_of(resource) is None
        for path, message in (*_sizes(key.kind, resource), *_images(key.kind, resource))
    ]


def _sizes(kind: str, resource: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    for steps in _SIZES.get(kind, ()):
        for path, value in kinds.values_at(resource, steps):
            message = _size(str(value))
            if message:
                yield path, message


def _size(text: str) -> str:
    """Return the warning about an amount of bytes, empty for one that may be meant."""
    try:
        amount = units.quantity(text)
    except InvalidInput:
        return ""  # said by the schema, with its place
    if not units.quantity("0") < amount < _LEAST:
        return ""
    count = amount.ceil()
    said = "less than a byte" if amount < units.quantity("1") else f"{count} byte{'s' if count > 1 else ''}"
    number = _NUMBER.match(text)
    return f"{text} is {said}; write " + (f"{number[1]}Mi or {number[1]}Gi" if number else "it in Mi or Gi")


def _images(kind: str, resource: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    for steps in _IMAGES.get(kind, ()):
        for path, image in kinds.values_at(resource, steps):
            if isinstance(image, str) and (message := _image(image)):
                yield path, message


def _image(image: str) -> str:
    """Return the warning about an image that changes by itself, empty for one with a tag or a digest."""
    name = image.removesuffix(":latest")
    if "@" in image or (name == image and ":" in image.rpartition("/")[2]):
        return ""
    said = f"{image} {'has no tag' if name == image else 'has the tag latest'}"
    return f"{said}, and replicas that start later may run another image; write {name}:TAG or {name}@DIGEST"
