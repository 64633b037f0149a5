"""Attacks in several steps. The fleet settles after each one, with owners first and with what they own first."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.attack import documents as of
from tests.attack import judge, steps
from tests.attack.documents import GPU, TEAM
from tests.attack.plane import Plane, Refused, identity
from tests.attack.play import Play, Theft, copy_of, must, runs

Json = Any
OTHER = "other-team"
DEPLOYMENT = "modelplane.ai/deployment"


def edit_drain_scale(play: Play) -> str:
    """A replica is edited, its cluster is drained, the deployment is scaled up and down; then all is taken back."""
    plane = play.fleet(of.deployment("second", replicas=1))
    edited = steps.edited("first-0", lambda one: one["spec"]["workers"].update(count=9))
    for _ in steps.in_steps(
        plane, edited, steps.drained("PreferNoSchedule"), steps.scaled(5), steps.scaled(2), steps.undrained
    ):
        pass
    for ended in steps.in_steps(plane, steps.scaled(5), edited, steps.unlabelled, steps.scaled(2)):
        must(not runs(ended, "second-0"), "the second deployment has the devices")
    return "never over capacity; what ran runs"


def two_tenants(play: Play) -> str:
    """Another tenant copies replicas into its namespace, with every owner it can name, and deploys beside that."""
    plane = play.fleet()

    def copied(owner: str) -> Theft:
        def theft(made: Plane) -> None:
            one = copy.deepcopy(made.get("ModelReplica", TEAM, "first-0"))
            one["metadata"]["namespace"] = OTHER
            own = made.get("ModelDeployment", OTHER, "first")
            one["metadata"]["ownerReferences"][0]["uid"] = own["metadata"]["uid"] if owner == "own" else owner
            made.create(of.copied(one, "first-0", is_owned=owner != "", priority=1000))

        return theft

    deployed: Theft = lambda made: made.create(of.deployment(replicas=2, namespace=OTHER, priority=1000))  # noqa: E731
    victims = plane.get("ModelDeployment", TEAM, "first")["metadata"]["uid"]
    for owner in ("", "own", victims, "uid-1"):
        for ended in steps.in_steps(plane, deployed, copied(owner)):
            there = {key[1] for key in ended.remote[of.place()]}
            must(OTHER not in there, f"the other tenant runs beside what fills the cluster (owner {owner or 'none'})")
    return "nothing of the other tenant is admitted"


def same_name_again(play: Play) -> str:
    """A deployment goes and another of its name comes: at once, larger, of another tenant's making, again and again."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def again(**spec: Json) -> Theft:
        def theft(made: Plane) -> None:
            made.delete("ModelDeployment", TEAM, "first")
            made.create(of.deployment(**spec))

        return theft

    for _ in steps.in_steps(
        plane, again(replicas=1), again(replicas=2), again(gpus=4, replicas=9), again(), keep=False
    ):
        pass
    return "never over capacity"


def orphans_of_the_same_name(play: Play) -> str:
    """A deployment goes and leaves its replicas, which name an owner that is not there; another of its name comes."""
    plane = play.fleet()

    def orphaned(made: Plane) -> None:
        gone = made.objects.pop(("ModelDeployment", TEAM, "first"))
        must(made.controlled_by(gone), "nothing is left behind")

    for ended in steps.in_steps(plane, orphaned, lambda made: made.create(of.deployment(gpus=4)), keep=False):
        must(len(list(judge.pods(ended, of.place()))) <= 4, "more runs than fits")
    return "what is left counts"


def rebalance_against_others(play: Play) -> str:
    """A tenant with priority and `rebalance: Allowed` deploys beside one that did not allow to be moved."""
    plane = steps.two_clusters(play)
    pushy = of.deployment("pushy", replicas=2, namespace=OTHER, priority=1000, placement={"rebalance": "Allowed"})
    for ended in steps.in_steps(plane, lambda made: made.create(pushy), _labelled_like_others):
        must(not runs(ended, "pushy-0") and not runs(ended, "pushy-0", "west"), "somebody was pushed away")
    return "nobody moves for another tenant"


def _labelled_like_others(made: Plane) -> None:
    labels = made.get("ModelReplica", TEAM, "first-0")["metadata"]["labels"]
    made.edit("ModelDeployment", OTHER, "pushy", lambda one: one["metadata"].update(labels=labels))


def long_names(play: Play) -> str:
    """Names of 253 characters on all that a tenant names, twice and alike in all but the end, past the schema."""
    named = [one for end in "ab" for one in _long_named("n" * 252 + end)]
    fleet = (of.node_class(), of.cluster(), of.gateway())
    try:
        plane = play.settled(*fleet, *named, past_schema=True)
    except Refused as refused:  # what would be composed has a label that no API server takes
        return f"not composed: {str(refused)[:50]}"
    must(not plane.errors, f"{plane.errors[:1]}")
    must(len(list(judge.pods(plane, of.place()))) in (0, 2), "one of two deployments runs under the other's name")
    for key in plane.objects:
        must(len(key[2]) <= 253, f"{key[0]} has a name of {len(key[2])} characters")
    return "refused, or with names of their own"


