"""Every chart in reach renders with our values, has what shows that it works, and is what an API server takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane.render.stack import profile
from tests.conformance.stack import charts
from tests.support import controlplane, installation, kubeapi, live

Json = Any
every = pytest.mark.parametrize("part", charts.FOLDERS)
CRD = "CustomResourceDefinition"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    live.needs("stack", "go")
    return tmp_path_factory.mktemp("charts")


@every
def test_it_renders_and_has_what_shows_that_it_works(folder: Path, part: str) -> None:
    made = charts.render(part, folder)
    assert made.error == ""
    proof = profile.parts()[part].proof
    if proof.kind != "APIService":
        found = made.find(proof.kind, proof.name)
        assert found is not None, [(one["kind"], one["metadata"]["name"]) for one in made.objects]
        assert found["metadata"].get("namespace", proof.namespace) == proof.namespace
        return
    version, _, group = proof.name.partition(".")
    serves = [one for one in (*made.definitions, *made.objects) if one["kind"] == CRD and one["spec"]["group"] == group]
    assert any(version in {entry["name"] for entry in one["spec"]["versions"]} for one in serves)


def leaves(values: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(values, dict) and values:
        for key, value in values.items():
            yield from leaves(value, (*path, key))
    else:
        yield path


@every
def test_no_value_of_ours_is_unknown_to_the_chart(folder: Path, part: str) -> None:
    """Most charts have no schema, so that a misspelt value is silently nothing."""
    unknown = []
    for path in leaves(charts.values(part)):
        node = charts.defaults(part, folder)
        for key in path:
            if not isinstance(node, dict) or key not in node:
                # What a chart leaves empty takes anything; so does a field whose whole value is ours.
                if node not in (None, {}, []):
                    unknown.append(".".join(path))
                break
            node = node[key]
    assert unknown == []


def owned(made: charts.Rendered) -> set[str]:
    """Return the definitions that go with an uninstallation."""
    kept = "helm.sh/resource-policy"
    return {
        one["metadata"]["name"]
        for one in made.objects
        if one["kind"] == CRD and (one["metadata"].get("annotations") or {}).get(kept) != "keep"
    }


def test_charts_that_own_definitions_are_those_that_are_never_uninstalled(folder: Path) -> None:
    own = {part for part in charts.FOLDERS if owned(charts.render(part, folder))}
    never = {part for part in charts.FOLDERS if profile.parts()[part].owns_definitions}
    # The controller of KServe has those of the inference extension, and may not outlive what signs for its webhooks.
    assert own == never | {"kserve"}
    assert all("inference" in one for one in owned(charts.render("kserve", folder)))


def test_the_nvidia_driver_refuses_without_its_override_and_in_the_default_namespace(folder: Path) -> None:
    given = charts.values("dra-nvidia")
    assert "default" in charts.render("dra-nvidia", folder, namespace="default").error
    del given["gpuResourcesEnabledOverride"]
    assert "gpuResourcesEnabledOverride" in charts.render("dra-nvidia", folder, given=given).error


def test_kueue_judges_the_pods_of_labelled_namespaces_alone(folder: Path) -> None:
    made = charts.render("kueue", folder)
    hooks = [
        hook
        for one in made.objects
        if one["kind"].endswith("WebhookConfiguration")
        for hook in one["webhooks"]
        if any({"pods", "deployments"} & set(rule["resources"]) for rule in hook["rules"])
    ]
    assert hooks
    for hook in hooks:
        selector = hook["namespaceSelector"]
        assert selector.get("matchLabels", {}).get("modelplane.ai/managed") == "true", hook["name"]


def test_an_api_server_takes_all_of_it_in_the_order_of_the_waves(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Definitions are applied, and everything else is tried by a strict dry run, as each part finds the cluster."""
    parts = sorted(charts.FOLDERS, key=lambda key: profile.parts()[key].wave)
    refused = []
    # Device drivers are privileged, which every cluster with GPUs allows.
    arguments = ("--allow-privileged=true",)
    with controlplane.running(tmp_path_factory.mktemp("stack"), arguments=arguments) as plane:
        for part in parts:
            made = charts.render(part, folder)
            every_one = (*made.definitions, *made.objects)
            installation.namespace(plane, profile.parts()[part].namespace)
            installation.apply_definitions(plane, [_local(one) for one in every_one if one["kind"] == CRD])
            for one in every_one:
                if one["kind"] in (CRD, "Namespace"):
                    continue
                try:
                    plane.api.apply(_placed(one, profile.parts()[part].namespace), dry_run=True)
                except kubeapi.Refused as error:
                    refused.append(f"{part}: {one['kind']} {one['metadata']['name']}: {error}")
    assert refused == []


def _local(definition: Json) -> Json:
    """Return a definition without the webhook that converts its versions, which nobody runs here."""
    spec = {key: value for key, value in definition["spec"].items() if key != "conversion"}
    return {**definition, "spec": spec}


_CLUSTER = (
    "ClusterRole",
    "ClusterRoleBinding",
    "WebhookConfiguration",
    "Class",
    "ClusterStorageContainer",
    "APIService",
)


def _placed(one: Json, namespace: str) -> Json:
    """Return an object in the namespace of its release, as Helm places what names none."""
    is_everywhere = one["kind"].endswith(_CLUSTER) or one["kind"].startswith("ValidatingAdmissionPolicy")
    if is_everywhere or one["kind"].startswith("FlowSchema") or "namespace" in one["metadata"]:
        return one
    return {**one, "metadata": {**one["metadata"], "namespace": namespace}}
