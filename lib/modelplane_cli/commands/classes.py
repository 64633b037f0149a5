"""`modelplane class from-cluster`: InferenceClasses and pools of a cluster, from what its nodes and drivers publish."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from modelplane import names
from modelplane.api import class_document, cluster_node, inference_class, resource_slice
from modelplane.devices import versions
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.inventory import naming, survey
from modelplane.inventory.model import Node, Seen
from modelplane_cli import exits
from modelplane_cli.checks import function_refusals
from modelplane_cli.commands.stage import Stage
from modelplane_cli.documents import live, reading
from modelplane_cli.documents.reading import Document, Input
from modelplane_cli.output import found_text, manifests, problem_lines
from modelplane_cli.parsers import classes as classes_parser
from modelplane_cli.planning import found_classes
from modelplane_cli.planning.found_classes import Found

Json: TypeAlias = Any
T = TypeVar("T")

_SLICE = f"{resource_slice.GROUP}/{resource_slice.KIND}"
_DEVICE_CLASS = f"{resource_slice.GROUP}/{resource_slice.CLASS_KIND}"
_CLASS, _CLUSTER = f"{names.GROUP}/{inference_class.KIND}", f"{names.GROUP}/InferenceCluster"
_KINDS = frozenset({_SLICE, _DEVICE_CLASS, cluster_node.KIND, _CLASS, _CLUSTER})
"""The kinds that are read. All are of the cluster, so that a name is given once."""

_MODELINE = "# yaml-language-server: $schema=.schemas/modelplane.json\n"
_VERSION = re.compile(r"v?1\.([0-9]{1,3})\b")
_OLDEST_MINOR = 34
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@dataclass(slots=True)
class _Read:
    """What the documents hold: the cluster, and classes and InferenceClusters that are written already, by name."""

    seen: Seen = field(default_factory=Seen)
    written: list[NodeClass] = field(default_factory=list)
    kept: list[Document] = field(default_factory=list)
    clusters: dict[str, Document] = field(default_factory=dict)


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane class`."""
    options = classes_parser.parser().parse_intermixed_args(list(arguments))
    given = _input(options)
    problem_lines.write(given.problems)
    if reading.has_errors(given.problems):
        return exits.BAD_INPUT
    name = options.cluster or (naming.slug(options.context, 63) if options.context else "") or "cluster"
    try:
        read = _read(given.documents)
        found = _found(read, name, by_place=options.by_place)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return exits.BAD_INPUT
    for line in found_text.lines(found, len(read.seen.slices), len(read.seen.nodes)):
        print(line, file=sys.stderr)
    if not found.survey.pools:
        return exits.NO
    documents = _documents(name, found, read.seen)
    if not _is_valid(documents, read.kept):
        print("modelplane class: nothing was written", file=sys.stderr)
        return exits.BAD_INPUT
    sys.stdout.write(manifests.to_json(documents) if options.output == "json" else _yaml(documents))
    return exits.NO if found.lies else exits.FINE


def _input(options: argparse.Namespace) -> Input:
    """Return the documents of the paths and of the cluster. A source that cannot be read is a problem."""
    if options.context is None and not options.paths:
        missing = (
            "nothing to read: give --context, or ResourceSlices and Nodes: a file, a directory, - for standard input"
        )
        return Input((), (reading.Problem("PATH", 0, 0, "", missing),))
    files = reading.read(options.paths) if options.paths else Input((), ())
    if options.context is None:
        return files
    try:
        there = reading.parsed(f"context {options.context}", live.hardware(options.context))
    except InvalidInput as error:
        return Input((), (reading.Problem("kubectl", 0, 0, "", str(error)),))
    return Input((*there.documents, *files.documents), (*there.problems, *files.problems))