def labels_on_everything(play: Play) -> str:
    """Every label of ours on all that a tenant writes, with the values of another's objects."""
    plane = play.fleet()
    ours = {
        **plane.get("ModelReplica", TEAM, "first-0")["metadata"]["labels"],
        **plane.get("ModelEndpoint", TEAM, "first-0")["metadata"]["labels"],
    }

    def labelled(made: Plane) -> None:
        for namespace in (TEAM, OTHER):
            lure = of.endpoint("lure", "https://evil.example.com/v1", namespace=namespace)
            made.create({**lure, "metadata": {**lure["metadata"], "labels": ours}})
            made.create(of.deployment("labelled", replicas=1, namespace=namespace))
            made.edit("ModelDeployment", namespace, "labelled", lambda one: one["metadata"].update(labels=ours))

    for ended in steps.in_steps(plane, labelled, steps.scaled(3), steps.scaled(2)):
        route = judge.backends_of(ended.get("HTTPRoute", TEAM, "first"))
        must(all(OTHER not in one for one in route), "a service leads into another namespace")
        must(not runs(ended, "labelled-0"), "it has devices")
    return "labels give nobody devices, and no service of another namespace an endpoint"


def name_taken_before(play: Play) -> str:
    """Every object that the next replica will compose is there already, by hand, before the deployment is scaled."""
    plane = play.settled(of.node_class(), of.cluster(nodes=4), of.gateway(), of.deployment(), of.service())

    def taken(made: Plane) -> None:
        for key, one in list(made.objects.items()):
            if key[2].startswith("first-1") and key[0] != "Object":  # of which a policy keeps tenants
                twin = json.loads(json.dumps(one).replace("first-1", "first-2"))
                twin["metadata"] = {part: twin["metadata"][part] for part in ("name", "namespace")}
                twin.pop("status", None)
                twin["spec"].pop("crossplane", None)
                made.create(twin, past_schema=True)

    for ended in steps.in_steps(plane, taken, steps.scaled(3)):
        for key, one in ended.objects.items():
            if key[2].startswith("first-2") and not one["metadata"].get("ownerReferences"):
                spec = {name: value for name, value in one["spec"].items() if name != "crossplane"}
                must(spec, f"{key} was emptied")
    return "what was there stays its author's, and what ran runs"


def owner_changed(play: Play) -> str:
    """A replica's owner is edited to another deployment of the namespace, and to nobody, while both are scaled."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def owned_by(name: str) -> Theft:
        def theft(made: Plane) -> None:
            owner = made.get("ModelDeployment", TEAM, name)

            def change(one: Json) -> None:
                if not owner:
                    one["metadata"].pop("ownerReferences", None)
                    return
                one["metadata"]["ownerReferences"][0].update(name=name, uid=owner["metadata"]["uid"])
                one["spec"]["deploymentRef"]["name"] = name
                one["metadata"]["labels"][DEPLOYMENT] = name

            made.edit("ModelReplica", TEAM, "first-0", change, past_schema=True)

        return theft

    for name in ("second", "nobody"):
        for _ in steps.in_steps(plane, owned_by(name), steps.scaled(2), keep=False):
            pass
    return "never over capacity, whoever owns it"


def object_moved(play: Play) -> str:
    """The Objects of a replica are edited to another cluster's credentials, then those clusters are drained."""
    plane = steps.two_clusters(play)
    before = {place: sorted(key for key in found) for place, found in plane.remote.items()}

    def moved(made: Plane) -> None:
        references = {one["spec"]["providerConfigRef"]["name"] for one in made.of_kind("Object")}
        for one in list(made.of_kind("Object")):
            here = one["spec"]["providerConfigRef"]["name"]
            there = next(iter(references - {here}), here)
            made.edit(*identity(one), steps.at_config(there))

    for ended in steps.in_steps(plane, moved, keep=False):
        now = {place: sorted(key for key in found) for place, found in ended.remote.items()}
        must(now == before, f"objects stand on {now}")
    return "put back before anything is written elsewhere"


