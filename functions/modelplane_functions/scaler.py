"""The scaler of a deployment: what is asked for it, the child, and the condition ScalerReady.

A deployment without `spec.scaling` asks for nothing and composes no scaler, which is how an author removes it.
ScaledObjects are listed only where the control plane serves them, because Crossplane ends a reconcile that requires an
unknown kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from modelplane import names, scaling, seen
from modelplane.api import scaling as wire
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.render import ai_routing
from modelplane.render import scaler as rendering
from modelplane.scaling.model import Facts, Platform, Scaler, Scaling, Standing, Verdict
from modelplane.workload.model import EngineType, Role, Workload
from modelplane_functions import hold, ownership
from modelplane_functions.exchange import Child, Condition, Kind, Observed, Ready, Requirement, Resource, Truth

CONDITION: Final = "ScalerReady"
_GATEWAY, _SERVICES = "scaling/gateway", "scaling/services"
_HPAS, _SCALED_OBJECTS = "scaling/autoscalers", "scaling/scaled-objects"
_KEDA: Final = "keda"
KEDA: Final = Kind(wire.KEDA_VERSION, wire.KEDA_KIND)
_KEYS: Final = {Scaler.KEDA: rendering.KEDA_KEY, Scaler.HPA: rendering.HPA_KEY}
_NOTHING: Final = Verdict()


@dataclass(frozen=True, slots=True)
class Answer:
    """The scaler of a deployment: its wish, the decision, and the facts that went into it. No wish without scaling."""

    wanted: Scaling | None = None
    verdict: Verdict = _NOTHING
    facts: Facts | None = None


def kinds(observed: Observed) -> dict[str, Kind]:
    """Return the question whether the control plane serves KEDA's kind."""
    return {_KEDA: KEDA} if _is_wanted(observed) else {}


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the objects that decide on the scaler, none without `spec.scaling`."""
    if not _is_wanted(observed):
        return {}
    gateway = seen.text(seen.at(observed.spec, "scaling", "gatewayRef", "name")) or wire.DEFAULT_GATEWAY
    needed = {
        _GATEWAY: Requirement(names.API_VERSION, "InferenceGateway", name=gateway),
        _SERVICES: Requirement(names.API_VERSION, "ModelService", namespace=observed.namespace),
        _HPAS: Requirement(wire.HPA_VERSION, wire.HPA_KIND, namespace=observed.namespace),
    }
    if observed.served.get(_KEDA):
        needed[_SCALED_OBJECTS] = Requirement(wire.KEDA_VERSION, wire.KEDA_KIND, namespace=observed.namespace)
    return needed


def _is_wanted(observed: Observed) -> bool:
    return observed.spec.get("scaling") is not None


def answer(observed: Observed, workload: Workload) -> Answer:
    """Return the decision. Everything of `requirements` must have been fetched.

    Raises: InvalidInput when the author must change something.
    """
    wanted = wire.decode(observed.spec, namespace=observed.namespace, deployment=observed.name)
    if wanted is None:
        return Answer()
    platform, unknown = _platform(observed, wanted)
    services = tuple(_services(observed, wanted, workload))
    facts = Facts(
        engine=EngineType(workload.engine),
        platform=platform,
        unknown=unknown,
        has_keda=observed.served.get(_KEDA),
        standing=_standing(observed),
        rivals=tuple(sorted(set(_rivals(observed)))),
        services=tuple(name for name, _ in services),
        is_waked=any(one.is_waked for _, one in services),
    )
    return Answer(wanted, scaling.decide(wanted, facts), facts)


def _platform(observed: Observed, wanted: Scaling) -> tuple[Platform | None, str]:
    """Return the platform's part, else None and why it is not known."""
    found = observed.required.get(_GATEWAY, ())
    if not found:
        return None, (
            f"InferenceGateway {wanted.gateway} does not exist; name another in spec.scaling.gatewayRef.name, or ask "
            "the platform for it"
        )
    try:
        return wire.decode_platform(found[0]), ""
    except InvalidInput as error:
        return None, f"InferenceGateway {wanted.gateway} cannot be read: {error}"


def _standing(observed: Observed) -> Standing | None:
    """Return the composed scaler that exists. While one replaces the other, the one of KEDA counts."""
    scaled_object = observed.children.get(rendering.KEDA_KEY)
    if scaled_object is not None:
        return Standing(Scaler.KEDA, sleeps=wire.sleeps(scaled_object))
    return Standing(Scaler.HPA) if rendering.HPA_KEY in observed.children else None


