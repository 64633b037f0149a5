"""A small Crossplane around a function server: an object store, reconciles over gRPC, and what controllers around do.

It shares no code with the offline command. What a function leaves out is deleted, what it returns is applied over what
stands as one field manager does, and a fatal result applies nothing. After every step the guards look at what stands.
Known divergences from a control plane: caches are never stale, deletion is immediate, and lists are replaced whole.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1
from google.protobuf import json_format

from modelplane.api import catalogue
from modelplane.structural import Severity
from tests.attack import surroundings

Json = Any
Identity: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""
Guard: TypeAlias = Callable[["Plane"], None]

GROUP = "modelplane.ai"
API_VERSION = f"{GROUP}/v1alpha1"
KEY = "crossplane.io/composition-resource-name"
ROUNDS_MAX = 40
REQUIREMENTS_MAX = 6
CALL_SECONDS = 120
# Owners before what they own, as their watches usually fire. `settle` also takes the reverse.
ORDER = (
    *("InferenceClass", "InferenceGateway", "InferenceCluster", "LLMInference", "ModelDeployment"),
    *("ModelReplica", "ModelEndpoint", "ModelService"),
)
_CAPABILITIES = (
    fnv1.CAPABILITY_CAPABILITIES,
    fnv1.CAPABILITY_REQUIRED_RESOURCES,
    fnv1.CAPABILITY_CREDENTIALS,
    fnv1.CAPABILITY_CONDITIONS,
    fnv1.CAPABILITY_REQUIRED_SCHEMAS,
)


class Refused(Exception):
    """The API server does not take a document."""


def identity(document: Mapping[str, Json]) -> Identity:
    """Return what tells a document from the others of a plane."""
    metadata = document["metadata"]
    return str(document["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"])


def controller(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the reference to the controller of a document, empty without one."""
    owners = document["metadata"].get("ownerReferences") or ()
    return next((one for one in owners if one.get("controller")), {})