def _read(documents: Sequence[Document]) -> _Read:
    """Return what the documents hold. Raises: InvalidInput with file, line and field."""
    by_kind: dict[str, dict[str, Document]] = {}
    for one in documents:
        metadata = one.data.get("metadata")
        name = str(metadata.get("name")) if isinstance(metadata, Mapping) else ""
        kind = _kind(one)
        first = by_kind.setdefault(kind, {}).setdefault(name, one)
        if kind in _KINDS and first.data != one.data:
            where = f"{first.file}:{first.lines().of(first.inside)}"
            raise InvalidInput(str(one.problem(f"is given twice with different content, first in {where}; keep one")))

    def each(kind: str, decode: Callable[[Mapping[str, Json]], T]) -> list[T]:
        return [_decoded(one, decode) for _, one in sorted(by_kind.get(kind, {}).items())]

    slices = each(_SLICE, resource_slice.decode)
    classes = each(_DEVICE_CLASS, resource_slice.decode_class)
    nodes = each(cluster_node.KIND, cluster_node.decode)
    kept = [one for _, one in sorted(by_kind.get(_CLASS, {}).items())]
    clusters = by_kind.get(_CLUSTER, {})
    return _Read(
        Seen(tuple(slices), tuple(nodes), tuple(classes)),
        [_decoded(one, inference_class.decode) for one in kept],
        kept,
        clusters,
    )


def _kind(document: Document) -> str:
    """Return `group/Kind`, the kind alone of the core group. Raises: InvalidInput without one."""
    kind, version = document.data.get("kind"), document.data.get("apiVersion")
    if not (isinstance(kind, str) and kind and isinstance(version, str) and version):
        raise InvalidInput(str(document.problem(reading.NOT_AN_OBJECT)))
    group = version.rpartition("/")[0]
    return f"{group}/{kind}" if group else kind


def _found(read: _Read, name: str, *, by_place: bool) -> Found:
    """Return what is found, beside what is written. Raises: InvalidInput with file, line and field."""
    surveyed = survey.survey(read.seen, by_place=by_place)
    cluster = read.clusters.get(name)
    try:
        return found_classes.beside(surveyed, read.written, cluster.data if cluster else None, read.seen.nodes)
    except InvalidInput as error:
        raise InvalidInput(str(cluster.problem(error.message, error.path)) if cluster else str(error)) from None


def _decoded(document: Document, decode: Callable[[Mapping[str, Json]], T]) -> T:
    try:
        return decode(document.data)
    except InvalidInput as error:
        raise InvalidInput(str(document.problem(error.message, error.path))) from None


# --- documents --------------------------------------------------------------------------------------------------------


def _documents(name: str, found: Found, seen: Seen) -> list[dict[str, Json]]:
    written = [class_document.encode(one, found_text.description(one)) for one in found.survey.classes]
    existing: dict[str, Json] = {
        "secretRef": {"namespace": names.SYSTEM_NAMESPACE, "name": name, "key": "kubeconfig"},
        **_runs(seen, lists=any(one.has_lists for one in found.survey.classes)),
    }
    return [*written, class_document.encode_cluster(name, found.survey.pools, existing, _place(seen.nodes))]


def _runs(seen: Seen, *, lists: bool) -> dict[str, Json]:
    """Return the oldest Kubernetes version of the nodes, and the gate of what is published with it."""
    versions_seen = [_VERSION.match(node.kubelet_version) for node in seen.nodes]
    minors = [int(match.group(1)) for match in versions_seen if match]
    found: dict[str, Json] = {}
    if minors and min(minors) >= _OLDEST_MINOR:
        found["kubernetesVersion"] = f"1.{min(minors)}"
    elif minors:
        print(
            f"note: a node runs Kubernetes 1.{min(minors)}, and Modelplane needs 1.{_OLDEST_MINOR}; upgrade it",
            file=sys.stderr,
        )
    if lists:
        found["featureGates"] = [versions.LISTS_GATE]
    return found


def _place(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the region as a label of the cluster, where all nodes have the same."""
    regions = {node.labels.get("topology.kubernetes.io/region", "") for node in nodes}
    (region,) = regions if len(regions) == 1 else ("",)
    return {names.LABEL_REGION: region} if _LABEL_VALUE.fullmatch(region) else {}


def _yaml(documents: Sequence[Mapping[str, Json]]) -> str:
    return "".join(f"---\n{_MODELINE}{manifests.answer(one, 'yaml')}" for one in documents)


def _is_valid(documents: Sequence[Mapping[str, Json]], kept: Sequence[Document]) -> bool:
    """Return whether `validate` accepts what is to be written beside the classes that are used again."""
    made = reading.parsed("the result", _yaml(documents))
    stage = Stage.empty()
    checked = stage.checked(Input((*made.documents, *kept), made.problems), "default")
    if checked is None:
        return False
    refused = function_refusals.check(checked, stage.kinds)
    problem_lines.write(refused)
    return not reading.has_errors(refused)
