"""Catalogue of published models: of each the fields of its config.json that decide its memory, and their source.

The file is written by a program of the suite that compares it with its source. Nobody edits it by hand.
"""

from __future__ import annotations

import difflib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kubecel import caches
from modelplane.errors import InvalidInput
from modelplane.sizing import encoders

Json: TypeAlias = Any

_FILE = "catalogue.json"
_SAME = ("-instruct", "-it", "-hf")
"""Endings of a repository whose weights have the sizes and the precision of the one without them."""
_ENDINGS = ("-instruct", "-base", "-it", "-hf", "-v0.1")
_PLAIN = "-bf16"
"""An ending that may be left out, and never added: the entry of a plain name may be quantized."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalogue."""

    name: str
    config: Mapping[str, Json]
    source: str

    @property
    def is_encoder(self) -> bool:
        """Return whether it is an embedding model of which an engine keeps no cache."""
        return self.config.get("model_type") in encoders.KINDS


def read() -> dict[str, Entry]:
    """Return all models by name."""
    # importlib.resources would take longer to import than the rest of the command
    found = json.loads(pkgutil.get_data(__package__, _FILE) or b"{}")
    source, own = str(found["source"]), found["sources"]
    return {name: Entry(name, config, own.get(name, source)) for name, config in found["models"].items()}


def find(name: str) -> Entry:
    """Return the model of that name; the organisation and endings such as -Instruct may be left out.

    Raises: InvalidInput with the nearest names.
    """
    models = read()
    if name in models:
        return models[name]
    short: dict[str, Entry] = {}
    for entry in models.values():
        short.setdefault(_short(entry.name), entry)
        short.setdefault(_short(entry.name).removesuffix(_PLAIN), entry)
    found = short.get(_short(name))
    if found is not None:
        return found
    close = difflib.get_close_matches(_short(name[:200]), short, n=3)
    said = f"did you mean {' or '.join(short[one].name for one in close)}?" if close else "see modelplane fit --models"
    raise InvalidInput(f"no model {name[:100]!r} is in the catalogue, and no such file exists; {said}")


def published(repository: str) -> Entry | None:
    """Return the model that a Hugging Face repository holds, None where that is not sure.

    Another organisation may have quantized the model of the same name, so the organisation must be that of the entry.
    """
    return _repositories().get(_plain(repository))


@caches.kept(1)
def _repositories() -> dict[str, Entry]:
    models = read()
    plain = {_plain(name): entry for name, entry in models.items()}
    return plain | {name.lower(): entry for name, entry in models.items()}


def _plain(repository: str) -> str:
    organisation, slash, name = repository.lower().partition("/")
    name = name.removeprefix("meta-")
    for ending in _SAME:
        name = name.removesuffix(ending)
    return f"{organisation}{slash}{name}"


def _short(name: str) -> str:
    """Return the name without the organisation and what does not change the memory."""
    short = name.rpartition("/")[2].lower().removeprefix("meta-")
    for ending in _ENDINGS:
        short = short.removesuffix(ending)
    return short