def _rivals(observed: Observed) -> Iterator[str]:
    """Yield the scalers of others on the same deployment. An HPA that KEDA made is told by its ScaledObject."""
    own = hold.name_of(observed.children.get(rendering.KEDA_KEY))
    found = [one for key in (_SCALED_OBJECTS, _HPAS) for one in observed.required.get(key, ())]
    for one in found:
        if not wire.scales(one, observed.name) or ownership.is_ours(observed.composite, one):
            continue
        scaled_object = wire.scaled_object_of(one)
        if not scaled_object:
            yield f"{one['kind']} {one['metadata']['name']}"
        elif scaled_object != own:
            yield f"{wire.KEDA_KIND} {scaled_object}"


def _services(observed: Observed, wanted: Scaling, workload: Workload) -> Iterator[tuple[str, wire.Selected]]:
    """Yield the names of the routes of services: those of an AI gateway have another name."""
    decode = next(one for one in workload.roles if one.role is Role.DECODE)
    own = Field(decode.template).at("metadata", "labels").members()
    labels = {str(key): str(value) for key, value in own.items()}
    for service in observed.required.get(_SERVICES, ()):
        found = wire.selected(service, deployment=observed.name, gateway=wanted.gateway, labels=labels)
        if found.is_served:
            name = str(service["metadata"]["name"])
            yield name, found
            if seen.at(service, "status", "model"):
                yield ai_routing.route_name(name), found


# --- emits ------------------------------------------------------------------------------------------------------------


def children(observed: Observed, found: Answer) -> Iterator[tuple[str, Child]]:
    """Yield the scaler: a new form of it, or the existing one as it is observed."""
    if found.verdict.is_held:
        for key in _KEYS.values():
            if key in observed.children:
                yield key, Child(hold.held(observed.children[key]), _ready(observed.children[key]))
    elif found.verdict.scaler is not None and found.wanted is not None and found.facts is not None:
        key = _KEYS[found.verdict.scaler]
        yield key, Child(_resource(found.wanted, found.facts, found.verdict), _ready(observed.children.get(key)))


def _resource(wanted: Scaling, facts: Facts, verdict: Verdict) -> Resource:
    platform = facts.platform
    if verdict.scaler is Scaler.HPA or platform is None:
        return rendering.autoscaler(wanted)
    return rendering.scaled_object(wanted, platform, facts.engine, sleeps=verdict.sleeps, services=facts.services)


def _ready(child: Resource | None) -> Ready:
    if child is None:
        return Ready.FALSE
    if child.get("kind") == wire.HPA_KIND:
        told = seen.condition(child.get("status"), "AbleToScale")
        return Ready.TRUE if seen.verdict(told) is True else Ready.FALSE
    return hold.ready_by_condition(child)


# --- reports ----------------------------------------------------------------------------------------------------------


def status(found: Answer) -> dict[str, object]:
    """Return the entry of the status, empty where no scaler is or will be."""
    standing = None if found.facts is None else found.facts.standing
    scaler = found.verdict.scaler or (standing.scaler if standing is not None else None)
    if found.wanted is None or scaler is None:
        return {}
    return {"scaling": wire.encode_status(found.wanted, scaler)}


def conditions(observed: Observed, found: Answer) -> Iterator[Condition]:
    """Yield the condition, none without a wish."""
    if found.wanted is None:
        return
    verdict = found.verdict
    if verdict.reason:
        held = "; the existing scaler is kept as it is" if verdict.is_held else ""
        unknown = verdict.reason == "KEDAUnknown"
        yield Condition(
            CONDITION, Truth.UNKNOWN if unknown else Truth.FALSE, verdict.reason, f"{verdict.message}{held}"
        )
        return
    if verdict.scaler is not None:
        yield _reported(found.wanted, verdict.scaler, observed.children.get(_KEYS[verdict.scaler]))


def _reported(wanted: Scaling, scaler: Scaler, child: Resource | None) -> Condition:
    """Return what the scaler says of itself."""
    kind = wire.KEDA_KIND if scaler is Scaler.KEDA else wire.HPA_KIND
    span = f"{wanted.least} to {wanted.most} replicas" + ("" if wanted.zero_after_seconds is None else ", or none")
    if child is None:
        return Condition(CONDITION, Truth.FALSE, "Waiting", f"{kind} {wanted.deployment} does not exist yet")
    about = ("Ready",) if scaler is Scaler.KEDA else ("AbleToScale", "ScalingActive")
    told = [seen.condition(child.get("status"), one) for one in about]
    bad = next((one for one in told if seen.verdict(one) is not True), None)
    if bad is None:
        return Condition(CONDITION, Truth.TRUE, "ScalerReady", f"{kind} {wanted.deployment} keeps {span}")
    says = seen.text(bad.get("message")) or "it has not reported yet; is its controller running?"
    reason = seen.text(bad.get("reason")) or "Waiting"
    status = Truth.FALSE if seen.verdict(bad) is False else Truth.UNKNOWN
    return Condition(CONDITION, status, reason, f"{kind} {wanted.deployment}: {says}")
