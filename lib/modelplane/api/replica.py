"""ModelReplica, encoded and decoded: `decode(encode(replica)) == replica` for every replica.

The decode role is at the top of `spec`, the prefill role under `prefill`, each with `pool`, `nodeSelector`, `devices`,
`constraints` and `workers`. `nodeSelector` is the request of the author; `devices` are the devices of the pool's class
that it was resolved to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from kubecel import interruption
from modelplane import names, units
from modelplane.api import device_requests, template_reach
from modelplane.api import workload as workloads
from modelplane.api.fields import Field
from modelplane.devices.model import Claim, Request
from modelplane.errors import InvalidQuantity
from modelplane.units import Format, Quantity
from modelplane.workload import cached
from modelplane.workload.model import BoundRole, EndpointPicker, Model, Replica, ResolvedRequest, Role, RoleSpec

Json: TypeAlias = Any

KIND = "ModelReplica"
_DIGITS = 16
_PLACEMENT = frozenset({"deploymentRef", "clusterName", "priority", "backend"})


def encode(replica: Replica, labels: Mapping[str, str] | None = None) -> dict[str, Json]:
    """Return the ModelReplica object. `labels` are added; the labels of Modelplane take precedence."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": replica.name,
            "namespace": replica.namespace,
            "labels": {
                **(labels or {}),
                **labels_of(replica.namespace, replica.deployment, replica.cluster),
            },
        },
        "spec": encode_spec(replica),
    }


def encode_spec(replica: Replica) -> dict[str, Json]:
    """Return the spec of the ModelReplica."""
    spec: dict[str, Json] = {
        "deploymentRef": {"name": replica.deployment},
        "clusterName": replica.cluster,
        "priority": replica.priority,
        "backend": replica.backend,
        "engine": {"type": str(replica.engine)},
    }
    if replica.model is not None:
        spec["model"] = _encode_model(replica.model)
    if replica.model_cache is not None:
        spec["modelCacheRef"] = {"name": replica.model_cache}
    if replica.cache_key:
        spec["cacheKey"] = replica.cache_key
    if replica.cache_uri:
        spec["cacheUri"] = replica.cache_uri
    if replica.endpoint_picker is not None:
        spec["endpointPicker"] = _encode_endpoint_picker(replica.endpoint_picker)
    if replica.overrides:
        spec["overrides"] = [{"backend": one.backend, "patch": dict(one.patch)} for one in replica.overrides]
    for bound in replica.roles:
        if bound.spec.role is Role.PREFILL:
            spec["prefill"] = _encode_role(bound)
        else:
            spec.update(_encode_role(bound))
    return spec


def fingerprint(replica: Replica) -> str:
    """Return a digest of all fields of the replica that affect its objects, so without its priority.

    A cluster records it for an admitted replica, and a workload for the replica that it was rendered from.
    """
    spec = {key: value for key, value in encode_spec(replica).items() if key != "priority"}
    return names.digest(json.dumps(spec, sort_keys=True), digits=_DIGITS)


def workload_digest(replica: Replica) -> str:
    """Return a digest of what `binding.runs_same` compares: what a deployment says, and nothing of the placement."""
    spec = encode_spec(replace(replica, roles=tuple([BoundRole(one.spec, "", ()) for one in replica.roles])))
    said = {key: value for key, value in spec.items() if key not in _PLACEMENT}
    return names.digest(json.dumps(said, sort_keys=True), digits=_DIGITS)


def labels_of(namespace: str, deployment: str, cluster: str) -> dict[str, str]:
    """Return the labels that select a ModelReplica; its deployment restores them when one is removed."""
    return {
        names.LABEL_DEPLOYMENT: deployment,
        names.LABEL_CLUSTER: cluster,
        names.LABEL_NAMESPACE: namespace,
    }


def decode(resource: Mapping[str, Json]) -> Replica:
    """Return the replica of a ModelReplica.

    Raises: InvalidInput with the path from the document's root; a composed ModelReplica never causes it.
    """
    interruption.checkpoint()
    root = Field(resource)
    spec = root.at("spec")
    deployment = spec.at("deploymentRef", "name").text()
    return Replica(
        namespace=root.at("metadata", "namespace").text(),
        name=root.at("metadata", "name").text(),
        deployment=deployment,
        cluster=spec.at("clusterName").text(),
        backend=spec.at("backend").text(),
        model=workloads.decode_model(spec.at("model"), default_name=deployment),
        engine=workloads.decode_engine(spec.at("engine", "type")),
        roles=tuple([_decode_role(place, role) for role, place in workloads.roles_in(spec)]),
        priority=spec.at("priority").integer(0),
        model_cache=spec.at("modelCacheRef", "name").optional(),
        cache_key=_decode_key(spec.at("cacheKey")),
        cache_uri=spec.at("cacheUri").text(""),
        endpoint_picker=workloads.decode_endpoint_picker(spec.at("endpointPicker")),
        overrides=workloads.decode_overrides(spec.at("overrides")),
    )


