"""ModelService, decoded for routing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.api import label_selectors, service_access, service_balancing
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.labels import EVERYTHING, LabelSelector
from modelplane.routing.egress import Rules
from modelplane.routing.model import Group, Jwt, Retries, Service, Timeouts

Json: TypeAlias = Any

# Causes after which no generation has begun. "5xx" and "reset" also follow an answer that was cut, and would run it
# again.
_SAFE_TRIGGERS = ("connect-failure", "refused-stream", "reset-before-request")
_STATUS_CODE = re.compile(r"[45][0-9]{2}\Z")


def decode(document: Mapping[str, Json]) -> Service:
    """Return the service of a ModelService.

    Raises: InvalidInput with the field's full path (the author's fault).
    """
    root = Field(document)
    spec = root.at("spec")
    groups = tuple(_group(item) for item in spec.at("endpoints").items())
    if not groups:
        raise spec.at("endpoints").wrong(
            "must have at least one group; add a selector, for example on modelplane.ai/deployment"
        )
    namespace = root.at("metadata", "namespace").text()
    auth = service_access.auth(spec.at("auth"), namespace)
    return Service(
        namespace=namespace,
        name=root.at("metadata", "name").text(),
        groups=groups,
        host=spec.at("host").text(""),
        gateway=spec.at("gatewayRef", "name").text(""),
        timeouts=Timeouts(spec.at("timeouts", "request").text("0s"), spec.at("timeouts", "idle").text("3600s")),
        retries=_retries(spec.at("retries")),
        rate_limit=service_access.rate_limit(spec.at("rateLimit"), auth),
        auth=auth,
        clients=service_access.clients(spec.at("clients")),
        cors=service_access.cors(spec.at("cors"), auth),
        max_request_size=service_access.max_request_size(spec.at("maxRequestSize")),
        balancing=service_balancing.decode(spec, auth),
        uid=root.at("metadata", "uid").text(""),
    )


def check_egress(service: Service, rules: Rules) -> None:
    """Check that the rules of the gateway let it read the keys of the service's token issuer.

    Raises: InvalidInput with the field's full path (the author's fault).
    """
    if isinstance(service.auth, Jwt):
        try:
            rules.check(service.namespace, service.auth.keys_at.kind, service.auth.keys_at.host)
        except InvalidInput as error:
            raise error.under("spec", "auth", "jwt", "jwksUri") from None


def _group(field: Field) -> Group:
    weight, priority = field.at("weight"), field.at("priority")
    limit = field.at("maxRequests")
    group = Group(_selector(field.at("selector")), weight.integer(1), priority.integer(0), limit.integer(0))
    if group.weight < 0:
        raise weight.wrong("must be 0 or more; 0 drains the group")
    if group.priority < 0:
        raise priority.wrong("must be 0 or more; 0 comes first")
    if limit.is_set and group.max_requests < 1:
        raise limit.wrong("must be 1 or more; leave it out for any number")
    return group


def _selector(field: Field) -> LabelSelector:
    """Return the selector; an empty one is refused, since it would take in whatever appears in the namespace."""
    selector = label_selectors.decode(field)
    if selector == EVERYTHING:
        raise field.wrong(
            "must not be empty; write matchLabels, for example modelplane.ai/deployment with a deployment's name"
        )
    return selector.normal()


def _retries(field: Field) -> Retries:
    attempts = field.at("attempts").integer(2)
    if attempts < 0:
        raise field.at("attempts").wrong("must be 0 or more")
    causes = [(item, item.text()) for item in field.at("on").items()]
    if not field.at("on").is_set:
        return Retries(attempts)
    triggers, codes = set(), set()
    for item, cause in causes:
        if cause in _SAFE_TRIGGERS:
            triggers.add(cause)
        elif _STATUS_CODE.match(cause):
            codes.add(int(cause))
        else:
            raise item.wrong(
                f"{cause!r} is not offered, because a retry could run a generation twice; use "
                f'{", ".join(_SAFE_TRIGGERS)} or a status code from 400 to 599, for example "503"'
            )
    return Retries(attempts, tuple(sorted(triggers)), tuple(sorted(codes)))
