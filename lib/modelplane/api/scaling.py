"""Scaling of a ModelDeployment, the platform's part of it, and scalers that exist: wire <-> domain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from modelplane import names, seen, units
from modelplane.api import label_selectors, replica_endpoint
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.labels import LabelSelector
from modelplane.scaling.model import Metric, Platform, Prometheus, Scaler, Scaling, Target, Window

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]

KEDA_VERSION, KEDA_KIND = "keda.sh/v1alpha1", "ScaledObject"
HPA_VERSION, HPA_KIND = "autoscaling/v2", "HorizontalPodAutoscaler"
TARGET_KIND = "ModelDeployment"
DEFAULT_GATEWAY: Final = "default"
REPLICAS_MAX: Final = 1000
_AMOUNT_MAX: Final = 1_000_000
_CORES_MAX: Final = 100_000
_MODES: Final = ("basic", "bearer", "custom", "tls")
_DURATION: Final = re.compile(r"(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,6})s)?\Z")
_CRON: Final = re.compile(r"\S+(?: \S+){4}\Z")
_HOUR_SECONDS, _MINUTE_SECONDS = 3600, 60
# KEDA's cooldown is an int32, and a model that sleeps after seconds would never serve.
_ZERO_MIN_SECONDS, _ZERO_MAX_SECONDS = 60, 2_592_000
_UNKNOWN_AT_ZERO: Final = frozenset({names.LABEL_CLUSTER, names.LABEL_ENDPOINT})


def decode(spec: Object, *, namespace: str, deployment: str) -> Scaling | None:
    """Return the author's wish, None without one.

    Raises: InvalidInput with the path from the document's root (the author's fault).
    """
    field = Field(spec, ("spec",)).at("scaling")
    if not field.is_set:
        return None
    least = field.at("min").count(1, least=1, most=REPLICAS_MAX)
    most = field.at("max").count(least=1, most=REPLICAS_MAX)
    if most < least:
        raise field.at("max").wrong(f"must be at least min ({least})")
    zero = field.at("scaleToZero")
    found = Scaling(
        namespace=namespace,
        deployment=deployment,
        least=least,
        most=most,
        targets=tuple(_targets(field.at("target"))),
        windows=tuple(_window(entry, most) for entry in field.at("schedule").items()),
        zero_after_seconds=_seconds(zero.at("after")) if zero.is_set else None,
        gateway=field.at("gatewayRef", "name").text(DEFAULT_GATEWAY),
    )
    if not found.targets and not found.windows:
        raise field.wrong("must have a target or a schedule; without one nothing would ever be scaled")
    return found


def _targets(field: Field) -> Iterable[Target]:
    for metric in Metric:
        given = field.at(metric.value)
        if not given.is_set:
            continue
        if metric is Metric.CPU:
            yield Target(metric, _cores(given))
        else:
            most = 100 if metric is Metric.KV_CACHE_USAGE else _AMOUNT_MAX
            yield Target(metric, str(given.count(least=1, most=most)))


def _cores(field: Field) -> str:
    text = str(field.value) if isinstance(field.value, int) and not isinstance(field.value, bool) else field.text()
    try:
        amount = units.quantity(text)
    except InvalidInput as error:
        raise error.under(*field.path) from None
    milli = round(amount.as_approximate_float() * 1000)
    if not 1 <= milli <= _CORES_MAX * 1000:
        raise field.wrong(f"must be from 1m to {_CORES_MAX} cores per replica")
    return f"{milli // 1000}.{milli % 1000:03d}".rstrip("0").rstrip(".")


def _window(entry: Field, most: int) -> Window:
    replicas = entry.at("replicas").count(least=1, most=REPLICAS_MAX)
    if replicas > most:
        raise entry.at("replicas").wrong(f"must be at most max ({most})")
    return Window(
        timezone=entry.at("timezone").text("Etc/UTC"),
        start=_cron(entry.at("start")),
        end=_cron(entry.at("end")),
        replicas=replicas,
    )


def _cron(field: Field) -> str:
    text = field.text()
    if not _CRON.match(text):
        raise field.wrong("must be a cron expression of five fields, for example 0 8 * * 1-5")
    return text


def _seconds(field: Field) -> int:
    text = field.text("30m")
    match = _DURATION.match(text)
    if match is None or not any(match.groups()):
        raise field.wrong("must be a duration in hours, minutes and seconds, for example 30m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    total = hours * _HOUR_SECONDS + minutes * _MINUTE_SECONDS + seconds
    if not _ZERO_MIN_SECONDS <= total <= _ZERO_MAX_SECONDS:
        raise field.wrong("must be from 1m to 720h")
    return total


# --- the platform's part ----------------------------------------------------------------------------------------------


def decode_platform(gateway: Object) -> Platform:
    """Return the platform's part, from an InferenceGateway. Raises: InvalidInput (the platform's fault)."""
    root = Field(gateway)
    field = root.at("spec", "scaling")
    prometheus = field.at("prometheus")
    wanted = field.at("autoscaler").text("Auto")
    if wanted not in {"Auto", *Scaler}:
        raise field.at("autoscaler").wrong(f"{wanted!r} is not one of Auto, {', '.join(Scaler)}")
    return Platform(
        gateway=root.at("metadata", "name").text(),
        scaler=None if wanted == "Auto" else Scaler(wanted),
        prometheus=_prometheus(prometheus) if prometheus.is_set else None,
    )


def _prometheus(field: Field) -> Prometheus:
    authentication = field.at("authentication")
    modes = authentication.at("modes").texts()
    unknown = sorted(set(modes) - set(_MODES))
    if unknown:
        raise authentication.at("modes").wrong(f"{unknown[0]!r} is not one of {', '.join(_MODES)}")
    headers = field.at("headers")
    return Prometheus(
        address=field.at("address").text(),
        authentication=authentication.at("name").text() if authentication.is_set else "",
        modes=",".join(sorted(modes)),
        headers={key: headers.at(key).text("") for key in sorted(headers.members())},
        polling_seconds=field.at("pollingSeconds").count(15, least=5, most=3600),
    )


# --- what exists ------------------------------------------------------------------------------------------------------


def scales(scaler: Object, deployment: str) -> bool:
    """Return whether an observed HPA or ScaledObject has the deployment as its target."""
    target = seen.at(scaler, "spec", "scaleTargetRef")
    group = seen.text(seen.at(target, "apiVersion")).partition("/")[0]
    return group == names.GROUP and seen.at(target, "kind") == TARGET_KIND and seen.at(target, "name") == deployment


def scaled_object_of(hpa: Object) -> str:
    """Return the name of the ScaledObject that controls an HPA, empty if none does."""
    owners = seen.objects(seen.at(hpa, "metadata", "ownerReferences"))
    mine = (one for one in owners if one.get("controller") is True and one.get("kind") == KEDA_KIND)
    return next((seen.text(one.get("name")) for one in mine), "")


def sleeps(scaled_object: Object) -> bool:
    """Return whether an observed ScaledObject may scale to zero."""
    return seen.count(seen.at(scaled_object, "spec", "idleReplicaCount")) == 0


@dataclass(frozen=True, slots=True)
class Selected:
    """The part of a deployment in a ModelService: whether it gets requests, and keeps the route alone at zero."""

    is_served: bool = False
    is_waked: bool = False


def selected(service: Object, *, deployment: str, gateway: str, labels: Mapping[str, str]) -> Selected:
    """Return the part of a deployment in an observed ModelService, none in one that cannot be read.

    A service counts requests while the deployment has no replica if another group keeps its route. `labels` are those
    that the author gives to pods, which endpoints have too.
    """
    root = Field(service, ())
    try:
        named = root.at("spec", "gatewayRef", "name").text(DEFAULT_GATEWAY)
        groups = [label_selectors.decode(item.at("selector")) for item in root.at("spec", "endpoints").items()]
    except InvalidInput:
        return Selected()
    own = {**labels, names.LABEL_DEPLOYMENT: deployment, names.LABEL_API: replica_endpoint.API}
    mine = [_may_select(group, own) for group in groups]
    is_served = named == gateway and any(mine)
    return Selected(is_served, is_waked=is_served and not all(mine))


def _may_select(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Return whether the selector may select an endpoint of a replica. Its cluster and its name are not known yet."""
    known = LabelSelector(
        tuple((key, value) for key, value in selector.match_labels if key not in _UNKNOWN_AT_ZERO),
        tuple(one for one in selector.match_expressions if one.key not in _UNKNOWN_AT_ZERO),
    )
    return known.matches(labels)


def encode_status(wanted: Scaling, scaler: Scaler) -> dict[str, Json]:
    """Return the status of the composed scaler."""
    return {"scaler": scaler.value, "min": wanted.least, "max": wanted.most}