def check(resource: Mapping[str, Json]) -> None:
    """Check that the replica may be rendered again: its templates reach nothing of other owners.

    Raises: as `decode`.
    """
    spec = Field(resource).at("spec")
    for _, place in workloads.roles_in(spec):
        template = place.at("workers", "template")
        if template.is_set:
            template_reach.check(template)


def _encode_model(model: Model) -> dict[str, Json]:
    return {"name": model.name} if model.uri is None else {"name": model.name, "uri": model.uri}


def _encode_endpoint_picker(picker: EndpointPicker) -> dict[str, Json]:
    encoded: dict[str, Json] = {}
    if picker.scorers:
        encoded["scorers"] = [{"type": kind, "weight": weight} for kind, weight in picker.scorers]
    if picker.picker:
        encoded["picker"] = picker.picker
    if picker.uncached_tokens is not None:
        encoded["uncachedTokens"] = picker.uncached_tokens
    return encoded


def _encode_role(bound: BoundRole) -> dict[str, Json]:
    role = bound.spec
    encoded: dict[str, Json] = {
        "pool": bound.pool,
        "nodeSelector": _encode_node_selector(role),
        "devices": [_encode_device(device) for device in bound.devices],
        "workers": {
            "count": role.workers,
            "topology": role.topology.documented(),
            "template": dict(role.template),
        },
    }
    if role.constraints:
        encoded["constraints"] = [device_requests.encode_constraint(constraint) for constraint in role.constraints]
    return encoded


def _encode_node_selector(role: RoleSpec) -> dict[str, Json]:
    """Return the short form where it says the same, so that the author finds his own text again."""
    first = role.requests[0]
    short = Request(workloads.ACCELERATOR, role.topology.devices_per_node, first.selectors)
    if role.requests == (short,) and len(first.selectors) == 1 and not role.constraints:
        return {"cel": first.selectors[0]}
    selector: dict[str, Json] = {"devices": [device_requests.encode(request) for request in role.requests]}
    if role.constraints:
        selector["constraints"] = [device_requests.encode_constraint(constraint) for constraint in role.constraints]
    return selector


def _encode_device(request: ResolvedRequest) -> dict[str, Json]:
    encoded: dict[str, Json] = {
        "name": request.name,
        "device": request.device,
        "driver": request.driver,
        "claim": str(request.claim),
        "count": request.count,
    }
    if request.alternative:
        encoded["alternative"] = request.alternative
    if request.device_class:
        encoded["deviceClassName"] = request.device_class
    if request.resource_name:
        encoded["resourceName"] = request.resource_name
    if request.memory_bytes is not None:
        encoded["memory"] = Quantity.of(request.memory_bytes, Format.BINARY_SI).canonical()
    if request.consumes:
        encoded["consumes"] = dict(request.consumes)
    if request.selectors:
        encoded["selectors"] = [{"cel": text} for text in request.selectors]
    return encoded


def _decode_role(parent: Field, role: Role) -> BoundRole:
    spec = workloads.decode_role(parent, role)
    return BoundRole(
        spec=spec,
        pool=parent.at("pool").text(),
        devices=tuple(_decode_device(entry) for entry in parent.at("devices").items()),
    )


def _decode_device(entry: Field) -> ResolvedRequest:
    return ResolvedRequest(
        name=entry.at("name").text(),
        device=entry.at("device").text(),
        driver=entry.at("driver").text(),
        claim=_decode_claim(entry.at("claim")),
        count=entry.at("count").integer(),
        device_class=entry.at("deviceClassName").text(""),
        resource_name=entry.at("resourceName").text(""),
        selectors=device_requests.decode_selectors(entry.at("selectors")),
        memory_bytes=_decode_bytes(entry.at("memory")),
        alternative=entry.at("alternative").text(""),
        consumes=device_requests.decode_amounts(entry.at("consumes")),
    )


def _decode_key(field: Field) -> str:
    key = field.text("")
    if key and not cached.is_key(key):
        raise field.wrong("must be the key of a ModelCache, 16 hexadecimal digits")
    return key


def _decode_bytes(field: Field) -> int | None:
    if isinstance(field.value, int):
        return field.integer()
    text = field.optional()
    if text is None:
        return None
    try:
        return units.quantity(text).ceil()
    except InvalidQuantity as error:
        raise error.under(*field.path) from None


def _decode_claim(field: Field) -> Claim:
    name = field.text(Claim.DRA)
    try:
        return Claim(name)
    except ValueError:
        raise field.wrong(f'unknown claim "{name}"; must be one of {", ".join(Claim)}') from None
