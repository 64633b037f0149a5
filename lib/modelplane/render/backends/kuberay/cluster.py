"""Ray cluster of a replica: a head that runs no engine, and a group of pods per role.

Source: KubeRay v1.6.2 (controllers/ray/common/pod.go). The operator writes command, args and probes of the first
container of every pod. It joins the words that are there already and runs them in a shell, so nothing is written there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import units
from modelplane.render import claims, pods, volume
from modelplane.render.backends.kuberay import launching, serving
from modelplane.render.engines import CommandLine, Member
from modelplane.workload.model import BoundRole, Replica, Role
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

# The variables of a gang are not promised: the head, whose address Ray's pods know, is none of it.
GANG = pods.Gang(leader_address="", rank="", world_size="", label="ray.io/worker-group-replica-name")

_NOTHING = CommandLine((), ())
_OF_THE_HEAD = ("imagePullSecrets", "serviceAccountName", "securityContext", "terminationGracePeriodSeconds")
_HEAD_CPU, _HEAD_MEMORY = "2", "8Gi"
_RAY_IMAGE = re.compile(r"(?:^|/)ray(?:-llm|-ml)?:(\d+\.\d+\.\d+)(?:[-.+]|\Z)")
_START_TIMEOUT = "RAYLLM_ENGINE_START_TIMEOUT_S"
# The Serve deployment that takes the requests asks for one of Ray's logical CPUs, and each engine for another.
_INGRESS_CPUS = 1


@dataclass(frozen=True, slots=True)
class Members:
    """The pods of the roles: the devices of each role, and the time that its engine may take to start."""

    devices: Mapping[Role, claims.PodDevices]
    start_seconds: Mapping[Role, int]


def of(replica: Replica, facts: ClusterFacts, members: Members) -> dict[str, Json]:
    """Return the value of rayClusterConfig."""
    decode = next(bound for bound in replica.roles if bound.spec.role is Role.DECODE)
    image = str(pods.engine_container(decode.spec)[1]["image"])
    version = ray_version(image)
    return {
        **({} if version is None else {"rayVersion": version}),
        "headGroupSpec": _head(replica, decode, facts),
        "workerGroupSpecs": [_group(replica, bound, facts, members) for bound in replica.roles],
    }


def ray_version(image: str) -> str | None:
    """Return the version of Ray in an image of the Ray project or a mirror of it, None where the name does not tell."""
    found = _RAY_IMAGE.search(image.partition("@")[0])
    return None if found is None else found.group(1)


def _head(replica: Replica, decode: BoundRole, facts: ClusterFacts) -> dict[str, Json]:
    """Return the head: it holds the state of the cluster, builds the application, and offers Ray nothing to run on.

    The author's variables are there too, because the model's configuration is read where the application is built.
    """
    spec = decode.spec.template["spec"]
    _, engine = pods.engine_container(decode.spec)
    container: dict[str, Json] = {
        # As in the other pods, because variables may refer to resources of the container by its name.
        "name": pods.ENGINE,
        "image": engine["image"],
        "resources": {"requests": {"cpu": _HEAD_CPU, "memory": _HEAD_MEMORY}, "limits": {"memory": _HEAD_MEMORY}},
        # Without a port of the name "serve" there is no Service for requests.
        "ports": [
            {"name": "gcs-server", "containerPort": 6379},
            {"name": "dashboard", "containerPort": 8265},
            {"name": "serve", "containerPort": launching.PORT},
        ],
        "securityContext": {"allowPrivilegeEscalation": False, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    for key in ("imagePullPolicy", "env", "envFrom"):
        if key in engine:
            container[key] = engine[key]
    pod: dict[str, Json] = {key: spec[key] for key in _OF_THE_HEAD if key in spec}
    pod["containers"] = [container]
    affinity = pods.outside_of_pools(facts)
    if affinity:
        pod["affinity"] = {"nodeAffinity": affinity}
    return {
        "rayStartParams": {"num-cpus": "0", "num-gpus": "0"},
        "template": {"metadata": {"labels": pods.base_labels(replica)}, "spec": pod},
    }


def _group(replica: Replica, bound: BoundRole, facts: ClusterFacts, members: Members) -> dict[str, Json]:
    """Return the worker group of a role. Nothing scales it, so its three counts are one."""
    role, topology = bound.spec, bound.spec.topology
    group: dict[str, Json] = {
        "groupName": str(role.role),
        "replicas": role.workers,
        "minReplicas": role.workers,
        "maxReplicas": role.workers,
    }
    if topology.is_gang:
        group["numOfHosts"] = topology.nodes
    metadata: dict[str, Json] = {"labels": pods.pod_labels(replica, bound, facts)}
    annotations = pods.pod_annotations(replica, bound, facts)
    if annotations:
        metadata["annotations"] = annotations
    return {
        **group,
        "rayStartParams": _start_params(replica, bound),
        "template": {"metadata": metadata, "spec": _pod(replica, bound, facts, members)},
    }


def _start_params(replica: Replica, bound: BoundRole) -> dict[str, str]:
    """Return the resources that a pod offers to Ray. Each value is a word of a command, and none is the author's.

    KubeRay counts devices by limits alone, and a claim is no limit. Only the devices that the topology uses are
    offered, so that a pod has no room for a second engine.
    """
    params = {"num-gpus": str(bound.spec.topology.devices_per_node)}
    needed = bound.spec.topology.data_local + _INGRESS_CPUS
    asked = _asked_cpus(bound)
    if asked is not None and asked < needed:
        params["num-cpus"] = str(needed)
    if replica.is_disaggregated:
        params["resources"] = f"'{json.dumps({serving.resource(bound.spec.role): 1})}'"
    return params


def _asked_cpus(bound: BoundRole) -> int | None:
    """Return the CPUs that KubeRay would pass to Ray, None where it passes none and Ray counts them."""
    resources = pods.engine_container(bound.spec)[1].get("resources") or {}
    for kind in ("limits", "requests"):
        amount = (resources.get(kind) or {}).get("cpu")
        if amount is not None:
            return units.quantity(str(amount)).ceil()
    return None


def _pod(replica: Replica, bound: BoundRole, facts: ClusterFacts, members: Members) -> dict[str, Json]:
    """Return the PodSpec of a role's pods, all of which are alike: Ray decides what each of them runs."""
    pod = pods.EnginePod(
        member=Member.WORKER,
        command=_NOTHING,
        port=launching.PORT,
        devices=members.devices[bound.spec.role],
        container_name=pods.ENGINE,
        gang=GANG if bound.spec.topology.is_gang else None,
        extra_env=(_timeout(members, bound),),
    )
    spec = pods.pod_spec(replica, bound, facts, pod)
    claim = volume.of(replica.model)
    if claim is not None:
        volume.mount(spec, claim)
    # Every pod may serve, so every pod drains.
    pods.complete(spec, pods.ENGINE, Member.ALONE)
    engine = next(container for container in spec["containers"] if container["name"] == pods.ENGINE)
    for key in ("command", "args"):
        engine.pop(key, None)
    # Ray is whatever stands first.
    spec["containers"] = [engine, *(one for one in spec["containers"] if one is not engine)]
    return spec


def _timeout(members: Members, bound: BoundRole) -> dict[str, str]:
    return {"name": _START_TIMEOUT, "value": str(members.start_seconds[bound.spec.role])}
