"""The backends that a cluster offers: what is observed on it for them, and which of them are installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from modelplane import names
from modelplane.api import inference_cluster, installation
from modelplane.api.fields import Field
from modelplane.render import installed, objects
from modelplane.render.backend import Backend
from modelplane.render.backends import selection
from modelplane.workload.site import Installed
from modelplane_functions.exchange import Child, Observed, Ready, Resource
from modelplane_functions.memory.resources import recall


def children(observed: Observed, provider: Mapping[str, str]) -> Iterator[tuple[str, Child]]:
    """Yield the Objects that observe the API versions of the offered backends. No model waits for one of them."""
    for key, wrapped in _observations(observed, provider).items():
        yield key, Child(wrapped, Ready.TRUE if key in observed.children else Ready.FALSE)


def _observations(observed: Observed, provider: Mapping[str, str]) -> dict[str, Resource]:
    """Return the Objects by key. They are made once per version of the cluster and its provider configuration."""

    def made() -> tuple[Mapping[str, str], dict[str, Resource]]:
        wrap = partial(objects.wrap, provider_config=provider, namespace=names.SYSTEM_NAMESPACE, owner=observed.name)
        return provider, {one.key: wrap(one) for one in installed.manifests(_offered(observed).values())}

    return recall(observed.composite, "observations", made, lambda known: known[0] == provider)[1]


def users(observed: Observed) -> int:
    """Return the number of these Objects that are counted as users of the provider configuration.

    The provider counts an Object before it writes a first condition. One that it has not seen yet is nobody's user.
    """
    looked = (child for key, child in observed.children.items() if installed.is_observation(key))
    return sum(bool(objects.condition(child, "Synced")) for child in looked)


def read(observed: Observed) -> tuple[Installed, ...]:
    """Return the state of the offered backends; the last known state holds while the cluster is not read."""
    published, before = recall(observed.composite, "published", partial(_published, observed.status))
    offered = _offered(observed)
    served = {
        version: installed.serves(observed.children.get(installed.key(version)), before=before.get(version))
        for version in installed.versions(offered.values())
    }
    found = (installed.of(name, backend, served) for name, backend in offered.items())
    return tuple(_held(one, published.get(one.backend)) for one in found)


def _published(status: Resource) -> tuple[dict[str, Installed], dict[str, bool]]:
    """Return the published states by backend, and the API versions that were known to be served or missing."""
    published = {one.backend: one for one in installation.decode(Field(status))}
    before: dict[str, bool] = {}
    for one in published.values():
        before |= dict.fromkeys(one.missing, False) | dict.fromkeys(one.versions, True)
    return published, before


def lacking(backends: tuple[Installed, ...]) -> str:
    """Return a message about what the cluster lacks, empty when nothing is known to be missing."""
    told = "; ".join(f"{one.backend} needs {' and '.join(one.missing)}" for one in backends if one.missing)
    if not told:
        return ""
    return (
        f"the cluster does not serve what its backends need ({told}); no new replica that needs it is placed here, and "
        "what runs is kept; install it, or remove the backend from spec.backends"
    )


def _held(one: Installed, before: Installed | None) -> Installed:
    """Return the state with what was known before where an older version of the group could not be looked for."""
    if before is None or one.is_installed is not None:
        return one
    return replace(one, is_installed=before.is_installed)


def _offered(observed: Observed) -> dict[str, Backend]:
    """Return the backends that the cluster offers and Modelplane renders, by name."""
    return recall(observed.composite, "offered", partial(_listed, observed.composite))


def _listed(cluster: Resource) -> dict[str, Backend]:
    return selection.listed(inference_cluster.decode_backends(Field(cluster)))
