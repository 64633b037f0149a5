"""Decision on the scaler of a deployment: which is composed, whether the existing one is held, and why.

A scaler that exists stays through anything that is not known for the moment. It goes when the author removes the
wish, and it becomes another one when the platform names another, or when the wish needs KEDA and KEDA is there.
"""

from __future__ import annotations

from modelplane import words
from modelplane.scaling import queries
from modelplane.scaling.model import Facts, Platform, Scaler, Scaling, Verdict

_TOLD = 3


def decide(wanted: Scaling, facts: Facts) -> Verdict:
    """Return the decision. Nothing is composed beside a scaler of somebody else."""
    if facts.rivals:
        listed = words.first(facts.rivals, _TOLD, "; ")
        return _kept(
            facts,
            "ScalerConflict",
            f"{listed} already scales this deployment, and two scalers would undo each other's work; delete it, or "
            "remove spec.scaling",
        )
    if facts.platform is None:
        return _kept(facts, "MetricsUnknown", facts.unknown)
    scaler = _scaler(wanted, facts, facts.platform)
    if scaler is None:
        return _kept(facts, "KEDAUnknown", "it is not known yet whether KEDA is installed on the control plane")
    refused = _refused(wanted, facts, facts.platform, scaler)
    if refused is not None:
        return _kept(facts, *refused)
    if wanted.zero_after_seconds is None or facts.is_waked or wanted.windows:
        return Verdict(scaler, sleeps=wanted.zero_after_seconds is not None)
    return _sleepless(wanted, facts, scaler)


def _kept(facts: Facts, reason: str, message: str) -> Verdict:
    return Verdict(is_held=facts.standing is not None, reason=reason, message=message)


def _scaler(wanted: Scaling, facts: Facts, platform: Platform) -> Scaler | None:
    """Return the scaler: the platform's, else the existing one as long as it serves, else what is installed.

    None where it is not known: a new ScaledObject is never composed before its kind is known to be served.
    """
    standing = None if facts.standing is None else facts.standing.scaler
    if platform.scaler is Scaler.HPA or (platform.scaler is not None and platform.scaler is standing):
        return platform.scaler
    if platform.scaler is Scaler.KEDA:
        return None if facts.has_keda is None else Scaler.KEDA
    if standing is Scaler.KEDA or (standing is not None and not _needs_keda(wanted)):
        return standing
    if facts.has_keda is None:
        return None
    return Scaler.KEDA if facts.has_keda else Scaler.HPA


def _needs_keda(wanted: Scaling) -> str:
    """Return the field that an HPA cannot serve, empty if there is none."""
    if wanted.zero_after_seconds is not None:
        return "scaleToZero"
    return "schedule" if wanted.windows else ""


def _refused(wanted: Scaling, facts: Facts, platform: Platform, scaler: Scaler) -> tuple[str, str] | None:
    """Return the reason and message of what keeps the scaler from being composed, None if nothing does."""
    mute = [one.metric.value for one in wanted.targets if not queries.has(facts.engine, one.metric)]
    if mute:
        message = (
            f"engine {facts.engine.value} publishes nothing for target.{' and target.'.join(mute)}; use cpu or a "
            "schedule, name the engine in spec.engine.type if it is another, or write a ScaledObject with a query of "
            "your own"
        )
        return "NoMetrics", message
    if scaler is Scaler.HPA:
        field = _needs_keda(wanted)
        if not field:
            return None
        chosen = platform.scaler is Scaler.HPA
        cause = f"InferenceGateway {platform.gateway} chooses HPA" if chosen else "KEDA is not installed"
        return "KEDARequired", f"{field} needs KEDA, and {cause}; remove {field}, or ask the platform for KEDA"
    if facts.has_keda is False and (facts.standing is None or facts.standing.scaler is not Scaler.KEDA):
        return "KEDARequired", f"InferenceGateway {platform.gateway} chooses KEDA, and KEDA is not installed"
    asks = bool(wanted.targets) or wanted.zero_after_seconds is not None
    if asks and platform.prometheus is None:
        message = (
            f"InferenceGateway {platform.gateway} names no Prometheus; the platform has to set "
            "spec.scaling.prometheus.address"
        )
        return "MetricsUnknown", message
    return None


def _sleepless(wanted: Scaling, facts: Facts, scaler: Scaler) -> Verdict:
    """Return the decision where no request would be counted at zero. A scaler that already sleeps is held."""
    message = (
        "no ModelService sends requests to this deployment and has another endpoint to answer them at zero, so nothing "
        f"would wake it; at least {wanted.least} stay. Add an endpoint of priority 1 to its ModelService, or a schedule"
    )
    if facts.standing is not None and facts.standing.sleeps:
        return _kept(facts, "NothingWakesIt", message)
    return Verdict(scaler, reason="NothingWakesIt", message=message)
