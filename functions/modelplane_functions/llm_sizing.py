"""The size of an LLMInference, derived from its model and from the classes of the clusters that it may use.

It is derived once and kept with the composed ModelDeployment; only then are clusters and classes read.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane import names, placement, words
from modelplane.api import inference_class, inference_cluster, label_selectors, llm_inference, llm_size
from modelplane.api import workload as workloads
from modelplane.api.fields import Field
from modelplane.api.llm_inference import LLMInference
from modelplane.api.llm_size import Size
from modelplane.devices import memory, published
from modelplane.devices.model import Device
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Effect
from modelplane.render import starting
from modelplane.sizing import verdict
from modelplane.sizing.fit import Fitting, Hardware, gib
from modelplane.sizing.verdict import Start
from modelplane_functions import deployment_sight
from modelplane_functions.exchange import Observed, Requirement

CLUSTERS, CLASSES = deployment_sight.CLUSTERS, deployment_sight.CLASSES
_FORBIDDING = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)
_PATH = ("spec", "gpu")
_CLASSES_TOLD = 5


def requirements(wanted: LLMInference) -> dict[str, Requirement]:
    """Return the objects from which a size is derived: none where the author says the number of GPUs."""
    if wanted.gpu is not None:
        return {}
    return {
        CLUSTERS: Requirement(names.API_VERSION, inference_cluster.KIND),
        CLASSES: Requirement(names.API_VERSION, inference_class.KIND),
    }


def derive(wanted: LLMInference, observed: Observed) -> Size | str:
    """Return the smallest size that holds the model, the author's number of GPUs where there is one.

    It is what is waited for, in words, while no cluster has devices to derive it from.
    Raises: InvalidInput where the number must be written: the model is not known, or nothing holds it.
    """
    start = _start(wanted)
    if wanted.gpu is not None:
        plain = llm_size.plain(wanted.gpu, wanted.device_driver)
        loaded = None if start is None else verdict.weights(start)
        seconds = plain.start_seconds if loaded is None else llm_size.start_seconds(wanted.gpu, loaded)
        return Size(plain.tensor, plain.selector, seconds)
    if start is None:
        raise InvalidInput(
            f"is required: the memory of {wanted.model[:100]} with {wanted.engine} and these arguments is not known; "
            "write the number of GPUs (modelplane fit --models lists the models that need none)",
            path=_PATH,
        )
    offers = list(_offers(wanted, observed))
    if not offers:
        return (
            f"{verdict.sized(start)}, and no pool of the clusters that it may use has devices of "
            f"{wanted.device_driver} with a known memory; it waits for one, or write spec.gpu"
        )
    return _smallest(start, offers, wanted.device_driver)


def _start(wanted: LLMInference) -> Start | None:
    """Return the start of the engine, None where the model, or what the arguments do with it, is not known."""
    document = llm_inference.encode_unsized(wanted)
    workload = workloads.decode(document["spec"], namespace=wanted.namespace, deployment=wanted.name)
    return starting.of(workload.engine, workload.model, workload.roles[0])


def _smallest(start: Start, offers: list[tuple[Device, str, int]], driver: str) -> Size:
    """Return the fewest nodes and then devices that hold the model, with the memory that a device then needs."""
    found = [(fitting, device) for device, _, nodes in offers for fitting in _held(start, device, nodes)]
    if not found:
        raise InvalidInput(_refusal(start, offers), path=_PATH)
    nodes, gpus = min((one.topology.nodes, one.topology.devices) for one, _ in found)
    chosen = [
        (memory.published(device) or 0, one.topology, _memory_text(device))
        for one, device in found
        if (one.topology.nodes, one.topology.devices) == (nodes, gpus)
    ]
    _, topology, least = min(chosen, key=lambda one: (one[0], one[2]))
    return Size(
        tensor=topology.tensor,
        pipeline=topology.pipeline,
        selector=llm_size.of_driver(driver, least),
        start_seconds=llm_size.start_seconds(gpus, verdict.weights(start) or 0),
    )


def _held(start: Start, device: Device, nodes: int) -> Iterator[Fitting]:
    hardware = Hardware(memory.published(device) or 0, device.count, _is_part(device))
    for one in verdict.splits(start, hardware):
        if one.topology.nodes <= nodes and one.topology.tensor <= llm_inference.GPU_MAX:
            yield one


def _refusal(start: Start, offers: list[tuple[Device, str, int]]) -> str:
    told = {
        f"{name} (up to {nodes} nodes of {device.count} x {gib(memory.published(device) or 0)} GiB)"
        for device, name, nodes in offers
    }
    return (
        f"is required: {verdict.sized(start)}, which with one request of the longest context fits on no pool that "
        f"it may use: {words.first(sorted(told), _CLASSES_TOLD)}; write a shorter context, or the number"
    )


def _is_part(device: Device) -> bool:
    return "profile" in dict(device.attributes)


def _memory_text(device: Device) -> str:
    """Return the memory of a device as its class writes it."""
    named = {published.MEMORY, f"{device.driver}/{published.MEMORY}"}
    return next((value for name, value in device.capacity if name in named), "")


def _offers(wanted: LLMInference, observed: Observed) -> Iterator[tuple[Device, str, int]]:
    """Yield the devices of the driver, their class, and the nodes of each pool that labels and taints allow."""
    classes, _ = deployment_sight.classes_of(observed.required[CLASSES])
    selector = label_selectors.decode(Field({"clusterSelector": wanted.cluster_selector}).at("clusterSelector"))
    for resource in observed.required[CLUSTERS]:
        cluster = deployment_sight.recalled(resource, classes)
        allowed = selector.matches({**cluster.labels, names.LABEL_CLUSTER: cluster.name})
        if not allowed or placement.untolerated(cluster.taints, (), _FORBIDDING) is not None:
            continue
        for pool in cluster.pools:
            nodes = max(pool.nodes.present, pool.nodes.maximum or 0)
            for device in pool.node_class.devices if pool.node_class is not None else ():
                if _serves(wanted, device) and nodes:
                    yield device, pool.class_name, nodes


def _serves(wanted: LLMInference, device: Device) -> bool:
    is_ours = device.driver == wanted.device_driver and not device.is_shared
    return is_ours and device.count > 0 and bool(memory.published(device))
