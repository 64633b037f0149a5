"""The AI gateway beside Envoy Gateway: what is composed of it in this step, and how far it is.

Envoy Gateway asks the AI gateway about all that it sends to Envoy, and sends nothing while nobody answers. So where
proxies run already, the hooks are written into Envoy Gateway's configuration only once the AI gateway is there. They
stay then, whatever is said of the AI gateway later. Nothing that was installed is uninstalled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from modelplane import seen
from modelplane.api import gateway_status
from modelplane.render import ai_gateway
from modelplane.render import gateway as rendering
from modelplane.render.manifest import Manifest
from modelplane.routing.model import Gateway
from modelplane_functions import hold
from modelplane_functions.exchange import Child, Condition, Resource, Truth

_KEYS = (ai_gateway.DEFINITIONS_KEY, ai_gateway.RELEASE_KEY, ai_gateway.USAGE_KEY)


def may_be_used(gateway: Gateway, children: Mapping[str, Resource]) -> bool:
    """Return whether routes of the AI gateway may be made: its charts are installed, by us or by others."""
    return gateway.ai is None or not gateway.ai.install or _is_up(children)


def beside(
    manifests: Sequence[Manifest], gateway: Gateway, children: Mapping[str, Resource], *, is_installed: bool
) -> list[Manifest]:
    """Return the installation of Envoy Gateway with that of the AI gateway."""
    standing = hold.standing(children)
    made = [_hooked(each, gateway, children) for each in manifests]
    if gateway.ai is None or not gateway.ai.install:
        return made
    if not gateway.install:
        made.append(rendering.provider_config(gateway, standing))
    definitions, controller = ai_gateway.manifests(gateway, gateway.ai, standing)
    made.append(definitions)
    has_kinds = _is_ready(children, ai_gateway.DEFINITIONS_KEY) and _is_envoy_there(gateway, children)
    if has_kinds or ai_gateway.RELEASE_KEY in children:
        made.append(controller)
    if is_installed and ai_gateway.RELEASE_KEY in children:
        made.append(ai_gateway.usage(gateway, standing))
    return made


def kept(children: Mapping[str, Resource]) -> dict[str, Child]:
    """Return the existing installation of the AI gateway as it is, with the ProviderConfig that it needs."""
    present = {key: children[key] for key in _KEYS if key in children}
    config = children.get(rendering.PROVIDER_CONFIG_KEY)
    if present and config is not None:
        present[rendering.PROVIDER_CONFIG_KEY] = config
    return hold.hold(present)


def joined(installed: Condition, gateway: Gateway, children: Mapping[str, Resource]) -> Condition:
    """Return the condition Installed of both: that of Envoy Gateway until it is true, then that of the AI gateway."""
    if gateway.ai is None or installed.status is not Truth.TRUE:
        return installed
    if not gateway.ai.install:
        return replace(installed, message=f"{installed.message}; the AI gateway is managed elsewhere")
    for key in (ai_gateway.DEFINITIONS_KEY, ai_gateway.RELEASE_KEY):
        verdict = gateway_status.ready(children.get(key), "Release")
        if not verdict.is_good:
            status = Truth.FALSE if verdict.is_good is False else Truth.UNKNOWN
            message = f"waiting for the Release {key}: {verdict.message}"
            return Condition("Installed", status, verdict.reason, message)
    return replace(installed, message=f"{installed.message}; chart ai-gateway-helm {gateway.ai.version} is installed")


def _hooked(manifest: Manifest, gateway: Gateway, children: Mapping[str, Resource]) -> Manifest:
    if manifest.key != rendering.RELEASE_KEY:
        return manifest
    release = children.get(rendering.RELEASE_KEY)
    has_hooks = bool(seen.at(release, "spec", "forProvider", "values", "config", "envoyGateway", "extensionManager"))
    is_fresh = rendering.GATEWAY_KEY not in children
    wants = gateway.ai is not None and (not gateway.ai.install or is_fresh or _is_up(children))
    stays = has_hooks and (not is_fresh or ai_gateway.RELEASE_KEY in children)
    return ai_gateway.with_hooks(manifest) if wants or stays else manifest


def _is_envoy_there(gateway: Gateway, children: Mapping[str, Resource]) -> bool:
    return not gateway.install or _is_ready(children, rendering.RELEASE_KEY)


def _is_up(children: Mapping[str, Resource]) -> bool:
    return _is_ready(children, ai_gateway.DEFINITIONS_KEY) and _is_ready(children, ai_gateway.RELEASE_KEY)


def _is_ready(children: Mapping[str, Resource], key: str) -> bool:
    return gateway_status.ready(children.get(key), "Release").is_good is True
