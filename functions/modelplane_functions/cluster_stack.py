"""The serving stack of a cluster: what the cluster needs, and what is handed over to its ServingStack.

The ServingStack is made once and kept: no input that is missing or wrong removes it, and switching the installation off
uninstalls nothing. Without provider-helm nothing is made, because Crossplane applies nothing more of a composite that
has a child of a kind that is not served.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from modelplane import names, seen
from modelplane.api import inference_cluster, serving_stack
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import ProviderConfigRef
from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Pool
from modelplane.render.cloud import PROVIDER_CONFIG_KEY, Access
from modelplane.render.stack import needs, releases
from modelplane.routing.transport import Transport
from modelplane.workload.site import ClusterFacts
from modelplane.workload.stack import Component, Mode, Reference, Stack
from modelplane_functions import cluster_cloud, hold
from modelplane_functions.exchange import Child, Condition, Kind, Observed, Ready, Resource, Truth

KEY = "serving-stack"
_RELEASES, _STACKS = "releases", "serving-stacks"
_KINDS = {
    _RELEASES: Kind(releases.API_VERSION, releases.KIND),
    _STACKS: Kind(names.API_VERSION, serving_stack.KIND),
}
_DECIDED, _WISH = "install", "asked"
_LISTENER = "http"


@dataclass(frozen=True, slots=True)
class Door:
    """The listeners of the cluster's own Gateway, and the Secret of its certificate, empty if it needs none."""

    listeners: frozenset[Transport]
    certificate: str = ""


_PLAIN = Door(frozenset({Transport.PLAINTEXT}))


@dataclass(frozen=True, slots=True)
class Given:
    """The parts of a cluster that its stack is decided from, beside its facts."""

    pools: Iterable[Pool]
    door: Door = _PLAIN


@dataclass(frozen=True, slots=True)
class ClusterStack:
    """The children of a cluster for its stack, what it asks about kinds, and what it says (`condition`), if anything.

    `users` is how many Objects of the stack use the cluster's provider configuration. `status` records the decision
    whether a stack is installed.
    """

    children: Mapping[str, Child] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    condition: Condition | None = None
    users: int = 0
    status: Mapping[str, Resource] = field(default_factory=dict)


def read(
    observed: Observed,
    access: Access | None,
    provider: ProviderConfigRef | None,
    facts: ClusterFacts,
    given: Given,
) -> ClusterStack:
    """Return the stack of a cluster, which has no children where none is wanted and none was made.

    Without access a cluster that is created is not there yet, and what was made before is kept.
    """
    found = _read(observed, access, provider, facts, given)
    return replace(found, status={"stack": _record(observed)})


def _read(
    observed: Observed,
    access: Access | None,
    provider: ProviderConfigRef | None,
    facts: ClusterFacts,
    given: Given,
) -> ClusterStack:
    standing = observed.children.get(KEY)
    if not is_wanted(observed) and standing is None:
        return ClusterStack()
    if access is None or provider is None:
        waits = Condition(serving_stack.CONDITION, Truth.UNKNOWN, "WaitingForCluster", "the cluster is not there yet")
        return ClusterStack(_held(observed), {}, waits, serving_stack.users(standing or {}))
    kinds = {} if standing is not None else _KINDS
    try:
        stack = _stack(observed, access, provider, facts, given)
    except InvalidInput as error:
        wrong = Condition(serving_stack.CONDITION, Truth.FALSE, error.reason, f"{error}; what is installed is kept")
        return ClusterStack(_held(observed), kinds, wrong, serving_stack.users(standing or {}))
    if standing is None and not all(observed.served.get(key) for key in _KINDS):
        return ClusterStack(kinds=kinds, condition=_no_provider())
    children = {**_config(observed, access), KEY: Child(serving_stack.encode(stack), _ready(standing))}
    return ClusterStack(children, kinds, _condition(observed, standing), serving_stack.users(standing or {}))


def is_wanted(observed: Observed) -> bool:
    """Return whether a stack is installed: by default on what Modelplane makes, and on nothing else.

    Earlier versions wrote `install: true` by default and installed nothing. A cluster that such a version has reported
    on is therefore left alone until its author says something else in spec.stack.
    """
    asked, given = _asked(observed), Field(observed.spec, ("spec",)).at("stack").members()
    if cluster_cloud.is_created(observed) or given.keys() - {"install"}:
        return asked
    recorded = observed.status.get("stack")
    if isinstance(recorded, Mapping) and recorded.get(_WISH) == asked:
        return recorded.get(_DECIDED) is True
    is_of_earlier_version = recorded is None and observed.status.get("pools") is not None
    return asked and not is_of_earlier_version


def owns_gateway(observed: Observed) -> bool | None:
    """Return whether the cluster's Gateway is made by its stack, None while that is not decided."""
    standing = observed.children.get(KEY)
    if standing is None and not is_wanted(observed):
        return False
    asked = seen.text(seen.at(observed.spec, "stack", "components", serving_stack.GATEWAY))
    mode = next((one for one in Mode if one.value == asked), None) or serving_stack.gateway_mode(standing or {})
    return None if mode is None else mode is Mode.MANAGED


def listeners(observed: Observed) -> frozenset[Transport]:
    """Return the listeners that the stack was asked to make, none before there is one."""
    standing = observed.children.get(KEY)
    if standing is None:
        return frozenset()
    has = zip((Transport.PLAINTEXT, Transport.MUTUAL_TLS), serving_stack.decode_listeners(standing), strict=True)
    return frozenset(one for one, is_open in has if is_open)


