"""What is rendered means the same as hand-written, valid examples; every difference is listed with its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from modelplane.api import replica as replicas
from modelplane.render.backends import kserve
from modelplane.render.manifest import Manifest
from modelplane.workload.model import Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.support import kserve_examples as examples

FACTS = ClusterFacts("gke-us", "inference-gateway", "gateway-system")
Example = Callable[[], tuple[Replica, dict[str, Any], dict[Role, dict[str, Any]]]]
SHAPES = [
    pytest.param(examples.single_node, id="single node, tensor 2"),
    pytest.param(examples.pipeline, id="pipeline over two nodes"),
    pytest.param(examples.disaggregated, id="disaggregated, five prefill and three decode"),
]

# Paths (regular expressions) at which the values differ, and why that is meant.
CHANGED = {
    r".*/resourceClaims/.*": "the pod's claim is called devices and names our template",
    r".*/resources/claims/.*": "the container refers to the pod's claim by our name",
    r".*/startupProbe/failureThreshold": "our budget follows the memory of the devices: at least that of the example",
    r"/prefill/template/volumes/dshm/emptyDir/sizeLimit": "shared memory is 8Gi per device; two devices get 16Gi",
}
# Paths that only we have.
ADDED = {
    r"(/prefill)?/labels/.*": "every pod says whose it is",
    r".*/nodeSelector/.*": "pods are pinned to their pool",
    r".*/tolerations": "accelerator nodes are tainted",
    r".*/affinity/.*": "sub-node pods share nodes",
    r".*/(liveness|readiness)Probe/.*": "written out instead of left to a preset; same path and port",
    r".*/startupProbe/timeoutSeconds": "a busy engine answers late",
    r".*Probe/httpGet/scheme": "HTTP is said, whatever a preset says",
    r".*/ports/.*": "the port is written out instead of left to a preset",
    r".*/volumeMounts/.*": "the mount is written out instead of left to a preset",
    r".*/terminationGracePeriodSeconds": "the preset's value, written out",
    r".*/env/MODELPLANE_.*": "a pod of a gang knows its place",
    r".*/securityContext/(allowPrivilegeEscalation|seccompProfile/type|runAsNonRoot)": "no preset hardens these pods",
    r".*/securityContext/readOnlyRootFilesystem": "presets before v0.20 forbid what injecting devices by CDI needs",
    r"/router/scheduler/config/inline/.*": "KServe would keep what the scheduler was started with",
    r"/template/containers/main/lifecycle/.*": "no preset lets the leader drain",
}
# Paths that only the example has.
DROPPED = {
    r"/router/scheduler": "one worker leaves nothing to choose; for several the configuration is written out",
}


def _listed(path: str, table: Mapping[str, str]) -> bool:
    return any(re.fullmatch(pattern, path) for pattern in table)


def _arguments(args: list[str]) -> dict[str, Any]:
    """Return flags with their values, and what precedes them; the order of flags means nothing."""
    found: dict[str, Any] = {"": []}
    flag = ""
    for word in args:
        if word.startswith("--"):
            flag = word
            found[flag] = []
        else:
            found[flag].append(word)
    return {key: json.dumps(values) for key, values in found.items()}


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        if not value:
            return {path: {}}
        return {p: leaf for key, entry in value.items() for p, leaf in _leaves(entry, f"{path}/{key}").items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "name" in value[0]:
        return _leaves({entry["name"]: {k: v for k, v in entry.items() if k != "name"} for entry in value}, path)
    return {path: value}


def _expanded(document: Any) -> Any:
    """Return the document with the gang's variables put where arguments refer to them, as the kubelet does."""
    text = json.dumps(document)
    for ours, theirs in (
        ("$(MODELPLANE_WORLD_SIZE)", "$(LWS_GROUP_SIZE)"),
        ("$(MODELPLANE_RANK)", "$(LWS_WORKER_INDEX)"),
        ("$(MODELPLANE_LEADER_ADDRESS)", "$(LWS_LEADER_ADDRESS)"),
    ):
        text = text.replace(ours, theirs)
    expanded = json.loads(text)
    for part in (expanded, expanded.get("prefill", {})):
        for key in ("template", "worker"):
            for container in part.get(key, {}).get("containers", ()):
                container["args"] = _arguments(container["args"])
    return expanded


