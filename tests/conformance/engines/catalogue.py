"""Program that writes the catalogue of models from the config.json files of a pinned package.

`python -m tests.conformance.engines.catalogue`. NVIDIA's aiconfigurator-core carries the config.json files as their
authors published them. Left out are architectures without a formula, and models whose quantization stands in a file
beside config.json. That package has no embedding models: the fields of theirs are recorded beside this program, each
with the repository and the commit where the file was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing import architecture, precision
from tests.conformance.engines import sources

Json = Any

VERSION = "0.12.0"
DATE = "2026-09-01"
SOURCE = f"config.json of the model's repository, as in aiconfigurator-core {VERSION} of {DATE}"
RECORDED = Path(__file__).resolve().parent / "recorded" / "embedding_models.json"
FILE = Path(__file__).resolve().parents[3] / "lib" / "modelplane" / "sizing" / "catalogue.json"
_IGNORED = ("ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers")
# One config.json stands for several names of the same weights' shape.
_DOUBLE = frozenset({"Qwen/Qwen3-32B-FP8-Static-PerTensor", "Qwen/Qwen3-VL-32B-Thinking"})


class _Read(dict[str, Any]):
    """A config.json that remembers which fields were read."""

    def __init__(self, data: Mapping[str, Json]) -> None:
        super().__init__({key: _Read(value) if isinstance(value, dict) else value for key, value in data.items()})
        self.seen: set[str] = set()

    def get(self, key: str, default: Json = None) -> Json:
        self.seen.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Json:
        self.seen.add(key)
        return super().__getitem__(key)

    def kept(self) -> dict[str, Json]:
        """Return the fields that were read and have a value."""
        return {key: _kept(key, value) for key, value in self.items() if key in self.seen and value is not None}


def _kept(key: str, value: Json) -> Json:
    if isinstance(value, _Read):
        # the one group of weights is found by taking it out
        return value.kept() or {name: _kept(name, inner) for name, inner in value.items()}
    if key in _IGNORED:
        return [entry for entry in value if precision.meaning(str(entry)) is not None]
    return value


def wanted() -> dict[str, Json]:
    """Return the content of the catalogue."""
    others = json.loads(RECORDED.read_text(encoding="utf-8"))
    models = [*_models(), *((name, _kept_of(entry["config"])) for name, entry in others.items())]
    return {
        "source": SOURCE,
        "sources": {name: entry["source"] for name, entry in sorted(others.items())},
        "models": dict(sorted(models, key=lambda entry: entry[0].lower())),
    }


def _kept_of(config: Json) -> Json:
    """Return the fields that decide the memory. Raises: InvalidInput and Unsupported where that cannot be computed."""
    read = _Read(config)
    precision.published(read, architecture.read(read))
    return read.kept()


def _models() -> Iterator[tuple[str, Json]]:
    folder = sources.model_configs(VERSION)
    for file in sorted(folder.glob("*_config.json")):
        name = file.name.removesuffix("_config.json").replace("--", "/", 1)
        if name.endswith("_hf_quant") or name in _DOUBLE:
            continue
        config = json.loads(file.read_text(encoding="utf-8"))
        is_beside = file.with_name(file.name.replace("_config.json", "_hf_quant_config.json")).exists()
        if is_beside and "quantization_config" not in config:
            continue
        try:
            yield name, _kept_of(config)
        except (InvalidInput, Unsupported):
            continue


def text(content: Json) -> str:
    """Return the catalogue as it is kept: one line for each model."""
    sources_ = json.dumps(content["sources"], indent=1)
    lines = [f"  {json.dumps(name)}: {json.dumps(config)}" for name, config in content["models"].items()]
    head = f'{{"source": {json.dumps(content["source"])}, "sources": {sources_}, "models": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


if __name__ == "__main__":
    FILE.write_text(text(wanted()), encoding="utf-8")
