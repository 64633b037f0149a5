"""Names that no document has: objects, labels of clusters and of endpoints, and Secrets.

Such a name is a warning and no error, because the control plane may have what the documents lack. Nothing is said about
a name where the documents hold nothing that could have it: no InferenceCluster for labels of clusters, nothing of the
namespace that gives endpoints for the selectors of a service, no Secret of the namespace for a Secret. One file of many
can be checked alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, words
from modelplane.api import inference_cluster, kinds, llm_inference, quota, replica_endpoint, tenants
from modelplane.errors import InvalidInput
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Tenants
from modelplane_cli.checks import references
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.documents.yamltext import Path
from modelplane_cli.simulator.store import Key, controller_of

Json: TypeAlias = Any
Labels: TypeAlias = Mapping[str, str | None]
"""Labels of an object. None stands for a value that is not known before the object exists."""

DEPLOYMENT, SERVICE, LLM_INFERENCE = "ModelDeployment", "ModelService", "LLMInference"
GATEWAY = "InferenceGateway"
_SCALERS = frozenset({("keda.sh", "ScaledObject"), ("autoscaling", "HorizontalPodAutoscaler")})
_ALIKE = 0.6
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels of every object, and the values of each label."""

    all: list[Labels]
    values: dict[str, set[str | None]]

    def add(self, labels: Labels) -> None:
        """Learn the labels of an object."""
        self.all.append(labels)
        for name, value in labels.items():
            self.values.setdefault(name, set()).add(value)

    def alike(self, name: str) -> str:
        """Return the label that an unknown one means: of the same name in a domain, by its value, or by its letters."""
        wanted = name.partition("=")[0]
        if wanted in self.values:
            return wanted
        short = {known.rpartition("/")[2]: known for known in sorted(self.values, reverse=True)}
        same = short.get(wanted.rpartition("/")[2])
        valued = min((known for known, values in self.values.items() if wanted in values), default=None)
        close = difflib.get_close_matches(wanted, sorted({*self.values, *short}), n=1, cutoff=_ALIKE)
        return same or valued or next((short.get(one, one) for one in close), "")


@dataclass(frozen=True, slots=True)
class _Known:
    """The names that the documents have.

    `tenants` are the namespaces that each cluster and gateway allows and each quota limits. `names` are those of the
    kinds of this API by kind, `clusters` the labels of each cluster, `endpoints` the labels of what each namespace
    gives endpoints, `deployments` the names of ModelDeployments by namespace, composed ones too, and `secrets` the
    Secrets by namespace and name, None for one that another object makes.
    """

    names: dict[str, list[str]]
    clusters: _Labels
    endpoints: dict[str, _Labels]
    deployments: dict[str, set[str]]
    secrets: dict[str, dict[str, Mapping[str, Json] | None]]
    tenants: dict[Key, Tenants | None]
    namespaces: set[str]


def check(checked: Checked) -> list[Problem]:
    """Return a warning at each field that has a name which no document has; none about composed objects."""
    known = _known(checked)
    found: list[Problem] = []
    for key in sorted(checked.objects):
        resource = checked.objects[key]
        if controller_of(resource) is None:
            said = _scaler(key, resource, known) if (key.group, key.kind) in _SCALERS else _ours(key, resource, known)
            found += [checked.sources[key].problem(message, path, WARNING) for path, message in said]
    return list(dict.fromkeys(found))


def _known(checked: Checked) -> _Known:
    known = _Known({}, _Labels([], {}), {}, {}, {}, {}, set())
    for key, resource in checked.objects.items():
        if key.group == names.GROUP:
            known.names.setdefault(key.kind, []).append(key.name)
            _learn(known, key, resource)
        elif key.kind == "Secret" and key.group == "":
            known.secrets.setdefault(key.namespace, {})[key.name] = resource
        elif (key.group, key.kind) == ("", tenants.NAMESPACE_KIND):
            known.namespaces.add(key.name)
    for key, resource in checked.objects.items():
        for name in _made_secrets(key, resource):
            if key.namespace in known.secrets:
                known.secrets[key.namespace].setdefault(name, None)
    return known


def _learn(known: _Known, key: Key, resource: Mapping[str, Json]) -> None:
    labels = {str(name): str(value) for name, value in (resource["metadata"].get("labels") or {}).items()}
    if key.kind == inference_cluster.KIND:
        known.clusters.add({**labels, names.LABEL_CLUSTER: key.name})
        known.tenants[key] = tenants.readable(resource)
    elif key.kind == quota.KIND:
        known.tenants[key] = quota.readable(resource).tenants
    elif key.kind == GATEWAY:
        known.tenants[key] = tenants.readable(resource)
    elif key.kind == replica_endpoint.KIND:
        known.endpoints.setdefault(key.namespace, _Labels([], {})).add(labels)
    elif key.kind in (DEPLOYMENT, LLM_INFERENCE):
        known.deployments.setdefault(key.namespace, set()).add(key.name)
        known.endpoints.setdefault(key.namespace, _Labels([], {})).add(_replica_labels(key, resource))


