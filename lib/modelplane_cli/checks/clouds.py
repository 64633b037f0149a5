"""The problems for which a cloud would refuse to make a cluster, each at its field. Nothing would be made meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import cloud_parts, inference_class, inference_cluster
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.clouds import selection
from modelplane.render.provisioning import Provisioner
from modelplane.workload.created import PoolSpec
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import Problem
from modelplane_cli.simulator.store import Key

Resource: TypeAlias = Mapping[str, Any]


def check(checked: Checked) -> Iterator[Problem]:
    """Yield the problems of clusters that are created. A class that is missing or wrong is told elsewhere."""
    for key in sorted(checked.objects):
        if (key.group, key.kind) == (names.GROUP, inference_cluster.KIND):
            for error in _refused(checked, checked.objects[key]):
                yield checked.sources[key].problem(error.message, error.path)


def _refused(checked: Checked, cluster: Resource) -> Iterator[InvalidInput]:
    try:
        source = Field(cluster).at("spec", "cluster", "source").text(inference_cluster.EXISTING)
        cloud = selection.provisioner(source)
        if cloud is not None:
            yield from _problems(checked, cluster, source, cloud)
    except (InvalidInput, Unsupported):
        return  # its function refuses it


def _problems(checked: Checked, cluster: Resource, source: str, cloud: Provisioner) -> Iterator[InvalidInput]:
    site = cloud_parts.site(cluster, source)
    pools: list[PoolSpec] = []
    for entry in Field(cluster).at("spec", "nodePools").items():
        found = checked.objects.get(Key(names.GROUP, inference_class.KIND, "", entry.text_at("className")))
        if found is None:
            continue
        try:
            node_class = inference_class.decode(found)
        except InvalidInput:
            continue
        try:
            pools.append(cloud_parts.pool(entry, found, node_class, source))
        except InvalidInput as error:
            yield error
    yield from cloud.problems(site, tuple(pools))
