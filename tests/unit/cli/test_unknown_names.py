"""Warnings of `modelplane validate` about names that no document has, and the silence where they may be elsewhere."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import planning as given

Json = Any
Edit = Callable[[dict[str, Json]], None]


def world() -> dict[str, Json]:
    """Two clusters, a deployment and a service for it, a KEDA object, and a Secret of each namespace."""
    deployment = given.deployment("llama", tensor=8)
    service = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelService",
        "metadata": {"name": "llama", "namespace": "ml-team"},
        "spec": {
            "endpoints": [{"selector": {"matchLabels": {"modelplane.ai/deployment": "llama"}}}],
            "auth": {"apiKeys": {"secretRef": {"name": "callers"}}},
        },
    }
    scaled = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "llama", "namespace": "ml-team"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "name": "llama"}
        },
    }
    return {
        "class": given.node_class(),
        "a": given.cluster("a", zone="z1"),
        "b": given.cluster("b", zone="z2"),
        "deployment": deployment,
        "service": service,
        "scaled": scaled,
        "secret": secret("ml-team", "callers"),
    }


def secret(namespace: str, name: str, *keys: str) -> Json:
    data = dict.fromkeys(keys, "eA==")
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": data}


def warnings(tmp_path: Path, objects: dict[str, Json]) -> list[Json]:
    ran = given.run("validate", given.written(tmp_path, "all", *objects.values()), "-o", "json")
    problems: list[Json] = ran.json["problems"]
    assert all(problem["severity"] == "warning" and problem["line"] > 0 for problem in problems), problems
    assert ran.code == 0
    return problems


def selector(value: Json) -> Edit:
    return lambda objects: objects["deployment"]["spec"].update(clusterSelector=value)


def labels(**wanted: str) -> Edit:
    return selector({"matchLabels": {name.replace("__", "/"): value for name, value in wanted.items()}})


def expression(key: str, operator: str, *values: str) -> Edit:
    return selector(
        {"matchExpressions": [{"key": key, "operator": operator} | ({"values": [*values]} if values else {})]}
    )


def spread(key: str) -> Edit:
    return lambda objects: objects["deployment"]["spec"].update(placement={"spread": [{"topologyKey": key}]})


def group(**match: Json) -> Edit:
    return lambda objects: objects["service"]["spec"].update(endpoints=[{"selector": match}])


def serves(**match: str) -> Edit:
    return group(matchLabels={f"modelplane.ai/{name}": value for name, value in match.items()})


def target(**fields: str) -> Edit:
    return lambda objects: objects["scaled"]["spec"]["scaleTargetRef"].update(fields)


def together(*edits: Edit) -> Edit:
    def edit(objects: dict[str, Json]) -> None:
        for one in edits:
            one(objects)

    return edit


def without(*names: str) -> Edit:
    def edit(objects: dict[str, Json]) -> None:
        for name in names:
            del objects[name]

    return edit


def with_(*more: Json) -> Edit:
    return lambda objects: objects.update({f"more-{index}": one for index, one in enumerate(more)})


def hpa(objects: dict[str, Json]) -> None:
    objects["scaled"] |= {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}


def kubeconfig(key: str) -> Edit:
    reference = {"namespace": "modelplane-system", "name": "a", "key": key}
    return lambda objects: objects["a"]["spec"]["cluster"].update(existing={"secretRef": reference})


SELECTS = "spec.clusterSelector.matchLabels"
EXPRESSES = "spec.clusterSelector.matchExpressions[0]"
SPREADS = "spec.placement.spread[0].topologyKey"
SERVES = "spec.endpoints[0].selector"
TARGET = "spec.scaleTargetRef"
NO_CLUSTER, NO_ENDPOINT = "no InferenceCluster among the documents has", "no endpoint of namespace ml-team among the"
LLM: Json = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "LLMInference",
    "metadata": {"name": "small", "namespace": "ml-team"},
    "spec": {"model": "Qwen/Qwen3-8B"},
}
OUTSIDE: Json = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelEndpoint",
    "metadata": {"name": "saas", "namespace": "ml-team", "labels": {"tier": "spill"}},
    "spec": {"url": "https://api.example.com"},
}


@pytest.mark.parametrize(
    ("edit", "path", "says"),
    [
        pytest.param(
            spread("region"),
            SPREADS,
            f"{NO_CLUSTER} the label region; did you mean modelplane.ai/region?",
            id="the key without its domain",
        ),
        pytest.param(
            spread("region-a"), SPREADS, "did you mean modelplane.ai/region?", id="a value in the place of its key"
        ),
        pytest.param(
            spread("modelplane.ai/region=region-a"), SPREADS, "did you mean modelplane.ai/region?", id="key and value"
        ),
        pytest.param(spread("modelplane.ai/regio"), SPREADS, "did you mean modelplane.ai/region?", id="a letter less"),
        pytest.param(
            spread("rack"), SPREADS, "; they have modelplane.ai/cluster, modelplane.ai/region, zone", id="no key alike"
        ),
        pytest.param(
            labels(regoin="x"),
            f"{SELECTS}.regoin",
            f"{NO_CLUSTER} the label regoin; did you mean modelplane.ai/region?",
            id="a key",
        ),
        pytest.param(
            labels(zone="z9"), f"{SELECTS}.zone", f"{NO_CLUSTER} the label zone=z9; they have z1, z2", id="a value"
        ),
        pytest.param(
            together(labels(zone="west"), lambda objects: objects["a"]["metadata"]["labels"].update(zone="west-1")),
            f"{SELECTS}.zone",
            "zone=west; did you mean west-1?",
            id="a value alike",
        ),
        pytest.param(
            expression("zone", "In", "w", "x"), f"{EXPRESSES}.values", f"{NO_CLUSTER} the label zone=w or x", id="In"
        ),
        pytest.param(expression("zones", "Exists"), f"{EXPRESSES}.key", "did you mean zone?", id="Exists"),
        pytest.param(
            expression("modelplane.ai/cluster", "In", "a", "eu-1"),
            f"{EXPRESSES}.values",
            "InferenceCluster eu-1 is not among the documents; is it on the control plane?",
            id="one cluster of two by name",
        ),
        pytest.param(
            with_({**LLM, "spec": {**LLM["spec"], "clusterSelector": {"matchLabels": {"zone": "z"}}}}),
            f"{SELECTS}.zone",
            "the label zone=z; did you mean",
            id="of an LLMInference",
        ),
        pytest.param(
            serves(deployment="llama", region="region-c"),
            f"{SERVES}.matchLabels.modelplane.ai/region",
            f"{NO_CLUSTER} the label modelplane.ai/region=region-c; did you mean region-b?",
            id="a region that no cluster has",
        ),
        pytest.param(
            serves(deployment="lama"),
            f"{SERVES}.matchLabels.modelplane.ai/deployment",
            f"{NO_ENDPOINT} documents has the label modelplane.ai/deployment=lama; did you mean llama?",
            id="a deployment that a service selects",
        ),
        pytest.param(
            group(matchLabels={"deployment": "llama"}),
            f"{SERVES}.matchLabels.deployment",
            "has the label deployment; did you mean modelplane.ai/deployment?",
            id="the label of a deployment without its domain",
        ),
        pytest.param(
            group(matchExpressions=[{"key": "modelplane.ai/deployment", "operator": "In", "values": ["w", "x"]}]),
            f"{SERVES}.matchExpressions[0].values",
            "modelplane.ai/deployment=w or x; they have llama",
            id="no deployment of a list",
        ),
        pytest.param(
            serves(cluster="c"),
            f"{SERVES}.matchLabels.modelplane.ai/cluster",
            "InferenceCluster c is not among the documents",
            id="a cluster that a service selects",
        ),
        pytest.param(
            together(with_(OUTSIDE), group(matchLabels={"tier": "spill", "modelplane.ai/deployment": "llama"})),
            SERVES,
            "documents has all these labels",
            id="labels of two endpoints",
        ),
        pytest.param(
            target(name="lama"),
            f"{TARGET}.name",
            "ModelDeployment lama is not among the documents of namespace ml-team; did you mean llama?",
            id="the target of a ScaledObject",
        ),
        pytest.param(together(target(name="lama"), hpa), f"{TARGET}.name", "did you mean llama?", id="of an HPA"),
        pytest.param(
            target(apiVersion="apps/v1"),
            f"{TARGET}.apiVersion",
            "ModelDeployment is served as modelplane.ai/v1alpha1, not apps/v1",
            id="a kind of another group",
        ),
        pytest.param(
            target(kind="ModelReplica"), f"{TARGET}.kind", "no scale subresource; write ModelDeployment", id="no scale"
        ),
        pytest.param(
            lambda objects: objects["scaled"]["metadata"].update(namespace="default"),
            f"{TARGET}.name",
            "is not among the documents of namespace default; it is in ml-team",
            id="another namespace",
        ),
        pytest.param(
            lambda objects: objects["secret"]["metadata"].update(name="caller"),
            "spec.auth.apiKeys.secretRef.name",
            "Secret ml-team/callers is not among the documents, for the keys of its callers; did you mean caller?",
            id="a Secret",
        ),
        pytest.param(
            together(kubeconfig("config"), without("b"), with_(secret("modelplane-system", "a", "kubeconfig"))),
            "spec.cluster.existing.secretRef.key",
            "Secret modelplane-system/a has no key config, for the kubeconfig of the cluster; did you mean kubeconfig?",
            id="a key of a Secret",
        ),
    ],
)
def test_a_name_that_nothing_has_is_warned_about(tmp_path: Path, edit: Edit, path: str, says: str) -> None:
    objects = world()
    edit(objects)
    (warning,) = warnings(tmp_path, objects)
    assert warning["path"] == path
    assert says in warning["message"]


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda objects: None, id="everything is there"),
        pytest.param(together(labels(zone="z9"), without("a", "b")), id="clusters are elsewhere"),
        pytest.param(together(spread("region"), without("a", "b")), id="clusters, whose labels spread, are elsewhere"),
        pytest.param(labels(zone="z1"), id="a cluster has it"),
        pytest.param(expression("zone", "In", "z1", "z3"), id="one of the values is there, the other may come"),
        pytest.param(expression("zone", "NotIn", "z9"), id="NotIn of what is gone"),
        pytest.param(expression("spot", "DoesNotExist"), id="DoesNotExist"),
        pytest.param(
            together(without("deployment"), serves(deployment="lama")), id="nothing of the namespace gives endpoints"
        ),
        pytest.param(serves(deployment="llama", cluster="a"), id="a label that a replica gets when it is placed"),
        pytest.param(serves(deployment="llama", region="region-a"), id="a region that a cluster has"),
        pytest.param(serves(api="openai"), id="the label of every replica's endpoint"),
        pytest.param(together(with_(LLM), serves(deployment="small")), id="a deployment that an LLMInference composes"),
        pytest.param(together(with_(OUTSIDE), group(matchLabels={"tier": "spill"})), id="an endpoint written by hand"),
        pytest.param(without("deployment", "service"), id="no deployment at all, so the target may be elsewhere"),
        pytest.param(together(with_(LLM), target(name="small")), id="the deployment of an LLMInference scales"),
        pytest.param(target(apiVersion="apps/v1", kind="Deployment", name="web"), id="a target of another API"),
        pytest.param(without("secret"), id="no Secret of the namespace"),
        pytest.param(
            together(
                lambda objects: objects["secret"]["metadata"].update(name="other"),
                with_(
                    {
                        "apiVersion": "external-secrets.io/v1",
                        "kind": "ExternalSecret",
                        "metadata": {"name": "x", "namespace": "ml-team"},
                        "spec": {"target": {"name": "callers"}},
                    }
                ),
            ),
            id="a Secret that a controller makes",
        ),
    ],
)
def test_nothing_is_said_of_what_is_there_or_may_be_elsewhere(tmp_path: Path, edit: Edit) -> None:
    objects = world()
    edit(objects)
    assert warnings(tmp_path, objects) == []


def test_a_plan_says_it_too(tmp_path: Path) -> None:
    objects = world()
    spread("region")(objects)
    file = given.written(tmp_path, "all", *objects.values())
    (line,) = given.run("plan", file).err.splitlines()
    assert line.startswith(f"{file}:")
    assert line.endswith("the label region; did you mean modelplane.ai/region?")
    assert given.run("plan", given.written(tmp_path, "fine", *copy.deepcopy(world()).values())).err == ""