def _replica_labels(key: Key, resource: Mapping[str, Json]) -> Labels:
    """Return the labels of the endpoints of a deployment's replicas."""
    deployment: Mapping[str, Json] = resource
    if key.kind == LLM_INFERENCE:
        try:
            deployment = llm_inference.encode_unsized(llm_inference.decode(resource))
        except InvalidInput:
            deployment = {}  # said by the function, with its place
    template = kinds.values_at(deployment, ("spec", "workers", "template", "metadata", "labels"))
    own: dict[str, str | None] = {
        str(name): str(value) for _, labels in template if isinstance(labels, Mapping) for name, value in labels.items()
    }
    fixed = {names.LABEL_DEPLOYMENT: key.name, names.LABEL_API: replica_endpoint.API}
    placed = (names.LABEL_CLUSTER, names.LABEL_ENDPOINT, *names.LABELS_OF_PLACE)
    return {**own, **fixed, **dict.fromkeys(placed)}


def _made_secrets(key: Key, resource: Mapping[str, Json]) -> Iterator[str]:
    """Yield the Secrets that a controller makes of an object (ExternalSecret, SealedSecret, Certificate and others)."""
    if key.kind.endswith("Secret") and key.group:
        yield key.name
    for path in (("target", "name"), ("destination", "name"), ("secretName",)):
        for _, name in kinds.values_at(resource, ("spec", *path)):
            yield str(name)


# --- objects of this API ---------------------------------------------------------------------------------------------


def _ours(key: Key, resource: Mapping[str, Json], known: _Known) -> Iterator[tuple[Path, str]]:
    kind = kinds.KINDS.get(key.kind) if key.group == names.GROUP else None
    if kind is None:
        return
    for reference in kind.references:
        there = known.names.get(reference.kind, [])
        for path, name in kinds.values_at(resource, reference.path):
            if there and isinstance(name, str) and name and name not in there:
                yield path, f"{reference.kind} {name} is not among the documents{_meant(name, there)}"
    if key.kind in (DEPLOYMENT, LLM_INFERENCE) and known.clusters.all:
        yield from _cluster_labels(resource, known.clusters)
    if key.kind in (DEPLOYMENT, LLM_INFERENCE, SERVICE):
        yield from _namespace(key, known)
    if key.kind == SERVICE and key.namespace in known.endpoints:
        yield from _endpoint_labels(key, resource, known)
    yield from _secrets(key, resource, known)


def _namespace(key: Key, known: _Known) -> Iterator[tuple[Path, str]]:
    """Yield that the labels of the namespace are not known, where they decide whether it may use a cluster or gateway.

    The control plane has the Namespace; offline nothing new of it is placed or routed there, nor anywhere where they
    decide whether a quota limits it.
    """
    if key.namespace in known.namespaces:
        return
    asking = _asking(GATEWAY if key.kind == SERVICE else inference_cluster.KIND, key, known)
    limiting = [] if key.kind == SERVICE else _asking(quota.KIND, key, known)
    if limiting:
        said = f"Namespace {key.namespace} is not among the documents, so its labels are not known, and nothing of it"
        decide = f"they decide whether {words.first(limiting, _SHOWN)} limits it"
        yield ("metadata", "namespace"), f"{said} is placed, since {decide}; add the Namespace"
    if asking:
        said = f"Namespace {key.namespace} is not among the documents, so its labels are not known"
        done = "routed" if key.kind == SERVICE else "placed"
        yield (
            ("metadata", "namespace"),
            f"{said}, and nothing of it is {done} on {words.first(asking, _SHOWN)}; add the Namespace",
        )


def _asking(kind: str, key: Key, known: _Known) -> list[str]:
    """Return the objects of a kind for which the labels of the namespace decide."""
    return sorted(
        str(one)
        for one, allowed in known.tenants.items()
        if one.kind == kind and tenancy.depends_on_labels(allowed, key.namespace)
    )


def _cluster_labels(resource: Mapping[str, Json], clusters: _Labels) -> Iterator[tuple[Path, str]]:
    for path, name in kinds.values_at(resource, ("spec", "placement", "spread", "*", "topologyKey")):
        said = _unlabelled("InferenceCluster", str(name), (), clusters)
        if said:
            yield path, said
    for root, selector in kinds.values_at(resource, ("spec", "clusterSelector")):
        for path, name, values in _asked(root, selector):
            if name == names.LABEL_CLUSTER:
                yield from _clusters(path, values, clusters)
            elif said := _unlabelled("InferenceCluster", name, values, clusters):
                yield path, said


def _clusters(path: Path, values: Sequence[str], clusters: _Labels) -> Iterator[tuple[Path, str]]:
    there = clusters.values[names.LABEL_CLUSTER]
    for value in values:
        if value not in there:
            yield path, f"InferenceCluster {value} is not among the documents{_meant(value, map(str, there))}"