def _rendered(replica: Replica) -> dict[str, Manifest]:
    """Return the manifests of the replica, which has passed through its document as it does in a cluster."""
    return {m.key: m for m in kserve.render(replicas.decode(replicas.encode(replica)), FACTS)}


@pytest.mark.parametrize("example", SHAPES)
def test_the_service_means_the_same(example: Example) -> None:
    replica, spec, _ = example()
    ours = _leaves(_expanded(_rendered(replica)["workload"].resource["spec"]))
    theirs = _leaves(_expanded(spec))
    wrong = {
        path: (theirs.get(path), ours.get(path))
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path)
        and not (path in ours and path in theirs and _listed(path, CHANGED))
        and not (path not in theirs and (_listed(path, ADDED) or _listed(path, CHANGED)))
        and not (path not in ours and (_listed(path, DROPPED) or _listed(path, CHANGED)))
    }
    assert wrong == {}


def test_every_listed_difference_occurs() -> None:
    used: set[str] = set()
    for shape in SHAPES:
        replica, spec, _ = cast(Example, shape.values[0])()
        ours = _leaves(_expanded(_rendered(replica)["workload"].resource["spec"]))
        theirs = _leaves(_expanded(spec))
        for path in {p for p in ours.keys() | theirs.keys() if ours.get(p) != theirs.get(p)}:
            used |= {pattern for table in (CHANGED, ADDED, DROPPED) for pattern in table if re.fullmatch(pattern, path)}
    assert used == {*CHANGED, *ADDED, *DROPPED}


@pytest.mark.parametrize("example", SHAPES)
def test_the_start_budget_is_never_smaller(example: Example) -> None:
    replica, spec, _ = example()
    rendered: dict[str, Any] = _rendered(replica)["workload"].resource["spec"]
    for ours, theirs in ((rendered, spec), (rendered.get("prefill"), spec.get("prefill"))):
        if ours is None:
            continue
        assert theirs is not None
        tries = [part["template"]["containers"][0]["startupProbe"]["failureThreshold"] for part in (ours, theirs)]
        # The example gives both roles the same time; the budget of prefill follows its own, smaller pods.
        assert tries[0] >= tries[1] or ours is rendered.get("prefill")


@pytest.mark.parametrize("example", SHAPES)
def test_the_claims_are_the_same(example: Example) -> None:
    replica, _, claims = example()
    rendered = {key: m.resource for key, m in _rendered(replica).items() if key.startswith("claims-")}
    ours = {resource["metadata"]["labels"]["modelplane.ai/role"]: resource["spec"] for resource in rendered.values()}
    assert {role: _sorted(spec) for role, spec in ours.items()} == {str(r): _sorted(s) for r, s in claims.items()}
    for resource in rendered.values():
        assert (resource["apiVersion"], resource["kind"]) == ("resource.k8s.io/v1", "ResourceClaimTemplate")


@pytest.mark.parametrize("example", SHAPES)
def test_every_pod_refers_to_its_own_template(example: Example) -> None:
    replica, _, _ = example()
    rendered = _rendered(replica)
    names = {
        resource.resource["metadata"]["labels"]["modelplane.ai/role"]: resource.resource["metadata"]["name"]
        for key, resource in rendered.items()
        if key.startswith("claims-")
    }
    spec = rendered["workload"].resource["spec"]
    for role, part in (("decode", spec), ("prefill", spec.get("prefill", {}))):
        for key in ("template", "worker"):
            for claim in part.get(key, {}).get("resourceClaims", ()):
                assert claim == {"name": "devices", "resourceClaimTemplateName": names[role]}


def test_the_missing_preset_gets_a_stand_in() -> None:
    replica, _, _ = examples.pipeline()
    stand_in = _rendered(replica)["preset-decode"].resource
    assert stand_in["kind"] == "LLMInferenceServiceConfig"
    assert stand_in["metadata"]["name"] == "kserve-config-llm-worker-pipeline-parallel"
    assert stand_in["spec"] == {"annotations": {"serving.kserve.io/model-based-routing-enabled": "true"}}


def _sorted(value: Any) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))
