"""Laws of hosts that several namespaces may use, in any order of control loops whose caches are behind.

A host has one holder, what answers goes on answering, and the next in line gets the host when the holder has left it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import host_world
from tests.support.host_world import HOSTS, NAMESPACES, HostWorld

Json = Any
SCHEDULES = 120
LONG = 1_000
STEPS = 40


def world_of(number: int, **grants: Json) -> HostWorld:
    world = HostWorld(number, host_world.shared_gateway(**grants))
    rng = world.rng
    for _ in range(rng.randint(2, 5)):
        world.write(rng.choice(NAMESPACES), rng.choice("ab"), rng.choice(HOSTS), seen=rng.random() < 0.3)
    return world


def run(world: HostWorld, steps: int, look: Callable[[str], None] = lambda _: None) -> None:
    for _ in range(steps):
        look(world.step())


def exactly_one(world: HostWorld) -> None:
    """Law: at rest each host that somebody asks for has one holder, which all the others are told."""
    for host in HOSTS:
        asking = {key for key, one in world.services.items() if one["spec"]["host"] == host}
        having = {namespace for namespace, _ in world.routes(host)}
        holder = world.holders.get(host)
        # A service whose next host is refused keeps the route with the one that it had.
        assert bool(asking or having) == (holder is not None), f"{host}: {holder} of {asking}"
        assert having <= {holder}, f"{host} of {holder} has routes of {having}"
        for key in asking:
            reason, message = world.reason(key)
            is_holder = key.partition("/")[0] == holder
            assert (reason == "HostHeld") == (not is_holder), f"{key}: {reason}: {message}"
            assert is_holder or f"namespace {holder}," in message
            is_drained = key.partition("/")[0] in world.drained
            assert ("route" in world.children[key]) or is_drained or not is_holder


# --- changes ----------------------------------------------------------------------------------------------------------


def edit(world: HostWorld) -> None:
    if world.services:
        key = world.rng.choice(sorted(world.services))
        rewrite(world, key, world.rng.choice(HOSTS))


def rewrite(world: HostWorld, key: str, host: str) -> None:
    namespace, _, name = key.partition("/")
    world.write(namespace, name, host)


def create(world: HostWorld) -> None:
    world.write(world.rng.choice(NAMESPACES), world.rng.choice("abc"), world.rng.choice(HOSTS))


def delete(world: HostWorld) -> None:
    if world.services:
        world.delete(world.rng.choice(sorted(world.services)))


def drain(world: HostWorld) -> None:
    world.drained ^= {world.rng.choice(NAMESPACES)}
    world.remember()


def there_and_back(world: HostWorld) -> None:
    """Leave a host and ask for it again before anybody may have seen it."""
    if world.services:
        key = world.rng.choice(sorted(world.services))
        host = world.services[key]["spec"]["host"]
        rewrite(world, key, next(one for one in HOSTS if one != host))
        run(world, world.rng.randint(0, 3))
        if key in world.services:
            rewrite(world, key, host)


def contend(number: int) -> None:
    """Change everything that may change, in the middle of everything."""
    world = world_of(number)
    for _ in range(5):
        run(world, STEPS // 5)
        world.rng.choice([edit, create, delete, drain, there_and_back])(world)
    run(world, STEPS // 5)
    world.settle()
    exactly_one(world)


def stay(number: int) -> None:
    """Change what others ask for, and let inputs blink: the holder keeps its host and its route."""
    world = world_of(number)
    world.settle()
    holders = dict(world.holders)
    answered = {host: world.answers(host) for host in holders}

    def look(_: str) -> None:
        assert world.holders.items() >= holders.items(), f"{holders} became {world.holders}"
        for host, route in answered.items():
            assert world.answers(host)["metadata"]["uid"] == route["metadata"]["uid"], host

    for _ in range(5):
        run(world, STEPS // 5, look)
        free = [name for name in NAMESPACES if name not in holders.values()]
        blink = world.rng.choice(["ModelService", "HTTPRoute", ""])
        world.reconcile_gateway(without=blink)
        world.reconcile_gateway()
        look("blink")
        if free and (name := world.rng.choice(free)):
            mine = sorted(key for key in world.services if key.startswith(f"{name}/"))
            if mine and world.rng.random() < 0.3:
                world.delete(world.rng.choice(mine))
            else:
                world.write(name, world.rng.choice("abc"), world.rng.choice(HOSTS))
    world.settle()
    look("at rest")
    exactly_one(world)


def upgrade(number: int) -> None:
    """Begin with routes of several namespaces and no record: the one that answers does so at every moment."""
    world = world_of(number, hosts=[])
    world.gateway["spec"]["gateway"] = {"hosts": [{"host": host, "namespaces": [NAMESPACES[0]]} for host in HOSTS]}
    for turn in NAMESPACES:
        # A route for each namespace that an earlier version would have given one.
        grants = [{"host": host, "namespaces": [turn]} for host in HOSTS]
        world.gateway["spec"]["gateway"] = {"hosts": grants}
        world.remember()
        for key in [key for key in world.services if key.startswith(f"{turn}/")]:
            world.reconcile(key, fresh=True)
    world.gateway = {**world.gateway, "spec": host_world.shared_gateway()["spec"]}
    world.remember()
    for reader in ("gateway", *world.services):
        world.sight(reader, fresh=True)
    answered = {host: world.answers(host) for host in HOSTS}

    def look(step: str) -> None:
        for host, route in answered.items():
            if route is not None:
                now = world.answers(host)
                assert now is not None and now["metadata"]["uid"] == route["metadata"]["uid"], f"{host} after {step}"

    run(world, STEPS, look)
    world.settle()
    look("at rest")
    exactly_one(world)


def each(schedules: int, law: Callable[[int], None]) -> None:
    for number in range(schedules):
        try:
            law(number)
        except AssertionError as error:
            raise AssertionError(f"schedule {number}: {error}") from error


@pytest.mark.parametrize("law", [contend, stay, upgrade], ids=lambda law: law.__name__)
def test_a_host_has_one_holder(law: Callable[[int], None]) -> None:
    each(SCHEDULES, law)


@pytest.mark.slow
@pytest.mark.parametrize("law", [contend, stay, upgrade], ids=lambda law: law.__name__)
def test_a_host_has_one_holder_in_a_thousand_schedules(law: Callable[[int], None]) -> None:
    each(LONG, law)


def test_the_next_in_line_gets_the_host_of_a_holder_that_left() -> None:
    world = HostWorld(0, host_world.shared_gateway())
    for name in NAMESPACES:
        world.write(name, "llama", HOSTS[0])
        world.settle()
    for name in NAMESPACES:
        assert world.holders == {HOSTS[0]: name}
        assert [namespace for namespace, _ in world.routes(HOSTS[0])] == [name]
        world.delete(f"{name}/llama")
        world.settle()
    assert world.holders == {}


def test_the_law_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that ask nobody share hosts, so the schedules above do contend."""
    monkeypatch.setattr("modelplane_functions.service_hosts.check", lambda *_: None)
    broken = 0
    for number in range(SCHEDULES // 4):
        world = world_of(number)
        world.settle()
        broken += any(len({namespace for namespace, _ in world.routes(host)}) > 1 for host in HOSTS)
    assert broken > 0