def _endpoint_labels(key: Key, resource: Mapping[str, Json], known: _Known) -> Iterator[tuple[Path, str]]:
    """Yield what a group of a service selects that no endpoint of its namespace has."""
    there = known.endpoints[key.namespace]
    who = f"endpoint of namespace {key.namespace}"
    for root, selector in kinds.values_at(resource, ("spec", "endpoints", "*", "selector")):
        asked = list(_asked(root, selector))
        said = [(path, _unlabelled(who, name, values, there)) for path, name, values in asked]
        found = [(path, message) for path, message in said if message]
        for path, name, values in asked if known.clusters.all else ():
            if name in names.LABELS_OF_PLACE and not there.values.get(name, set()) - {None} >= set(values):
                unknown = _unlabelled("InferenceCluster", name, values, known.clusters)
                found += [(path, unknown)] if unknown else []
            if name == names.LABEL_CLUSTER:
                others = {value for value in there.values.get(name, ()) if value is not None}
                found += _clusters(path, [value for value in values if value not in others], known.clusters)
        yield from found
        if not found and len(asked) > 1 and not any(_has_all(labels, asked) for labels in there.all):
            yield root, f"no {who} among the documents has all these labels; select by fewer, or add them to one"


def _has_all(labels: Labels, asked: Sequence[tuple[Path, str, Sequence[str]]]) -> bool:
    return all(
        name in labels and (not values or labels[name] is None or labels[name] in values) for _, name, values in asked
    )


def _secrets(key: Key, resource: Mapping[str, Json], known: _Known) -> Iterator[tuple[Path, str]]:
    for use in references.uses(key, resource):
        there = known.secrets.get(use.secret.namespace)
        if there is None:
            continue
        if use.secret.name not in there:
            said = f"Secret {use.secret.namespace}/{use.secret.name} is not among the documents, for {use.purpose}"
            yield (*use.path, "name"), f"{said}{_meant(use.secret.name, there)}"
            continue
        found = there[use.secret.name]
        if found is not None and use.is_lacking(found):
            keys = [str(name) for part in ("data", "stringData") for name in found.get(part) or {}]
            said = f"Secret {use.secret.namespace}/{use.secret.name} has no key {use.key}, for {use.purpose}"
            yield (*use.path, "key"), f"{said}{_listed(use.key, keys, 'it has')}"


# --- objects that scale ----------------------------------------------------------------------------------------------


def _scaler(key: Key, resource: Mapping[str, Json], known: _Known) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with the target of a ScaledObject or HorizontalPodAutoscaler, if it is of this API."""
    path: Path = ("spec", "scaleTargetRef")
    target = next((found for _, found in kinds.values_at(resource, ("spec", "scaleTargetRef"))), None)
    if not isinstance(target, Mapping):
        return
    api_version, kind, name = (str(target.get(part) or "") for part in ("apiVersion", "kind", "name"))
    group = api_version.rpartition("/")[0]
    if kind in kinds.KINDS and group != names.GROUP:
        yield (*path, "apiVersion"), f"{kind} is served as {names.API_VERSION}, not {api_version or 'apps/v1'}"
    elif group == names.GROUP and kind != DEPLOYMENT:
        yield (*path, "kind"), f"{kind or 'Deployment'} of {names.GROUP} has no scale subresource; write {DEPLOYMENT}"
    elif group == names.GROUP:
        there = known.deployments.get(key.namespace, set())
        elsewhere = sorted(space for space, found in known.deployments.items() if name in found)
        if name in there or not (there or elsewhere):
            return
        said = f"{DEPLOYMENT} {name} is not among the documents of namespace {key.namespace}"
        meant = f"; it is in {elsewhere[0]}, and both must be in one namespace" if elsewhere else _meant(name, there)
        yield (*path, "name"), said + meant


# --- labels ----------------------------------------------------------------------------------------------------------


def _asked(path: Path, selector: Json) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield each label that a selector asks for, with its values; without values for any value."""
    for name, value in (selector.get("matchLabels") or {}).items():
        yield (*path, "matchLabels", name), str(name), [str(value)]
    for index, one in enumerate(selector.get("matchExpressions") or ()):
        where = (*path, "matchExpressions", index)
        if one.get("operator") == "In":
            yield (*where, "values"), str(one.get("key")), [str(value) for value in one.get("values") or ()]
        elif one.get("operator") == "Exists":
            yield (*where, "key"), str(one.get("key")), []


def _unlabelled(who: str, name: str, values: Sequence[str], there: _Labels) -> str:
    """Return the message about a label that nobody has, empty where somebody has it with one of the values."""
    if name not in there.values:
        near = there.alike(name)
        meant = f"; did you mean {near}?" if near else _listed(name, there.values, "they have")
        return f"no {who} among the documents has the label {name}{meant}"
    known = there.values[name]
    if not values or None in known or not known.isdisjoint(values):
        return ""
    said = f"no {who} among the documents has the label {name}={' or '.join(values)}"
    return f"{said}{_listed(values[0], (value for value in known if value is not None), 'they have')}"


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE)
    return f"; did you mean {close[0]}?" if close else "; is it on the control plane?"


def _listed(name: str, known: Iterable[str], verb: str) -> str:
    """Return the name that is most like `name`, or else the first ones."""
    every = sorted(set(known))
    close = difflib.get_close_matches(name, every, n=1, cutoff=_ALIKE)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; {verb} {words.first(every, _SHOWN)}" if every else ""
