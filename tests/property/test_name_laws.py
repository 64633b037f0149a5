"""Laws of derived names: no two things share one, whatever their authors call them.

The generator knows how names are cut and attacks that: names that begin alike, that are another's cut name, that end
where another's suffix begins, that are another's name with a role, a number or a purpose behind it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane import names
from modelplane.render import claims, objects, protection
from modelplane.render import gateway as gateways
from modelplane.render import routing as routes
from modelplane.render.backends.kserve import service as kserve
from modelplane.render.manifest import Manifest
from modelplane.routing.features import GatewayType
from modelplane.routing.model import Gateway, Service
from modelplane.topology.shape import Topology
from modelplane.workload.model import Role
from tests.support import replicas as build
from tests.support import routing

Json = Any

SUFFIXES = ("0", "1", "10", "decode", "prefill", "workload", "route", "namespace", "gateway", "credential", "rule")
SHORT = "abcdefghij"
KEYS = ("namespace", "workload", "route", "preset-decode", "preset-prefill", "claims-decode-0123456789")


@st.composite
def _attacks(draw: st.DrawFn) -> tuple[str, ...]:
    """Return names that are likely to meet."""
    base = draw(st.sampled_from(["a", "a-b", "x" * 12, "llama-" * 5, "y" * 29, "z" * 35, "frontier-" * 6]))
    found = [base.strip("-")]
    for _ in range(draw(st.integers(2, 9))):
        known = draw(st.sampled_from(found))
        kind = draw(st.sampled_from(["suffix", "tail", "bounded", "former", "hashed", "joined"]))
        limit = draw(st.sampled_from([25, 30, 34, 36, 46, 63]))
        made = {
            "suffix": f"{known}-{draw(st.sampled_from(SUFFIXES))}",
            "tail": known + draw(st.text(alphabet="ab0", min_size=1, max_size=40)),
            "bounded": names.bounded(known, limit=limit),
            "former": names.former(known, limit=limit),
            "hashed": names.hashed(known, of=(draw(st.sampled_from(SUFFIXES)),), limit=limit),
            "joined": f"{known}-{draw(st.sampled_from(found))}",
        }[kind]
        found.append(made[:63].rstrip("-"))
    return tuple(sorted(set(found)))


def _replicas(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for name, index in itertools.product(of, (0, 1, 10, 99)):
        yield ("ModelReplica", "ns", name, index), names.replica(name, index)


def _workloads(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    """Yield the services of both shapes; a replica is of one of them."""
    gang = build.role(Role.PREFILL, topology=Topology(data=16))
    for index, (identity, name) in enumerate(_replicas(of)):
        shape = (build.role(), gang) if index % 2 else (build.role(),)
        yield ("LLMInferenceService", *identity), kserve.service_name(build.replica(*shape, name=name))


def _claims(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for (identity, name), role, count in itertools.product(_replicas(of), (Role.DECODE, Role.PREFILL), (1, 2)):
        bound = build.role(role, devices=(build.device(count=count),))
        template = claims.of(build.replica(build.role(), name=name), bound, {}).template
        assert template is not None
        yield (*identity, role, count), template.resource["metadata"]["name"]


def _objects(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for (identity, name), key in itertools.product(_replicas(of), KEYS):
        manifest = Manifest(key, {"apiVersion": "v1", "kind": "X", "metadata": {}})
        config = {"kind": "ClusterProviderConfig", "name": "x"}
        wrapped = objects.wrap(manifest, provider_config=config, namespace="ns", owner=name)
        yield (*identity, key), wrapped["metadata"]["name"]


def _backends(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for name in of:
        yield ("endpoint", name), routes.backend_name(name)
        for group in ("spare", "other"):
            for bundle in _bundles(name, group):
                yield ("service", name, json.dumps(bundle["spec"], sort_keys=True)), bundle["metadata"]["name"]


def _bundles(service: str, group: str) -> list[Json]:
    document = routing.model_service(
        routing.group(deployment="a"), routing.group(deployment=group, priority=1), name=service
    )
    first, second = routing.replica_endpoint("a-0", "a"), routing.replica_endpoint("b-0", group)
    return routing.backends(document, [first], [second], gateway=routing.inference_gateway())


def _filters(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for name in of:
        yield ("endpoint", name), routes.credential_filter_name(name)
        yield ("service", name), routes.rule_filter_name(Service("ns", name, ()))


def _clusters(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for name in of:
        yield ("cluster", name), protection.name_of(name)


def _installations(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for name in of:
        door = Gateway(name, GatewayType.ENVOY, name, "modelplane-system", 80, "v1.9.0")
        for manifest in gateways.installation(door):
            yield ("gateway", name, manifest.key), f"{manifest.key}/{manifest.resource['metadata']['name']}"


def _selectors(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    namespaces = [name for name in of if len(name) <= 63]
    for namespace, name in itertools.product(namespaces, of):
        yield (namespace, name), names.scale_selector(namespace, name)


def _hosts(of: Sequence[str]) -> Iterator[tuple[tuple[Json, ...], str]]:
    for namespace, (identity, name) in itertools.product(of, _replicas(of)):
        yield (namespace, *identity), names.internal_host(namespace, name)


DERIVED: tuple[Callable[[Sequence[str]], Iterator[tuple[tuple[Json, ...], str]]], ...] = (
    _replicas,
    _workloads,
    _claims,
    _objects,
    _backends,
    _filters,
    _clusters,
    _installations,
    _selectors,
    _hosts,
)


@pytest.mark.parametrize("derived", [pytest.param(each, id=each.__name__.strip("_")) for each in DERIVED])
@given(of=_attacks())
def test_no_two_things_share_a_name(
    derived: Callable[[Sequence[str]], Iterator[tuple[tuple[Json, ...], str]]], of: tuple[str, ...]
) -> None:
    owners: dict[str, tuple[Json, ...]] = {}
    for identity, name in derived(of):
        assert owners.setdefault(name, identity) == identity, name
        assert len(name) <= 63 or derived in (_hosts, _selectors, _installations), name
        assert not name.startswith("-")


@pytest.mark.parametrize("limit", [30, 34, 63])
def test_a_birthday_attack_on_cut_names_finds_none(limit: int) -> None:
    """Five digits met after a thousand tries; the same search over names of today finds nothing."""
    tries = [f"{'x' * 64}{number}" for number in range(50_000)]
    assert len({names.former(name, limit=limit) for name in tries[:4_000]}) < 4_000, "the search is able to find one"
    assert len({names.bounded(name, limit=limit) for name in tries}) == len(tries)
    cut = {names.bounded(name, limit=limit) for name in tries[:2_000]}
    assert not cut & {names.bounded(name, limit=limit) for name in cut}, "a cut name is nobody's whole name"


@given(of=_attacks())
def test_a_name_that_fits_is_kept_as_it_is_written(of: tuple[str, ...]) -> None:
    for name in of:
        bounded = names.bounded(name)
        assert bounded == name or len(name.rpartition("-")[2]) == names.DIGEST_DIGITS
