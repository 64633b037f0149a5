"""Named situations of allocation: each is one rule of the allocator, with the reason it is here."""

# ruff: noqa: E501 - one situation per line, read side by side

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

NODE = "node-1"
GPU = "gpu.example.com"
NIC = "nic.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"
ARCH = f'device.attributes["{GPU}"].arch'
ON_GPU = f'device.driver == "{GPU}"'
BROKEN = f'device.attributes["{GPU}"].arch =='


def device(name: str, arch: str | None = None, root: Any = None, memory: str | None = None, **more: Any) -> Json:
    attributes: Json = {}
    if arch is not None:
        attributes["arch"] = {"string": arch}
    if root is not None:
        attributes[ROOT] = {"int" if isinstance(root, int) else "string": root}
    capacity = {} if memory is None else {"memory": {"value": memory}}
    return {"name": name, "attributes": attributes, "capacity": capacity, **more}


def devices(*names: str, **more: Any) -> list[Json]:
    return [device(name, "a", **more) for name in names]


def part(
    *found: Json, driver: str = GPU, pool: str = NODE, name: str = "", of: int = 1, generation: int = 1, **reach: Any
) -> Json:
    spec = {
        "driver": driver,
        "pool": {"name": pool, "generation": generation, "resourceSliceCount": of},
        **(reach or {"nodeName": NODE}),
    }
    if found:
        spec["devices"] = list(found)
    return {"metadata": {"name": name or f"{driver}-{pool}"}, "spec": spec}


def sets(driver: str = GPU, pool: str = NODE, of: int = 2, **counters: Json) -> Json:
    shared = [
        {"name": name.replace("_", "-"), "counters": {k: {"value": v} for k, v in amounts.items()}}
        for name, amounts in counters.items()
    ]
    return part(driver=driver, pool=pool, of=of, name=f"{driver}-counters", nodeName=NODE, sharedCounters=shared)


def draws(name: str, **amounts: str) -> Json:
    return {
        "consumesCounters": [
            {"counterSet": name.replace("_", "-"), "counters": {k: {"value": v} for k, v in amounts.items()}}
        ]
    }


def want(name: str = "r", *selectors: str, count: int = 1, of: str = "gpu", **more: Any) -> Json:
    body = {
        "deviceClassName": of,
        "selectors": [{"cel": {"expression": one}} for one in selectors],
        "allocationMode": "ExactCount",
        "count": count,
        **more,
    }
    return {"name": name, "exactly": body}


def every(name: str = "r", *selectors: str, of: str = "gpu", **more: Any) -> Json:
    found = want(name, *selectors, of=of, **more)
    found["exactly"]["allocationMode"] = "All"
    del found["exactly"]["count"]
    return found


def first(name: str, *options: Json) -> Json:
    return {"name": name, "firstAvailable": [{"name": one["name"], **one["exactly"]} for one in options]}


def match(*requests: str, attribute: str = ROOT) -> Json:
    return {"matchAttribute": attribute, "requests": list(requests)}


def distinct(*requests: str, attribute: str = f"{GPU}/arch") -> Json:
    return {"distinctAttribute": attribute, "requests": list(requests)}


def amount(**wanted: str) -> Json:
    return {"capacity": {"requests": dict(wanted)}}


def shared(name: str, memory: str = "80Gi", policy: Json | None = None, **more: Any) -> Json:
    found = device(name, "a", memory=memory, allowMultipleAllocations=True, **more)
    if policy:
        found["capacity"]["memory"]["requestPolicy"] = policy
    return found