def _asked(observed: Observed) -> bool:
    stack = Field(observed.spec, ("spec",)).at("stack")
    return stack.at("install").flag(default=cluster_cloud.is_created(observed))


def _record(observed: Observed) -> dict[str, bool]:
    """Return the decision, and what the author had said when it was made."""
    return {_DECIDED: is_wanted(observed), _WISH: _asked(observed)}


def _stack(observed: Observed, access: Access, provider: ProviderConfigRef, facts: ClusterFacts, given: Given) -> Stack:
    root = Field(observed.composite)
    modes, versions = serving_stack.decode_wishes(root)
    needs.check(versions)
    of_cloud = cluster_cloud.stack_needs(observed)
    needed = needs.of(
        inference_cluster.decode_backends(root),
        _drivers(given.pools),
        facts.scheduler,
        has_monitors=facts.has_pod_monitors,
        has_certificates=bool(given.door.certificate),
    )
    before: tuple[Component, ...] = serving_stack.decode_standing(observed.children.get(KEY, {}))
    return Stack(
        name=observed.name,
        cluster=observed.name,
        kubernetes=Reference(provider.kind, provider.name),
        helm=Reference(provider.kind, _config_name(observed, access, provider)),
        components=needs.decided(needed, before, modes, versions),
        gateway_name=facts.gateway_name,
        gateway_namespace=facts.gateway_namespace,
        gateway_listener=facts.gateway_listener or _LISTENER,
        gateway_plaintext=Transport.PLAINTEXT in given.door.listeners,
        gateway_certificate=given.door.certificate if Transport.MUTUAL_TLS in given.door.listeners else "",
        driver_root=root.at("spec", "stack", "gpuDriverRoot").text(of_cloud.gpu_driver_root),
        limits_critical_pods=of_cloud.needs_critical_quota,
        lifelines=cluster_cloud.lifelines(observed),
        is_abandoned=_is_abandoned(observed),
    )


def _is_abandoned(observed: Observed) -> bool:
    return bool(seen.at(observed.composite, "metadata", "annotations", names.ANNOTATION_ABANDON) == "true")


def _drivers(pools: Iterable[Pool]) -> set[str]:
    """Return the drivers of the devices that pods claim on the cluster."""
    known = (pool.node_class for pool in pools if pool.node_class is not None)
    return {device.driver for node_class in known for device in node_class.devices if device.claim is Claim.DRA}


def _config(observed: Observed, access: Access) -> dict[str, Child]:
    """Return the configuration of provider-helm, none where that of provider-kubernetes is adopted."""
    for manifest in access.manifests:
        if manifest.key == PROVIDER_CONFIG_KEY:
            made = releases.config(manifest.resource)
            is_there = made.key in observed.children
            return {made.key: Child(made.resource, Ready.TRUE if is_there else Ready.FALSE)}
    kept = {key: observed.children[key] for key in (releases.CONFIG_KEY,) if key in observed.children}
    return hold.hold(kept, lambda _: Ready.TRUE)


def _config_name(observed: Observed, access: Access, provider: ProviderConfigRef) -> str:
    standing = hold.name_of(observed.children.get(releases.CONFIG_KEY)) if access.manifests else ""
    return standing or (access.name if access.manifests else provider.name)


def _held(observed: Observed) -> dict[str, Child]:
    """Return what stands. The word by which a cluster that is gone is given up is handed on whatever is wrong."""
    kept = {key: observed.children[key] for key in (KEY, releases.CONFIG_KEY) if key in observed.children}
    children = hold.hold(kept)
    if KEY in children and isinstance(children[KEY].resource.get("spec"), Mapping):
        resource = children[KEY].resource
        spec = {name: value for name, value in resource["spec"].items() if name != "abandon"}
        spec |= {"abandon": True} if _is_abandoned(observed) else {}
        children[KEY] = replace(children[KEY], resource={**resource, "spec": spec})
    return children


def _ready(standing: Resource | None) -> Ready:
    return Ready.FALSE if standing is None else hold.ready_by_condition(standing)


# --- reports ----------------------------------------------------------------------------------------------------------


def _no_provider() -> Condition:
    return Condition(
        serving_stack.CONDITION,
        Truth.UNKNOWN,
        "ProviderMissing",
        f"spec.stack.install is on, and the control plane does not serve {releases.KIND} of {releases.API_VERSION} or "
        f"{serving_stack.KIND}; install provider-helm and this version's definitions, or set spec.stack.install to "
        "false where the cluster has what it needs",
    )


def _condition(observed: Observed, standing: Resource | None) -> Condition:
    """Return what the ServingStack says of itself."""
    told = seen.condition(seen.at(standing, "status"), serving_stack.CONDITION)
    kept = (
        ""
        if is_wanted(observed)
        else (
            "spec.stack.install is off, which uninstalls nothing: set components to Disabled, or to External to keep "
            "them; "
        )
    )
    status = next((one for one in Truth if one.value == told.get("status")), None)
    if standing is None or status is None:
        message = f"{kept}ServingStack {observed.name} has not reported yet"
        return Condition(serving_stack.CONDITION, Truth.UNKNOWN, "Installing", message)
    reason = seen.text(told.get("reason")) or "Installing"
    return Condition(serving_stack.CONDITION, status, reason, kept + seen.text(told.get("message")))
