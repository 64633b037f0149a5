"""What goes to a workload cluster: only with that cluster's credentials, and without a word of another's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane_cli.simulator.offline import World
from tests.support import rendered, rendering

Document = dict[str, Any]
SECRETS_KIND = ("v1", "Secret")
STACK = "ServingStack"


def clusters(settled: World) -> dict[str, Document]:
    return {one["metadata"]["name"]: dict(one) for one in settled.objects() if one["kind"] == "InferenceCluster"}


def configuration(cluster: Document) -> Document:
    """Return the reference to the credentials of a cluster, as its author or its function named them."""
    existing = cluster["spec"]["cluster"].get("existing") or {}
    adopted = existing.get("providerConfigRef") or {}
    name = adopted.get("name") or f"modelplane-{cluster['metadata']['name']}"
    return {"kind": adopted.get("kind", "ClusterProviderConfig"), "name": name}


def secrets(cluster: Document) -> Iterator[str]:
    """Yield the names by which credentials of a cluster are found."""
    yield configuration(cluster)["name"]
    secret = (cluster["spec"]["cluster"].get("existing") or {}).get("secretRef")
    if secret:
        yield f'"{secret["name"]}"'


def remote(settled: World) -> Iterator[tuple[str, Document]]:
    """Yield each object that names credentials, with the cluster that its owner stands for."""
    standing = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["spec"]["clusterName"]
        for one in settled.objects()
        if one["kind"] in ("ModelReplica", "ModelCacheCopy")
    }
    stacks = {one["metadata"]["name"]: one["spec"]["clusterName"] for one in settled.objects() if one["kind"] == STACK}
    for one in settled.objects():
        if not one["apiVersion"].startswith("kubernetes.m.crossplane.io/") or "providerConfigRef" not in one["spec"]:
            continue
        (owner,) = one["metadata"]["ownerReferences"]
        if owner["kind"] == STACK:
            yield stacks[owner["name"]], dict(one)
            continue
        is_clusters = owner["kind"] == "InferenceCluster"
        yield owner["name"] if is_clusters else standing[one["metadata"]["namespace"], owner["name"]], dict(one)


@pytest.mark.parametrize("example", rendering.EXAMPLES)
def test_a_cluster_gets_no_credential_of_another(example: str) -> None:
    settled = rendered.folder(rendering.ROOT / "examples" / example)
    known, seen = clusters(settled), 0
    for name, found in remote(settled):
        seen += 1
        assert found["spec"]["providerConfigRef"] == configuration(known[name])
        assert "references" not in found["spec"], "a provider would copy out of the control plane"
        manifest = found["spec"].get("forProvider", {}).get("manifest", {})
        assert (manifest.get("apiVersion"), manifest.get("kind")) != SECRETS_KIND
        text = json.dumps(manifest)
        others = [one for other, cluster in known.items() for one in secrets(cluster) if other != name]
        assert [one for one in (*others, configuration(known[name])["name"]) if one in text] == []
    assert seen >= len(known)
    assert known or example == "hosts", "an example without a cluster"
