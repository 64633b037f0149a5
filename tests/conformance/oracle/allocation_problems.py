"""Allocation problems, made up at random but the same for the same seed.

Small on purpose: the allocator's search is exhaustive, and what is to be found out is which way it takes. Each
problem leaves out most features, so that none hides another.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

LATEST = 36
UNORDERED_BELOW = 36
NODE = "node-1"
DRIVERS = ("gpu.example.com", "nic.example.com")
ROOT = "resource.kubernetes.io/pcieRoot"
GPU = 'device.attributes["gpu.example.com"]'
GPU_CAPACITY = 'device.capacity["gpu.example.com"]'
SELECTORS = (
    "true",
    "false",
    'device.driver == "gpu.example.com"',
    'device.driver == "nic.example.com"',
    f'{GPU}.model == "a"',
    f'{GPU}.?model.orValue("none") != "a"',
    f'has({GPU}.model) && {GPU}.model == "b"',
    f'{GPU_CAPACITY}.memory.compareTo(quantity("40Gi")) >= 0',
    f'"memory" in {GPU_CAPACITY}',
    f"{GPU}.index > 0",
    "device.allowMultipleAllocations",
    f'{GPU}.model == "a" ||',
)
SAFE = tuple(SELECTORS[i] for i in (0, 0, 2, 5, 6, 8))
TAINTS: tuple[Json, ...] = (
    {"key": "bad", "value": "x", "effect": "NoSchedule"},
    {"key": "worse", "value": "y", "effect": "NoExecute"},
    {"key": "note", "effect": "None"},
    {"key": "odd", "effect": "Whatever"},
)
TOLERATIONS: tuple[Json, ...] = (
    {"operator": "Exists"},
    {"key": "bad", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
    {"key": "bad", "operator": "Equal", "value": "z"},
    {"key": "worse", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "worse", "operator": "Exists"},
    {"key": "bad", "value": "x"},
)
POLICIES: tuple[Json, ...] = (
    {"default": "10Gi", "validRange": {"min": "10Gi", "max": "60Gi", "step": "5Gi"}},
    {"default": "8Gi", "validRange": {"min": "4Gi"}},
    {"default": "20Gi", "validValues": ["10Gi", "20Gi", "40Gi"]},
    {"default": "1Gi"},
)
SELECTED: tuple[Json, ...] = (
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}]},
    {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE]}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "cores", "operator": "Lt", "values": ["8"]}]}]},
)


def problems(seed: int, count: int, minor: int = LATEST) -> Iterator[Json]:
    """Yield `count` problems for Kubernetes 1.`minor`; before 1.36 of one pool each, as pools had no order then."""
    for number in range(count):
        yield _Maker(seed, number, minor).problem()


def parted(seed: int, count: int, minor: int = LATEST) -> Iterator[Json]:
    """Yield `count` problems for Kubernetes 1.`minor` of devices that are parted as by MIG, some parts in use."""
    for number in range(count):
        problem = _parted(random.Random(seed * 1_000_033 + number), f"parted-{seed}-{number}")  # noqa: S311 - as above
        yield problem if minor == LATEST else {**problem, "minor": minor}


def _parted(draw: random.Random, name: str) -> Json:
    units, wide = draw.choice([1, 1, 2, 3]), draw.choice([4, 7, 8])
    kinds = [_kind_of_part(draw, number, wide) for number in range(draw.randint(1, 4))]
    devices = [_part_of(kind, unit, start) for unit in range(units) for kind in kinds for start in kind["starts"]]
    if draw.random() < 0.3:
        draw.shuffle(devices)
    has = {"a": {"value": str(draw.choice([4, 7, 9]))}, **{f"slice-{i}": {"value": "1"} for i in range(wide)}}
    sets = [{"name": f"gpu-{unit}", "counters": has} for unit in range(units)]
    pool = {"name": NODE, "generation": 1, "resourceSliceCount": 2}
    spec = {"driver": DRIVERS[0], "pool": pool, "nodeName": NODE}
    used = [[DRIVERS[0], NODE, one["name"]] for one in devices if draw.random() < 0.08]
    wanted = [(draw.choice(kinds)["model"], draw.choice([1, 1, 1, 2, 3])) for _ in range(draw.randint(1, 5))]
    cut = draw.randint(0, len(wanted))
    return {
        "id": name,
        "kind": "allocation",
        "node": {"metadata": {"name": NODE, "labels": {}}},
        "slices": [
            {"metadata": {"name": "devices"}, "spec": {**spec, "devices": devices}},
            {"metadata": {"name": "counters"}, "spec": {**spec, "sharedCounters": sets}},
        ],
        "classes": [{"metadata": {"name": "any"}, "spec": {"selectors": []}}],
        "claims": [_claim_for_parts(f"claim-{i}", some) for i, some in enumerate((wanted[:cut], wanted[cut:])) if some],
        "allocated": {"devices": used, "shared": []},
    }


def _kind_of_part(draw: random.Random, number: int, wide: int) -> Json:
    size = draw.choice([1, 1, 2, 2, 3, 4])
    starts = draw.sample(range(wide - size + 1), draw.randint(1, min(4, wide - size + 1)))
    return {"model": f"m{number}", "size": size, "starts": starts, "a": draw.choice([0, 1, 1, 2, 3, 4])}


def _part_of(kind: Json, unit: int, start: int) -> Json:
    counters = {f"slice-{i}": {"value": "1"} for i in range(start, start + kind["size"])}
    if kind["a"]:
        counters["a"] = {"value": str(kind["a"])}
    return {
        "name": f"gpu-{unit}-{kind['model']}-{start}",
        "attributes": {"model": {"string": kind["model"]}},
        "capacity": {},
        "consumesCounters": [{"counterSet": f"gpu-{unit}", "counters": counters}],
    }


def _claim_for_parts(name: str, wanted: list[tuple[str, int]]) -> Json:
    requests = [
        {
            "name": f"r{i}",
            "exactly": {
                "deviceClassName": "any",
                "allocationMode": "ExactCount",
                "count": count,
                "selectors": [{"cel": {"expression": f'{GPU}.model == "{model}"'}}],
            },
        }
        for i, (model, count) in enumerate(wanted)
    ]
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"devices": {"requests": requests}}}


class _Maker:
    """One problem: which features it has, then its parts."""

    def __init__(self, seed: int, number: int, minor: int) -> None:
        self._minor = minor
        self._draw = random.Random(seed * 1_000_003 + number)  # noqa: S311 - the same problems for the same seed
        self._id = f"allocation-{seed}-{number}"
        self._used = 0
        self._counters = self._often(0.3)
        self._shares = self._often(0.3)
        self._taints = self._often(0.25)
        self._constraints = self._often(0.35)
        self._binding = self._often(0.15)
        self._admin = self._often(0.15)
        self._reaches = self._often(0.2)
        self._lists = self._often(0.25)
        self._faults = self._often(0.15)
        self._many = self._often(0.06)
        self._selectors = SELECTORS if self._often(0.3) else SAFE

    def _often(self, share: float) -> bool:
        return self._draw.random() < share

    def problem(self) -> Json:
        if self._many:
            self._counters = self._shares = self._constraints = self._taints = self._faults = self._reaches = False
            self._selectors = SAFE[:2]
        pools = self._draw.choice([1, 2, 2, 3]) if self._minor >= UNORDERED_BELOW else 1
        slices = [one for number in range(pools) for one in self._pool(number)]
        self._draw.shuffle(slices)
        return {
            "id": self._id,
            "kind": "allocation",
            **({} if self._minor == LATEST else {"minor": self._minor}),
            "node": {"metadata": {"name": NODE, "labels": {"zone": "a", "cores": "16"}}},
            "slices": slices,
            "classes": self._classes(),
            "claims": [self._claim(number) for number in range(self._draw.choice([1, 1, 1, 2]))],
            "allocated": self._allocated(slices),
        }

    # --- what is there

    def _pool(self, number: int) -> list[Json]:
        driver = DRIVERS[number % 2]
        name = NODE if number < 2 and self._often(0.8) else f"pool-{number}"
        sets = [f"set-{i}" for i in range(self._draw.choice([1, 2]))] if self._counters else []
        parts = self._draw.choice([1, 1, 2])
        slices = [self._slice(driver, sets) for _ in range(parts)]
        if sets:
            counters = {"a": {"value": str(self._draw.choice([2, 4, 7]))}, "memory": {"value": "80Gi"}}
            slices.append({**self._reach(), "sharedCounters": [{"name": one, "counters": counters} for one in sets]})
        count, generation = len(slices), self._draw.choice([1, 1, 2])
        if self._faults:
            count += self._draw.choice([0, 0, 1, -1])
            if self._often(0.3):
                slices.append(self._slice(driver, sets))
        found = []
        for position, spec in enumerate(slices):
            older = self._faults and self._often(0.2)
            pool = {"name": name, "generation": generation - older, "resourceSliceCount": max(1, count)}
            label = f"{self._draw.choice('abcxyz')}-{number}-{position}"
            found.append({"metadata": {"name": label}, "spec": {"driver": driver, "pool": pool, **spec}})
        return found

    def _slice(self, driver: str, sets: list[str]) -> Json:
        reach = self._reach()
        devices = []
        for _ in range(60 if self._many else self._draw.choice([1, 2, 3, 4, 5])):
            self._used += 0 if self._faults and self._often(0.1) else 1
            devices.append(self._device(driver, sets, per_device="perDeviceNodeSelection" in reach))
        return {**reach, "devices": devices}

    def _reach(self) -> Json:
        if not self._reaches:
            return {"nodeName": NODE}
        choices: list[Json] = [{"nodeName": NODE}, {"nodeName": "node-2"}, {"allNodes": True}]
        choices += [{"nodeSelector": self._draw.choice(SELECTED)}, {"perDeviceNodeSelection": True}]
        return self._draw.choice(choices)

    def _device(self, driver: str, sets: list[str], *, per_device: bool) -> Json:
        device: Json = {"name": f"dev-{self._used}", "attributes": self._attributes(), "capacity": {}}
        if self._often(0.7):
            device["capacity"]["memory"] = {"value": self._draw.choice(["24Gi", "40Gi", "80Gi"])}
        if self._shares and self._often(0.6):
            device["allowMultipleAllocations"] = True
        if self._shares and "memory" in device["capacity"] and self._often(0.5):
            device["capacity"]["memory"] = {"value": "80Gi", "requestPolicy": self._draw.choice(POLICIES)}
        if sets and self._often(0.8):
            device["consumesCounters"] = [self._draws(one) for one in self._some_sets(sets)]
        if sets and self._faults and self._often(0.1):
            device["consumesCounters"] = [self._draws("set-9")]
        if self._taints and self._often(0.5):
            device["taints"] = [self._draw.choice(TAINTS)]
        if self._binding and self._often(0.3):
            device |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}
        if self._binding and self._often(0.2):
            device["bindsToNode"] = True
        return self._placed(device) if per_device else device

    def _placed(self, device: Json) -> Json:
        """Return the device with the nodes it can be used from."""
        choices: list[Json] = [{"nodeName": NODE}, {"allNodes": True}, {"nodeSelector": SELECTED[0]}]
        return device | ({"nodeName": "node-2"} if self._often(0.2) else self._draw.choice(choices))

    def _some_sets(self, sets: list[str]) -> list[str]:
        return self._draw.sample(sets, 2 if len(sets) > 1 and self._often(0.2) else 1)

    def _draws(self, name: str) -> Json:
        counters = {"a": {"value": str(self._draw.choice([1, 1, 2, 3, 4]))}}
        if self._often(0.5):
            counters["memory"] = {"value": self._draw.choice(["10Gi", "20Gi", "40Gi"])}
        return {"counterSet": name, "counters": counters}

    def _attributes(self) -> Json:
        found: Json = {}
        if self._often(0.8):
            found[self._draw.choice(["model", "gpu.example.com/model"])] = {"string": self._draw.choice(["a", "b"])}
        if self._often(0.7):
            found["index"] = {"int": self._draw.choice([0, 1, 2])}
        if self._often(0.7):
            root: Json = {"string": self._draw.choice(["r0", "r1"])} if self._often(0.9) else {"int": 0}
            found[ROOT] = root
        if self._often(0.3):
            found["version"] = {"version": self._draw.choice(["1.0.0", "1.0.0+a", "2.0.0"])}
        return found

    def _classes(self) -> list[Json]:
        def named(name: str, *selectors: str) -> Json:
            return {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": s}} for s in selectors]}}

        return [named("any"), named("gpu", SELECTORS[2]), named("nic", SELECTORS[3]), named("model-a", SELECTORS[4])]

    def _allocated(self, slices: list[Json]) -> Json:
        devices, shared = [], []
        for one in slices:
            spec = one["spec"]
            for device in spec.get("devices", []):
                name = [spec["driver"], spec["pool"]["name"], device["name"]]
                if not self._often(0.12):
                    continue
                if device.get("allowMultipleAllocations"):
                    consumed = {key: self._draw.choice(["10Gi", "20Gi"]) for key in device["capacity"]}
                    shared.append({"device": name, "consumed": consumed})
                else:
                    devices.append(name)
        return {"devices": devices, "shared": shared}

    # --- what is asked

    def _claim(self, number: int) -> Json:
        names = [f"r{i}" for i in range(self._draw.choice([1, 1, 2, 2, 3]))]
        requests = [self._request(name) for name in names]
        devices: Json = {"requests": requests}
        if self._constraints:
            devices["constraints"] = [self._constraint(requests) for _ in range(self._draw.choice([1, 1, 2]))]
        return {"metadata": {"name": f"claim-{number}", "namespace": "ns"}, "spec": {"devices": devices}}

    def _request(self, name: str) -> Json:
        if self._lists and self._often(0.5):
            options = [{"name": f"s{i}", **self._exact()} for i in range(self._draw.choice([1, 2, 3]))]
            return {"name": name, "firstAvailable": options}
        exactly = self._exact()
        if self._admin and self._often(0.5):
            exactly["adminAccess"] = True
        return {"name": name, "exactly": exactly}

    def _exact(self) -> Json:
        classes = ["any", "any", "any", "gpu", "gpu", "nic"] + (["model-a", "missing"] if self._often(0.1) else [])
        exact: Json = {
            "deviceClassName": self._draw.choice(classes),
            "selectors": [{"cel": {"expression": s}} for s in self._draw.sample(self._selectors, self._some())],
            "allocationMode": "ExactCount",
            "count": self._draw.choice([4, 9, 12, 20, 28] if self._many else [1, 1, 1, 2, 2, 3]),
        }
        if self._often(0.12) and not self._many:
            exact["allocationMode"] = "All"
            del exact["count"]
        elif self._often(0.01):
            exact["count"] = 33
        if self._taints and self._often(0.4):
            exact["tolerations"] = [self._draw.choice(TOLERATIONS)]
        if self._shares and self._often(0.6):
            key = self._draw.choice(["memory", "memory", "memory", "memory", "gpu.example.com/memory"])
            amount = self._draw.choice(["1Gi", "12Gi", "30Gi", "50Gi", "70Gi", "1536Mi"])
            exact["capacity"] = {"requests": {key: amount}}
        return exact

    def _some(self) -> int:
        return self._draw.choice([0, 0, 0, 1, 1, 2])

    def _constraint(self, requests: list[Json]) -> Json:
        names = [one["name"] for one in requests]
        names += [f"{one['name']}/{sub['name']}" for one in requests for sub in one.get("firstAvailable", [])]
        kind = self._draw.choice(["matchAttribute", "matchAttribute", "distinctAttribute"])
        found: Json = {kind: self._draw.choice([ROOT, "gpu.example.com/model", "gpu.example.com/index"])}
        if self._often(0.6):
            found["requests"] = self._draw.sample(names, self._draw.randint(1, len(names)))
        return found