def shape_changes_back(play: Play) -> str:
    """A deployment becomes two roles and one again, larger and smaller, in turn with edits of its replicas."""
    plane = play.fleet(of.deployment("second", replicas=1))
    prefill = {"nodeSelector": {"cel": "true"}, "workers": {"topology": {"tensor": 8}, "template": of.template()}}

    def shaped(**spec: Json) -> Theft:
        return lambda made: made.edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].update(spec))

    def unified(made: Plane) -> None:
        made.edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].pop("prefill"))

    small = {"topology": {"tensor": 4}, "template": of.template()}

    def edited(made: Plane) -> None:
        one = [one for one in made.of_kind("ModelReplica") if one["metadata"]["name"].startswith("first")][-1]
        made.edit(*identity(one), lambda it: it["spec"]["devices"][0].update(count=16))

    attempts = (
        shaped(prefill=prefill),
        edited,
        unified,
        shaped(workers=small),
        edited,
        steps.scaled(4),
        steps.scaled(1),
    )
    plane.guards.remove(judge.within_capacity)  # claims and pods are replaced one after the other
    for ended in steps.in_steps(
        plane, *(steps.looked_at(step, judge.within_capacity) for step in attempts), keep=False
    ):
        judge.within_capacity(ended)
    return "never over capacity"


def host_changes_hands(play: Play) -> str:
    """Two tenants write the same host and the same path forms, one after the other, and take them from each other."""
    plane = play.settled(
        of.gateway(),
        *(of.endpoint("saas", "https://api.together.xyz/v1", namespace=one) for one in (TEAM, OTHER)),
        of.service("mine", selector={"endpoint": "saas"}),
    )

    def written(namespace: str, name: str, **spec: Json) -> Theft:
        def theft(made: Plane) -> None:
            made.create(of.service(name, namespace=namespace, selector={"endpoint": "saas"}, **spec), past_schema=True)

        return theft

    host = f"mine.{TEAM}.modelplane.internal"
    names = (f"{TEAM}/mine", "..", "%2e%2e", "mine?x", "mine/../../x")
    attempts = [written(OTHER, "steals", host=host), *(written(OTHER, name) for name in names)]
    for ended in steps.in_steps(plane, *attempts, keep=False):
        own = ended.get("HTTPRoute", TEAM, "mine")
        taken = {_match(one) for one in judge.matches(own)}
        for route in ended.of_kind("HTTPRoute"):
            if route["metadata"]["namespace"] == OTHER:
                must(host not in (route["spec"].get("hostnames") or ()), "another namespace has the host")
                found = {_match(one) for one in judge.matches(route)}
                must(not any(path == mine or path.startswith(f"{mine}/") for path in found for mine in taken), "a path")
    return "hosts and paths stay with their namespace"


def _match(match: Json) -> str:
    return str((match.get("path") or {}).get("value", "/")).rstrip("/")


def endless_flood(play: Play) -> str:
    """A tenant changes its spec before every look, for many rounds, while another tenant deploys."""
    plane = play.settled(of.node_class(), of.cluster(), of.gateway(), of.deployment(replicas=1, gpus=4), of.service())
    made = copy_of(plane)
    made.guards.append(judge.Standing(made))
    made.create(of.deployment("modest", replicas=1, gpus=4, namespace=OTHER))
    made.create(of.deployment("restless", replicas=1, gpus=8))
    for number in range(12):
        made.edit("ModelDeployment", TEAM, "restless", steps.with_spec(priority=number, replicas=number % 4))
        for key in sorted(made.objects):
            if key[0] in ("ModelDeployment", "InferenceCluster", "ModelReplica"):
                made.reconcile(*key)
    must(runs(made, "modest-0") or (made.settle() and runs(made, "modest-0")), "the other tenant waits for ever")
    return "the other tenant is placed"


def cheap_then_dear(play: Play) -> str:
    """A deployment asks for a cheap device, is admitted, and is edited to the dear one in small steps."""
    cheap = {"name": "cheap", "driver": "cheap.example.com", "deviceClassName": "cheap.example.com", "count": 64}
    both = of.node_class()
    both["spec"]["devices"].append(cheap)
    want = {"devices": [{"name": "one", "count": 1, "selectors": [{"cel": 'device.driver == "cheap.example.com"'}]}]}
    dear = {"devices": [{"name": "one", "count": 8, "selectors": [{"cel": f'device.driver == "{GPU}"'}]}]}
    first = of.deployment(gpus=1, nodeSelector=want)
    second = of.deployment("second", gpus=8, replicas=2)
    plane = play.settled(both, of.cluster(), of.gateway(), first, second, of.service())

    def turned(to: Json) -> Theft:
        return lambda made: made.edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].update(nodeSelector=to))

    both_ways = (turned(dear), steps.scaled(4), turned(want), turned(dear))
    for ended in steps.in_steps(plane, *both_ways, keep=False):
        asked = judge.asked_of(ended, of.place(), GPU)
        must(asked <= 16, f"{asked} dear devices are claimed of 16")
    return "the dear device is claimed as often as it is there"


def _long_named(name: str) -> list[Json]:
    saas = of.endpoint(name, "https://api.together.xyz/v1")
    return [of.deployment(name, replicas=1, gpus=1), of.service(name, selector={}), saas]