class Plane:
    """A control plane with its workload clusters."""

    def __init__(self, channel: grpc.Channel) -> None:
        """Call the function through `channel`."""
        self._stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        self._applied: dict[Identity, Json] = {}
        self._numbers = itertools.count(1)
        self.objects: dict[Identity, Json] = {}
        self.remote: dict[str, dict[Identity, surroundings.Standing]] = {}
        """What stands on each workload cluster, by the Secret with the credentials that were used."""
        self.guards: list[Guard] = []
        self.fatal: dict[Identity, str] = {}
        """The last fatal result of each composite whose last reconcile ended with one."""
        self.errors: list[str] = []
        """gRPC errors: bugs, since a mistake is told by a fatal result."""
        self.is_silent: Callable[[Mapping[str, Json]], bool] = lambda _manifest: False
        """Whether nobody reports on a remote object."""

    # --- what people do ---------------------------------------------------------------------------------------------

    def create(self, document: Mapping[str, Json], *, past_schema: bool = False) -> Json:
        """Store a new document. Raises: Refused, when the API server would refuse it."""
        made = self._admitted(document, past_schema=past_schema)
        number = next(self._numbers)
        metadata = {"uid": f"uid-{number}", "creationTimestamp": _time(number), "generation": 1, **made["metadata"]}
        self.objects[identity(made)] = made = {**made, "metadata": metadata}
        return made

    def edit(
        self, kind: str, namespace: str, name: str, change: Callable[[Json], Json], *, past_schema: bool = False
    ) -> None:
        """Change a document in place. Raises: Refused."""
        before = self.objects[kind, namespace, name]
        after = copy.deepcopy(before)
        change(after)
        self._replace(before, self._admitted(after, before, past_schema=past_schema))

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete a document and all that it controls, at once, on the workload clusters too."""
        gone = self.objects.pop((kind, namespace, name))
        self._applied.pop((kind, namespace, name), None)
        for child in self.controlled_by(gone):
            self.delete(*identity(child))
        if kind == "Object":
            surroundings.collect(self, gone)

    def _admitted(self, document: Mapping[str, Json], before: Json = None, *, past_schema: bool) -> Json:
        made = copy.deepcopy(dict(document))
        if document["kind"] not in catalogue.kinds() or past_schema:
            return made
        stored, problems = catalogue.structural_kind(document["kind"]).judged(made, before)
        for problem in problems:
            if problem.severity is Severity.ERROR:
                raise Refused(f"{'.'.join(map(str, problem.path))}: {problem.message}")
        return stored

    def _replace(self, before: Json, after: Json) -> None:
        if after.get("spec") != before.get("spec"):
            after["metadata"]["generation"] = before["metadata"].get("generation", 1) + 1
        self.objects[identity(after)] = after

    # --- reading ----------------------------------------------------------------------------------------------------

    def of_kind(self, kind: str) -> Iterator[Json]:
        """Yield the documents of a kind, sorted by name."""
        for key in sorted(self.objects):
            if key[0] == kind:
                yield self.objects[key]

    def get(self, kind: str, namespace: str, name: str) -> Json:
        """Return a document, empty when it is not there."""
        return self.objects.get((kind, namespace, name), {})

    def controlled_by(self, owner: Mapping[str, Json]) -> list[Json]:
        """Return the documents with this controller, by its uid."""
        uid = owner["metadata"]["uid"]
        return [one for one in self.objects.values() if controller(one).get("uid") == uid]

    def condition(self, document: Mapping[str, Json], kind: str) -> Json:
        """Return a condition of a document, empty when it has none of this type."""
        said = (document.get("status") or {}).get("conditions") or ()
        return next((one for one in said if one["type"] == kind), {})

    # --- Crossplane -------------------------------------------------------------------------------------------------

    def settle(self, *, backwards: bool = False) -> int:
        """Reconcile everything until nothing moves; return the rounds. Raises: AssertionError when it never ends."""
        order = ORDER[::-1] if backwards else ORDER
        for number in range(1, ROUNDS_MAX + 1):
            before = self._state()
            for kind in order:
                for document in list(self.of_kind(kind)):
                    self.reconcile(*identity(document))
            surroundings.report(self)
            if self._state() == before:
                return number
        raise AssertionError(f"still moving after {ROUNDS_MAX} rounds")

    def _state(self) -> str:
        """Return all that stands; the order of members, which protobuf does not keep, says nothing."""
        remote = [
            (place, sorted((key, one.manifest, sorted(one.writers)) for key, one in found.items()))
            for place, found in sorted(self.remote.items())
        ]
        return json.dumps([sorted(self.objects.items()), remote], sort_keys=True)

    def reconcile(self, kind: str, namespace: str, name: str) -> None:
        """Reconcile one composite as Crossplane does, then let the guards look."""
        composite = self.objects.get((kind, namespace, name))
        if composite is None:
            return
        children = self._observed(composite)
        try:
            response = self._answer(composite, children)
        except grpc.RpcError as error:
            self.errors.append(f"{kind} {name}: {error.code().name}: {error.details()}")
            return
        fatal = [one.message for one in response.results if one.severity == fnv1.SEVERITY_FATAL]
        if fatal:
            self.fatal[identity(composite)] = fatal[0]
        else:
            self.fatal.pop(identity(composite), None)
            self._apply_all(composite, children, response)
        self._report(identity(composite), response, is_fatal=bool(fatal))
        for guard in self.guards:
            guard(self)

    def _observed(self, composite: Json) -> dict[str, Json]:
        """Return what the composite refers to and controls, by its key."""
        references = {
            (one["kind"], one.get("namespace", composite["metadata"].get("namespace", "")), one["name"])
            for one in (composite["spec"].get("crossplane") or {}).get("resourceRefs") or ()
        }
        return {
            str(child["metadata"]["annotations"][KEY]): child
            for child in self.controlled_by(composite)
            if identity(child) in references or (child["kind"], "", child["metadata"]["name"]) in references
            if KEY in (child["metadata"].get("annotations") or {})
        }

    def _answer(self, composite: Json, children: Mapping[str, Json]) -> Any:
        message = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="attack", capabilities=_CAPABILITIES))
        message.observed.composite.resource.update(composite)
        for key, child in children.items():
            message.observed.resources[key].resource.update(child)
        wanted = fnv1.Requirements()
        for _ in range(REQUIREMENTS_MAX):
            response = self._stub.RunFunction(message, timeout=CALL_SECONDS)
            is_fatal = any(one.severity == fnv1.SEVERITY_FATAL for one in response.results)
            if is_fatal or response.requirements == wanted:
                return response
            wanted = response.requirements
            message.ClearField("required_resources")
            for key, selector in wanted.resources.items():
                message.required_resources[key].SetInParent()
                for found in self._selected(selector):
                    message.required_resources[key].items.add().resource.update(found)
        raise AssertionError(f"{identity(composite)}: requirements did not become stable")

    def _selected(self, selector: Any) -> Iterator[Json]:
        labels = dict(selector.match_labels.labels)
        for document in self.of_kind(selector.kind):
            metadata = document["metadata"]
            if document["apiVersion"] != selector.api_version:
                continue
            if selector.HasField("namespace") and metadata.get("namespace") != selector.namespace:
                continue
            if selector.WhichOneof("match") == "match_name":
                if metadata["name"] == selector.match_name:
                    yield document
            elif labels.items() <= (metadata.get("labels") or {}).items():
                yield document

    def _apply_all(self, composite: Json, children: Mapping[str, Json], response: Any) -> None:
        desired = {
            key: _named(composite, key, _plain(one.resource), children.get(key))
            for key, one in sorted(response.desired.resources.items())
        }
        for key in sorted(children.keys() - desired.keys()):
            if identity(children[key]) in self.objects:
                self.delete(*identity(children[key]))
        references = [
            {"apiVersion": one["apiVersion"], "kind": one["kind"], "name": one["metadata"]["name"]}
            | ({} if composite["metadata"].get("namespace") else _place(one))
            for one in desired.values()
        ]
        spec = {**composite["spec"], "crossplane": {"resourceRefs": references}}
        self.objects[identity(composite)] = {**composite, "spec": spec}
        for one in desired.values():
            self._apply(composite, one)

    def _apply(self, owner: Json, desired: Json) -> None:
        """Write what a composite wants over what stands: its fields are forced, those that it drops are removed."""
        key = identity(desired)
        live = self.objects.get(key)
        if live is not None and controller(live).get("uid") not in (None, owner["metadata"]["uid"]):
            self.errors.append(f"{key} is controlled by another")
            return
        merged = _merged(live or {}, desired, self._applied.get(key, {}))
        self._applied[key] = desired
        if live is None:
            self.create(merged)
        elif merged != live:
            self._replace(live, self._admitted(merged, past_schema=True))

    def _report(self, key: Identity, response: Any, *, is_fatal: bool) -> None:
        """Write status and conditions, as far as the composite is still there."""
        composite = self.objects.get(key)
        if composite is None:
            return
        before = composite.get("status") or {}
        conditions = {one["type"]: one for one in before.get("conditions") or ()}
        for one in response.conditions:
            truth = {1: "Unknown", 2: "True", 3: "False"}.get(one.status, "Unknown")
            conditions[one.type] = {
                "type": one.type,
                "status": truth,
                "reason": one.reason,
                "lastTransitionTime": _time(0),
                **({"message": one.message} if one.message else {}),
            }
        conditions["Synced"] = {"type": "Synced", "status": "False" if is_fatal else "True", **_PLAYED}
        status = before
        if not is_fatal:
            status = _plain(response.desired.composite.resource).get("status") or {}
            is_ready = response.desired.composite.ready == fnv1.READY_TRUE
            conditions["Ready"] = {"type": "Ready", "status": str(is_ready), **_PLAYED}
        self.objects[key] = {**composite, "status": {**status, "conditions": list(conditions.values())}}


def _time(number: int) -> str:
    return f"2026-01-01T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"


_PLAYED = {"reason": "Played", "lastTransitionTime": _time(0)}


def _place(document: Json) -> Json:
    return {key: value for key, value in document["metadata"].items() if key == "namespace"}


def _plain(struct: Any) -> Json:
    return _integral(json_format.MessageToDict(struct))


def _integral(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _integral(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_integral(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _named(composite: Json, key: str, resource: Json, there: Json | None) -> Json:
    """Return a desired resource with the metadata that Crossplane gives it."""
    owner = composite["metadata"]
    metadata = dict(resource.get("metadata") or {})
    if there is not None:
        metadata |= {one: there["metadata"][one] for one in ("name", "namespace") if one in there["metadata"]}
    elif owner.get("namespace"):
        metadata["namespace"] = owner["namespace"]
    metadata.setdefault("name", f"{owner['name']}-{key}")
    metadata["annotations"] = {**(metadata.get("annotations") or {}), KEY: key}
    metadata["ownerReferences"] = [
        {
            "apiVersion": composite["apiVersion"],
            "kind": composite["kind"],
            "name": owner["name"],
            "uid": owner["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    return {**resource, "metadata": metadata}


def _merged(live: Json, desired: Json, previous: Json) -> Json:
    """Return `live` with `desired` over it, without what its writer had written before and dropped."""
    result = {key: value for key, value in live.items() if key in desired or key not in previous}
    for key, value in desired.items():
        before, had = result.get(key), previous.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            result[key] = _merged(before, value, had if isinstance(had, dict) else {})
        else:
            result[key] = value
    return result