def problem(
    name: str, slices: list[Json], *claims: list[Json], constraints: list[Json] | None = None, **held: Any
) -> Json:
    return {
        "id": name,
        "kind": "allocation",
        "node": {"metadata": {"name": NODE, "labels": {"zone": "a", "cores": "16"}}},
        "slices": slices,
        "classes": [
            {"metadata": {"name": "any"}, "spec": {}},
            {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": ON_GPU}}]}},
            {"metadata": {"name": "faulty"}, "spec": {"selectors": [{"cel": {"expression": f'{ARCH} == "a"'}}]}},
        ],
        "claims": [
            {
                "metadata": {"name": f"c{number}", "namespace": "ns"},
                "spec": {"devices": {"requests": requests, "constraints": constraints or []}},
            }
            for number, requests in enumerate(claims)
        ],
        "allocated": {"devices": [[GPU, NODE, one] for one in held.get("used", [])], "shared": held.get("shared", [])},
    }


def use(name: str, **consumed: str) -> Json:
    return {"device": [GPU, NODE, name], "consumed": consumed}


def mig(profile: str, multiprocessors: int, wide: int, *starts: int) -> list[Json]:
    """Return one device per place where a slice of a GPU can be, each drawing the memory slices it covers.

    Shaped like an H100 with its 8 memory slices; the figures for multiprocessors are only of that order.
    """
    found = []
    for start in starts:
        counters = {f"memory-slice-{i}": "1" for i in range(start, start + wide)}
        name = f"{profile}-at-{start}"
        found.append(device(name, profile, **draws("gpu", multiprocessors=str(multiprocessors), **counters)))
    return found


def sliced(name: str, *profiles: str) -> Json:
    """Return the problem of putting MIG devices of the profiles on one H100."""
    offered = [
        *mig("7g", 132, 8, 0),
        *mig("4g", 64, 4, 0),
        *mig("3g", 60, 4, 0, 4),
        *mig("2g", 32, 2, 0, 2, 4),
        *mig("1g", 16, 1, 0, 1, 2, 3, 4, 5, 6),
    ]
    counters = {"multiprocessors": "132", **{f"memory-slice-{i}": "1" for i in range(8)}}
    requests = [want(f"r{number}", f'{ARCH} == "{profile}"') for number, profile in enumerate(profiles)]
    return problem(name, [part(*offered, of=2), sets(gpu=counters)], requests)


A, B = f'{ARCH} == "a"', f'{ARCH} == "b"'
STEPPED: Json = {"default": "10Gi", "validRange": {"min": "10Gi", "max": "60Gi", "step": "5Gi"}}
LISTED: Json = {"default": "20Gi", "validValues": ["10Gi", "20Gi", "40Gi"]}
PARTS = [
    device("whole", "a", **draws("set_0", slices="2")),
    device("half-0", "b", **draws("set_0", slices="1")),
    device("half-1", "b", **draws("set_0", slices="1")),
]
TAINT: Json = {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
EXECUTE: Json = {"taints": [{"key": "k", "value": "v", "effect": "NoExecute"}]}
ONE = [part(*devices("gpu-0"))]
TWO = [part(*devices("gpu-0", "gpu-1"))]
AB = [part(device("gpu-0", "a"), device("gpu-1", "b"))]
ABA = [part(device("gpu-0", "a"), device("gpu-1", "b"), device("gpu-2", "a"))]
MANY = [part(*devices(*[f"gpu-{i:02}" for i in range(40)]))]
HALVES = [part(*PARTS, of=2), sets(set_0={"slices": "2"})]
FAULTY_SECOND = [part(device("gpu-0", "a"), device("gpu-1"))]
FAULTY_FIRST = [part(device("gpu-0"), device("gpu-1", "a"))]
WITH_NIC = [part(device("nic-0"), driver=NIC), part(device("gpu-0", "a"))]
ZONED: Json = {
    "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
}
ELSEWHERE: Json = {
    "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]}
}

# fmt: off
SITUATIONS: tuple[tuple[str, Json], ...] = (
    # laziness and the three verdicts
    ("the faulty device is not reached", problem("lazy-second-errors", FAULTY_SECOND, [want("r", A)])),
    ("the faulty device is reached first", problem("first-errors", FAULTY_FIRST, [want("r", A)])),
    ("a device in use is not looked at", problem("used-errors", FAULTY_FIRST, [want("r", A)], used=["gpu-0"])),
    ("the class keeps the selector from the other driver", problem("class-first", WITH_NIC, [want("r", A)])),
    ("without the class the selector reaches it", problem("class-empty", [part(device("nic-0"), driver="a.example.com"), *ONE], [want("r", A, of="any")])),
    ("a false selector keeps the next from being asked", problem("false-then-error", FAULTY_FIRST, [want("r", "false", A)])),
    ("all devices are asked at once", problem("all-errors", FAULTY_SECOND, [every("r", A)])),
    ("text that does not compile, with a device", problem("syntax", ONE, [want("r", BROKEN)])),
    ("text that does not compile, without a device", problem("syntax-unseen", [], [want("r", BROKEN)])),
    ("a class that is not there", problem("class-missing", ONE, [want(of="nope")])),
    ("a class that is not there, in an alternative never tried", problem("class-missing-later", ONE, [first("r", want("s0"), want("s1", of="nope"))])),
    ("the class's own selector fails", problem("class-errors", FAULTY_FIRST, [want(of="faulty")])),
    ("a value that is no bool", problem("non-bool", ONE, [want("r", ARCH)])),
    ("a version that cannot be read", problem("bad-version", [part({**device("gpu-0"), "attributes": {"v": {"version": "not.a.version"}}})], [want("r", "true")])),
    # counts and order
    ("the first that fits", problem("one-of-two", TWO, [want()])),
    ("two of two", problem("two-of-two", TWO, [want(count=2)])),
    ("three of two", problem("three-of-two", TWO, [want(count=3)])),
    ("nothing is published", problem("nothing", [], [want()])),
    ("two requests share the devices", problem("two-requests", TWO, [want("r0"), want("r1")])),
    ("two claims share the devices", problem("two-claims", TWO, [want()], [want()])),
    ("the second claim finds nothing", problem("two-claims-one-device", ONE, [want()], [want()])),
    ("no claims at all", problem("no-claims", ONE)),
    ("a claim without requests", problem("no-requests", ONE, [])),
    ("going back for the only device the second can have", problem("backtrack", AB, [want("r0"), want("r1", A)])),
    ("going back from the second claim into the first", problem("backtrack-claims", AB, [want()], [want("r", A)])),
    ("pools by driver, whatever the order of slices", problem("order-drivers", [part(*devices("z"), driver=NIC), part(*devices("a"))], [want(of="any")])),
    ("pools by name", problem("order-pools", [part(*devices("x"), pool="z"), part(*devices("y"), pool="a")], [want()])),
    ("slices by name", problem("order-slices", [part(*devices("x"), name="z", of=2), part(*devices("y"), name="a", of=2)], [want()])),
    ("devices as listed", problem("order-devices", [part(*devices("z", "a"))], [want()])),
    ("pools with binding conditions go last", problem("order-binding", [part(device("x", "a", bindingConditions=["ready"]), pool="a"), part(*devices("y"), pool="b")], [want()])),
    ("binding conditions are handed on", problem("binding", [part(device("x", "a", bindingConditions=["ready"], bindingFailureConditions=["broken"]))], [want()])),
    ("33 devices", problem("too-many", MANY, [want(count=33)])),
    ("32 devices", problem("limit", MANY, [want(count=32)])),
    ("32 in two requests, 33 with the third", problem("too-many-in-sum", MANY, [want("r0", count=16), want("r1", count=16), want("r2")])),
    ("All over more than 32", problem("too-many-all", MANY, [every()])),
    ("an alternative with fewer devices stays below the limit", problem("limit-alternative", MANY, [want("r0", count=20), first("r1", want("s0", count=20), want("s1", count=12))])),
    ("the first request gives way to the limit of the second", problem("limit-back", MANY, [first("r0", want("s0", count=30), want("s1", count=2)), want("r1", count=8)])),
    ("the limit is per claim", problem("limit-claims", MANY, [want(count=30)], [want(count=10)])),
    # pools
    ("a slice is missing", problem("incomplete", [part(*devices("gpu-0"), of=2)], [want()])),
    ("a slice is missing, another pool is there", problem("incomplete-other", [part(*devices("gpu-0"), of=2), part(*devices("gpu-1"), pool="p")], [want()])),
    ("All with a slice missing", problem("incomplete-all", [part(*devices("gpu-0"), of=2)], [every()])),
    ("one name twice", problem("twice", [part(*devices("gpu-0", "gpu-0"))], [want()])),
    ("one name twice, another pool is there", problem("twice-other", [part(*devices("gpu-0", "gpu-0")), part(*devices("gpu-1"), pool="p")], [want()])),
    ("All with an invalid pool", problem("twice-all", [part(*devices("gpu-0", "gpu-0"))], [every()])),
    ("older generations are passed over", problem("generations", [part(*devices("old"), name="a"), part(*devices("new"), name="b", generation=2)], [want(count=1)])),
    ("the newer generation is for another node only", problem("generation-elsewhere", [part(*devices("old"), of=2), part(*devices("new"), name="b", generation=2, nodeName="node-2")], [want()])),
    ("a pool over two nodes", problem("two-nodes", [part(*devices("a"), name="a", of=2), part(*devices("b"), name="b", of=2, nodeName="node-2")], [want()])),
    ("another node's slice", problem("other-node", [part(*devices("gpu-0"), nodeName="node-2")], [want()])),
    ("a slice for all nodes", problem("all-nodes", [part(*devices("gpu-0"), allNodes=True)], [want()])),
    ("a slice for selected nodes", problem("selected-nodes", [part(*devices("gpu-0"), **ZONED)], [want()])),
    ("a slice for other nodes", problem("deselected-nodes", [part(*devices("gpu-0"), **ELSEWHERE)], [want()])),
    ("nodes per device", problem("per-device", [part(device("x", "a", nodeName="node-2"), device("y", "a", **ZONED), perDeviceNodeSelection=True)], [want()])),
    ("a device that binds to its node", problem("binds", [part(device("x", "a", bindsToNode=True), allNodes=True)], [want()])),
    ("selectors of nodes are merged", problem("merged", [part(*devices("x"), **ZONED), part(*devices("y"), pool="q", nodeSelector={"nodeSelectorTerms": [{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}]})], [want(count=2)])),
    # all
    ("all there are", problem("all", TWO, [every()])),
    ("all of none", problem("all-none", AB, [every("r", f'{ARCH} == "c"')])),
    ("all, one in use", problem("all-used", TWO, [every()], used=["gpu-1"])),
    ("all after another request", problem("all-after", TWO, [want("r0"), every("r1")])),
    ("all, a constraint is in the way", problem("all-constraint", AB, [every()], constraints=[match(attribute=f"{GPU}/arch")])),
    ("all, one tainted", problem("all-tainted", [part(device("x", "a"), device("y", "a", **TAINT))], [every()])),
    # firstAvailable
    ("the first alternative", problem("first", AB, [first("r", want("s0", A), want("s1", B))])),
    ("the second alternative", problem("second", AB, [first("r", want("s0", A, count=2), want("s1", B))])),
    ("no alternative", problem("no-alternative", ONE, [first("r", want("s0", B), want("s1", count=2))])),
    ("an alternative gives way to a later request", problem("alternative-back", AB, [first("r0", want("s0", A), want("s1", B)), want("r1", A)])),
    ("the error of an alternative ends it all", problem("alternative-errors", FAULTY_FIRST, [first("r", want("s0", B), want("s1", count=1))])),
    ("a constraint names an alternative", problem("alternative-constraint", [part(device("x", "a", "r0"), device("y", "a", "r1"), device("z", "b", "r1"))], [first("r0", want("s0", A)), want("r1", B)], constraints=[match("r0/s0", "r1")])),
    # constraints
    ("a pair that agrees", problem("match-pair", [part(device("x", "a", "r0"), device("y", "a", "r1"), device("z", "b", "r1"))], [want("r0", A), want("r1", B)], constraints=[match()])),
    ("no pair agrees", problem("match-none", [part(device("x", "a", "r0"), device("z", "b", "r1"))], [want("r0", A), want("r1", B)], constraints=[match()])),
    ("the attribute is missing", problem("match-missing", TWO, [want()], constraints=[match()])),
    ("an int is no string", problem("match-kinds", [part(device("x", "a", "0"), device("y", "a", 0))], [want(count=2)], constraints=[match()])),
    ("ints are compared", problem("match-ints", [part(device("x", "a", 1), device("y", "a", 0), device("z", "a", 0))], [want(count=2)], constraints=[match()])),
    ("versions are compared as text", problem("match-versions", [part(*[{**device(n), "attributes": {"v": {"version": v}}} for n, v in (("x", "1.0.0+a"), ("y", "1.0.0+b"))])], [want(count=2)], constraints=[match(attribute=f"{GPU}/v")])),
    ("a request the constraint does not name", problem("match-others", [part(device("x", "a", "r0"), device("y", "b"))], [want("r0", A), want("r1", B)], constraints=[match("r0")])),
    ("a full name finds the driver's own", problem("match-full", TWO, [want(count=2)], constraints=[match(attribute=f"{GPU}/arch")])),
    ("another driver's attribute is not found", problem("match-foreign", [part(*devices("x"), driver=NIC), *ONE], [want("r0", of="any", count=2)], constraints=[match(attribute=f"{GPU}/arch")])),
    ("a full and a plain name in two devices", problem("match-written", [part({**device("x"), "attributes": {f"{GPU}/arch": {"string": "a"}}}, device("y", "a"))], [want(count=2)], constraints=[match(attribute=f"{GPU}/arch")])),
    ("a, b, a in one request", problem("distinct-aba", ABA, [want(count=3)], constraints=[distinct()])),
    ("a, a in one request", problem("distinct-aa", TWO, [want(count=2)], constraints=[distinct()])),
    ("a, b, a in three requests", problem("distinct-three", ABA, [want("r0"), want("r1"), want("r2")], constraints=[distinct()])),
    ("a, b in two requests", problem("distinct-two", ABA, [want("r0"), want("r1")], constraints=[distinct()])),
    ("what is forgotten when the search goes back", problem("distinct-forgets", [part(device("x", "a", "r0"), device("y", "b", "r1"), device("z", "a", "r0"))], [want("r0", count=2)], constraints=[distinct(), match()])),
    ("two constraints at once", problem("match-twice", [part(device("x", "a", "r0"), device("y", "b", "r0"), device("z", "a", "r0"))], [want(count=2)], constraints=[match(), match(attribute=f"{GPU}/arch")])),
    # taints
    ("not tolerated", problem("taint", [part(device("x", "a", **TAINT))], [want()])),
    ("another device is not tainted", problem("taint-other", [part(device("x", "a", **TAINT), device("y", "a"))], [want()])),
    ("tolerated by value", problem("taint-value", [part(device("x", "a", **TAINT))], [want(tolerations=[{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}])])),
    ("another value", problem("taint-other-value", [part(device("x", "a", **TAINT))], [want(tolerations=[{"key": "k", "operator": "Equal", "value": "w"}])])),
    ("tolerated whatever it is", problem("taint-exists", [part(device("x", "a", **EXECUTE))], [want(tolerations=[{"operator": "Exists"}])])),
    ("NoExecute with a toleration of NoSchedule", problem("taint-effect", [part(device("x", "a", **EXECUTE))], [want(tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule"}])])),
    ("the effect None", problem("taint-none", [part(device("x", "a", taints=[{"key": "k", "effect": "None"}]))], [want()])),
    ("an alternative tolerates", problem("taint-alternative", [part(device("x", "a", **TAINT))], [first("r", want("s0"), want("s1", tolerations=[{"operator": "Exists"}]))])),
    # admin access
    ("a device in use", problem("admin-used", ONE, [want(adminAccess=True)], used=["gpu-0"])),
    ("the same device twice in one claim", problem("admin-twice", ONE, [want("r0"), want("r1", adminAccess=True)])),
    ("the same device in two claims", problem("admin-claims", ONE, [want()], [want(adminAccess=True)])),
    ("the look first, then the use", problem("admin-first", ONE, [want(adminAccess=True)], [want()])),
    ("all with admin access", problem("admin-all", TWO, [every(adminAccess=True)], used=["gpu-0"])),
    # partitionable devices
    ("the whole", problem("part-whole", HALVES, [want("r", A)])),
    ("two halves", problem("part-halves", HALVES, [want("r", B, count=2)])),
    ("the whole and a half", problem("part-both", HALVES, [want("r0", A), want("r1", B)])),
    ("going back from the whole to a half", problem("part-back", HALVES, [want("r0"), want("r1")])),
    ("a half is in use", problem("part-used", HALVES, [want("r0", A)], used=["half-0"])),
    ("a half is in use, the other is free", problem("part-other", HALVES, [want()], used=["half-0"])),
    ("a counter set that is not there", problem("part-no-set", [part(device("x", "a", **draws("set_9", slices="1")), of=2), sets(set_0={"slices": "2"})], [want()])),
    ("a counter that is not there", problem("part-no-counter", [part(device("x", "a", **draws("set_0", other="1")), of=2), sets(set_0={"slices": "2"})], [want()])),
    ("the slice of the counters is missing", problem("part-incomplete", [part(*PARTS, of=2)], [want()])),
    ("what a tainted device drew is not given back", problem("part-tainted", [part({**PARTS[0], **TAINT}, *PARTS[1:], of=2), sets(set_0={"slices": "2"})], [want()])),
    ("what a device against a constraint drew is not given back", problem("part-constraint", HALVES, [want()], constraints=[match(attribute=f"{GPU}/nope")])),
    ("pools of one name share their books", problem("part-same-name", [*HALVES, part(device("n", "a", **draws("set_0", slices="1")), driver=NIC, of=2), sets(driver=NIC, set_0={"slices": "1"})], [want("r0", A), want("r1", f'device.driver == "{NIC}"', of="any")])),
    ("a set that is overdrawn stops the others", problem("part-overdrawn", [part(*PARTS, device("free", "c", **draws("set_1", slices="1")), of=2), sets(set_0={"slices": "2"}, set_1={"slices": "1"})], [want("r", f'{ARCH} == "c"')], used=["whole", "half-0"])),
    ("counters drawn on another node", problem("part-elsewhere", [part(PARTS[0], of=3), part(PARTS[1], of=3, name="other", nodeName="node-2"), sets(of=3, set_0={"slices": "2"})], [want()], used=["half-0"])),
    # MIG: slices of one H100
    ("seven of the smallest", sliced("mig-7x1g", *["1g"] * 7)),
    ("no eighth", sliced("mig-8x1g", *["1g"] * 8)),
    ("two of three", sliced("mig-2x3g", "3g", "3g")),
    ("two of three leave no room in memory", sliced("mig-2x3g-1g", "3g", "3g", "1g")),
    ("four and three", sliced("mig-4g-3g", "4g", "3g")),
    ("three, then four: the first has to move", sliced("mig-3g-4g", "3g", "4g")),
    ("four, two, one", sliced("mig-4g-2g-1g", "4g", "2g", "1g")),
    ("one, two, four: both have to move", sliced("mig-1g-2g-4g", "1g", "2g", "4g")),
    ("three of two and one", sliced("mig-3x2g-1g", "2g", "2g", "2g", "1g")),
    ("five of one and one of two", sliced("mig-5x1g-2g", *["1g"] * 5, "2g")),
    ("six of one leave no place for two", sliced("mig-6x1g-2g", *["1g"] * 6, "2g")),
    ("the whole and nothing else", sliced("mig-7g-1g", "7g", "1g")),
    # consumable capacity
    ("two parts of one device", problem("share-two", [part(shared("x"))], [want("r0", **amount(memory="30Gi")), want("r1", **amount(memory="50Gi"))])),
    ("one too much", problem("share-over", [part(shared("x"))], [want("r0", **amount(memory="31Gi")), want("r1", **amount(memory="50Gi"))])),
    ("nothing is said: all of it", problem("share-whole", [part(shared("x"))], [want("r0"), want("r1")])),
    ("nothing is said: the default", problem("share-default", [part(shared("x", policy=STEPPED))], [want("r0"), want("r1")])),
    ("rounded up by steps", problem("share-steps", [part(shared("x", policy=STEPPED))], [want(**amount(memory="12Gi"))])),
    ("at least the minimum", problem("share-minimum", [part(shared("x", policy=STEPPED))], [want(**amount(memory="1Gi"))])),
    ("above the maximum", problem("share-maximum", [part(shared("x", policy=STEPPED))], [want(**amount(memory="61Gi"))])),
    ("rounded up to a value", problem("share-values", [part(shared("x", policy=LISTED))], [want(**amount(memory="21Gi"))])),
    ("above all values", problem("share-above", [part(shared("x", policy=LISTED))], [want(**amount(memory="41Gi"))])),
    ("names are literal", problem("share-literal", [part(shared("x"))], [want(capacity={"requests": {f"{GPU}/memory": "1Gi"}})])),
    ("an exclusive device is measured too", problem("share-exclusive", [part(device("x", "a", memory="24Gi"), device("y", "a", memory="80Gi"))], [want(**amount(memory="40Gi"))])),
    ("others hold a part", problem("share-held", [part(shared("x"))], [want(**amount(memory="30Gi"))], shared=[use("x", memory="60Gi")])),
    ("others leave enough", problem("share-left", [part(shared("x"))], [want(**amount(memory="20Gi"))], shared=[use("x", memory="60Gi")])),
    ("the same device once per request", problem("share-count", [part(shared("x"))], [want(count=2, **amount(memory="1Gi"))])),
    ("no capacity at all", problem("share-none", [part({**shared("x"), "capacity": {}})], [want("r0"), want("r1")])),
    ("all of a device that is partly taken", problem("share-all", [part(shared("x"))], [want("r0", **amount(memory="50Gi")), every("r1", **amount(memory="50Gi"))])),
    ("a shared partition draws once", problem("share-counters", [part(shared("x", **draws("set_0", slices="1")), of=2), sets(set_0={"slices": "1"})], [want("r0", **amount(memory="10Gi")), want("r1", **amount(memory="10Gi"))])),
    ("a selector sees that it can be shared", problem("share-selector", [part(device("x", "a"), shared("y"))], [want("r", "device.allowMultipleAllocations")])),
)
# fmt: on
"""The reason, and the problem."""
