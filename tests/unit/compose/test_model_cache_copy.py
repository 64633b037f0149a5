"""A ModelCacheCopy: its claim and Job, the progress that is told, and what is held while an input is missing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.api import model_cache
from modelplane.render import staging, staging_program
from modelplane_functions.compose import model_cache_copy as composer
from modelplane_functions.exchange import Outcome
from tests.support import caches, exchange, fleet

Json = Any
KEY = caches.key_of(caches.cache())
UID = "uid-of-the-claim"
KINDS = frozenset({"ObservedObjectCollection"})


def a_copy(*, revision: str = caches.COMMIT, **spec: Json) -> Json:
    source = model_cache.decode(caches.cache(revision=revision)).source
    made = model_cache.encode_copy(model_cache.Copy("ml-team", "llama-a", "llama", "a", source.key, source, "100Gi"))
    made["spec"] |= spec
    return made


def cluster(**storage: Json) -> Json:
    made = fleet.inference_cluster("a")
    made["spec"]["storage"] = {"weightsClassName": "weights", **storage}
    return made


def ask(composite: Json, children: Json = None, store: Any = None) -> Outcome:
    given = (cluster(),) if store is None else store
    return exchange.settle(composer.compose, composite, children=children or {}, store=given, kinds=KINDS)


def seen(child: Json, remote: Json, **synced: Json) -> Json:
    """Return an Object as it is observed with this remote object."""
    manifest = child["spec"]["forProvider"]["manifest"]
    merged = {**manifest, **remote, "metadata": {**manifest["metadata"], **remote.get("metadata", {})}}
    status = {"atProvider": {"manifest": merged}, "conditions": [{"type": "Synced", "status": "True", **synced}]}
    return {**copy.deepcopy(child), "status": status}


def claimed(uid: str = UID, phase: str = "Bound") -> dict[str, Json]:
    """Return the children once the claim is made."""
    first = {key: child.resource for key, child in ask(a_copy()).children.items()}
    return {**first, "claim": seen(first["claim"], {"metadata": {"uid": uid}, "status": {"phase": phase}})}


def with_job(status: Json = None, composite: Json = None) -> dict[str, Json]:
    children = claimed()
    made = {key: one.resource for key, one in ask(composite or a_copy(), children).children.items()}
    job = job_key(made)
    return {**made, **children, job: seen(made[job], {"status": status or {"active": 1}})}


def job_key(children: Any) -> str:
    return next(str(key) for key in children if key.startswith(staging.STAGE))


COMPLETE = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}


def ready() -> tuple[Json, dict[str, Json]]:
    children = with_job(COMPLETE)
    outcome = ask(a_copy(), children)
    assert outcome.status["phase"] == "Ready"
    return {**a_copy(), "status": outcome.status}, children


def test_the_claim_comes_first_and_its_job_waits_for_no_binding() -> None:
    first = ask(a_copy())
    assert sorted(first.children) == ["claim", "namespace"]
    claim = first.children["claim"].resource["spec"]
    assert claim["readiness"] == {"policy": "SuccessfulCreate"}
    assert claim["forProvider"]["manifest"]["spec"]["storageClassName"] == "weights"
    job = next(key for key in ask(a_copy(), claimed(phase="Pending")).children if key.startswith(staging.STAGE))
    assert job


def test_the_job_is_deleted_with_its_pods_and_has_no_time_to_live() -> None:
    manifest = with_job()[job_key(with_job())]["spec"]["forProvider"]["manifest"]
    assert manifest["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "ttlSecondsAfterFinished" not in manifest["spec"]
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["python3", "-I", "-c", staging_program.TEXT]
    assert container["args"] == ["stage", "hf://owner/model", caches.COMMIT, "/cache", KEY, "[]", "[]"]
    assert not any(word in ("sh", "bash", "/bin/sh") for word in container["command"])


def test_a_secret_is_referenced_and_stands_nowhere_else() -> None:
    source = {"huggingFace": {"repo": "owner/model", "revision": "main", "tokenSecretRef": {"name": "hf", "key": "t"}}}
    made = ask(a_copy(source=source), claimed()).children
    pod = made[job_key(made)].resource["spec"]["forProvider"]["manifest"]["spec"]["template"]["spec"]
    for container in (*pod["containers"], *pod["initContainers"]):
        (token,) = [one for one in container["env"] if one["name"] == "HF_TOKEN"]
        assert token == {
            "name": "HF_TOKEN",
            "valueFrom": {"secretKeyRef": {"name": "hf", "key": "t", "optional": False}},
        }


@pytest.mark.parametrize(
    ("spec", "storage", "is_another"),
    [
        pytest.param({}, {}, False, id="nothing"),
        pytest.param({}, {"stagingImage": "mirror.example.com/init:1"}, True, id="another-image"),
        pytest.param({"attempt": "2"}, {}, True, id="another-attempt"),
        pytest.param({"size": "200Gi"}, {}, True, id="more-room"),
        pytest.param({"retention": "Retain"}, {}, False, id="retention"),
    ],
)
def test_a_job_that_is_made_from_something_else_is_another(spec: Json, storage: Json, is_another: bool) -> None:  # noqa: FBT001
    children = with_job()
    outcome = ask(a_copy(**spec), children, (cluster(**storage),))
    jobs = [key for key in outcome.children if key.startswith(staging.STAGE)]
    assert (jobs != [job_key(children)]) is is_another
    assert len(jobs) == 1


# --- progress ---------------------------------------------------------------------------------------------------------


def pod(**status: Json) -> Json:
    return {"kind": "Pod", "metadata": {"name": "stage-x", "namespace": "ml-team"}, "status": status}


def member(found: Json) -> Json:
    collection = "llama-a-pods"
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {
            "name": "member",
            "namespace": "ml-team",
            "labels": {"kubernetes.crossplane.io/owned-by-collection": collection},
            "ownerReferences": [{"kind": "ObservedObjectCollection", "uid": "uid-collection"}],
        },
        "status": {"atProvider": {"manifest": found}, "conditions": [{"type": "Synced", "status": "True"}]},
    }


def watched(status: Json = None, composite: Json = None) -> dict[str, Json]:
    children = with_job(status, composite)
    children["pods"]["metadata"]["uid"] = "uid-collection"
    return children


WAITING = {"state": {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "hf-token" not found'}}}
FETCHING = {"name": "stage", "state": {"running": {"startedAt": "2026-11-25T00:00:00Z"}}}
FULL = {"name": "stage", "state": {"terminated": {"exitCode": staging_program.NO_ROOM, "reason": "Error"}}}
UNSCHEDULED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available",
}
RUNS = pod(containerStatuses=[FETCHING])
GAVE_UP = {"type": "Failed", "status": "True", "reason": "PodFailurePolicy"}
BY_POLICY = "Container stage for pod ml-team/stage-x failed with exit code 64 matching FailJob rule at index 0"


@pytest.mark.parametrize(
    ("job", "pods", "phase", "reason", "says"),
    [
        pytest.param({"active": 1}, [], "Staging", "Fetching", "fetches", id="a-pod-of-which-nothing-is-known"),
        pytest.param({"active": 1}, [RUNS], "Staging", "Fetching", "fetched", id="it-runs"),
        pytest.param(
            {"active": 1}, [pod(containerStatuses=[{"name": "stage", **WAITING}])],
            "Pending", "CreateContainerConfigError", "hf-token", id="a-secret-is-missing",
        ),
        pytest.param(
            {"active": 1}, [pod(conditions=[UNSCHEDULED])], "Pending", "Unschedulable", "0/3 nodes", id="no-node",
        ),
        pytest.param(
            {"active": 1, "failed": 2}, [pod(containerStatuses=[FETCHING])],
            "Staging", "Fetching", "2 pods have failed before", id="another-attempt-runs",
        ),
        pytest.param({"failed": 1}, [], "Staging", "Retrying", "another pod", id="between-two-pods"),
        pytest.param(
            {"failed": 1, "conditions": [{**GAVE_UP, "message": BY_POLICY}]}, [],
            "Failed", "AccessDenied", "stage-again", id="gave-up-as-the-condition-says",
        ),
        pytest.param(
            {"failed": 1, "conditions": [{**GAVE_UP, "message": "no more"}]},
            [pod(phase="Failed", containerStatuses=[FULL])],
            "Failed", "NoSpace", "raise spec.size", id="gave-up-as-a-pod-says",
        ),
        pytest.param(
            {"conditions": [{**GAVE_UP, "reason": "DeadlineExceeded", "message": "Job was active longer"}]}, [],
            "Failed", "DeadlineExceeded", "active longer", id="too-long",
        ),
        pytest.param(COMPLETE, [], "Ready", None, "complete", id="complete"),
    ],
)  # fmt: skip
def test_the_progress_is_told_with_its_reason(job: Json, pods: Json, phase: str, reason: str | None, says: str) -> None:
    outcome = ask(a_copy(), watched(job), (cluster(), *map(member, pods)))
    told = outcome.status
    assert (told["phase"], told.get("reason"), says in told["message"]) == (phase, reason, True), told


def test_what_a_container_says_is_never_told() -> None:
    said = {"name": "stage", "state": {"terminated": {"exitCode": 1, "message": "token hf_secret", "reason": "Error"}}}
    outcome = ask(a_copy(), watched({"failed": 1}), (cluster(), member(pod(phase="Failed", containerStatuses=[said]))))
    assert "hf_secret" not in repr((outcome.status, outcome.conditions, outcome.events))


@pytest.mark.parametrize(
    ("message", "code", "commit"),
    [
        pytest.param(caches.COMMIT, 0, caches.COMMIT, id="the-commit"),
        pytest.param(caches.COMMIT, 1, None, id="of-a-pod-that-failed"),
        pytest.param("main", 0, None, id="no-commit"),
        pytest.param("$(x)" + caches.COMMIT, 0, None, id="more-than-a-commit"),
    ],
)
def test_only_a_commit_is_taken_from_the_resolver(message: str, code: int, commit: str | None) -> None:
    ended = {"name": "resolve", "state": {"terminated": {"exitCode": code, "message": message}}}
    made = a_copy(revision="main")
    found = member(pod(initContainerStatuses=[ended], containerStatuses=[FETCHING]))
    outcome = ask(made, watched(composite=made), (cluster(), found))
    assert outcome.status.get("commit") == commit


def test_without_a_class_of_storage_nothing_is_made_and_the_remedy_is_told() -> None:
    outcome = ask(a_copy(), store=(fleet.inference_cluster("a"),))
    assert not outcome.children
    assert outcome.status["reason"] == "NoStorageClass"
    assert "weightsClassName of InferenceCluster a" in outcome.status["message"]


# --- hold: each input broken in turn ----------------------------------------------------------------------------------


def _without_provider() -> Json:
    made = cluster()
    del made["status"]["providerConfigRef"]
    return made


BROKEN = {
    "the-cluster-is-missing": (),
    "it-cannot-be-read": ({**cluster(), "spec": {"nodePools": "none"}},),
    "its-class-is-no-text": (cluster(weightsClassName=7),),
    "its-class-is-gone": (fleet.inference_cluster("a"),),
    "its-mode-is-another": (cluster(accessMode="ReadWriteOnce"),),
    "its-provider-is-not-published": (_without_provider(),),
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("state", ["staging", "ready"])
def test_nothing_is_removed_while_an_input_is_wrong(broken: str, state: str) -> None:
    composite, children = ready() if state == "ready" else (a_copy(), with_job())
    outcome = ask(composite, children, BROKEN[broken])
    kept = {key for key in children if key != "pods"}
    assert outcome.children.keys() >= kept
    was = children["claim"]["spec"]["forProvider"]["manifest"]["spec"]
    assert outcome.children["claim"].resource["spec"]["forProvider"]["manifest"]["spec"] == was
    if state == "ready":
        assert outcome.status["phase"] == "Ready"


OBSERVATIONS = {
    "nothing-of-the-claim": ("claim", {}),
    "a-claim-without-identity": ("claim", {"atProvider": {"manifest": {"kind": "PersistentVolumeClaim"}}}),
    "nothing-of-the-job": ("job", {}),
    "a-job-that-runs-again": ("job", {"atProvider": {"manifest": {"status": {"active": 1}}}}),
    "a-job-that-failed": ("job", {"atProvider": {"manifest": {"status": {"conditions": [GAVE_UP]}}}}),
    "a-status-of-another-type": ("claim", "gone"),
}


@pytest.mark.parametrize("what", OBSERVATIONS)
def test_complete_files_stay_complete_whatever_is_observed_of_their_job(what: str) -> None:
    composite, children = ready()
    which, status = OBSERVATIONS[what]
    key = job_key(children) if which == "job" else which
    outcome = ask(composite, {**children, key: {**children[key], "status": status}})
    assert outcome.status["phase"] == "Ready"
    assert outcome.children.keys() >= children.keys() - {"pods"}


def test_a_job_that_is_complete_is_never_made_anew() -> None:
    composite, children = ready()
    outcome = ask(
        {**composite, "spec": {**composite["spec"], "attempt": "3"}}, children, (cluster(stagingImage="x:1"),)
    )
    assert [key for key in outcome.children if key.startswith(staging.STAGE)] == [job_key(children)]


def test_a_claim_that_was_lost_is_filled_anew() -> None:
    composite, children = ready()
    lost = {
        **children,
        "claim": seen(children["claim"], {"metadata": {"uid": "another"}, "status": {"phase": "Bound"}}),
    }
    outcome = ask(composite, lost)
    assert outcome.status["phase"] == "Pending"
    jobs = {key for key in outcome.children if key.startswith(staging.STAGE)}
    assert len(jobs) == 2, "the new one, and until then the old one"
    after = ask(
        {**composite, "status": outcome.status},
        {**lost, **{key: one.resource for key, one in outcome.children.items()}, "claim": lost["claim"]},
    )
    assert after.status["claimUid"] == "another"


def test_retained_files_outlive_their_copy() -> None:
    policies = ask(a_copy(retention="Retain")).children["claim"].resource["spec"]["managementPolicies"]
    assert "Delete" not in policies


@pytest.mark.parametrize("broken", BROKEN)
def test_files_outlive_their_copy_as_it_is_wanted_now_whatever_is_wrong(broken: str) -> None:
    """Who wants to keep them because the cluster is away, and deletes the cache, would lose them when it is back."""
    composite, children = ready()
    for wanted, policies in (("Retain", ["Observe", "Create", "Update"]), ("Delete", None)):
        composite["spec"]["retention"] = wanted
        held = ask(composite, children, BROKEN[broken]).children
        assert held["claim"].resource["spec"].get("managementPolicies") == policies
        assert held["claim"].resource["spec"]["forProvider"] == children["claim"]["spec"]["forProvider"]
        children["claim"]["spec"] = dict(held["claim"].resource["spec"])


def test_a_claim_that_is_only_looked_at_by_hand_stays_so() -> None:
    composite, children = ready()
    children["claim"]["spec"]["managementPolicies"] = ["Observe"]
    for wanted in ("Retain", "Delete"):
        composite["spec"]["retention"] = wanted
        held = ask(composite, children, ()).children["claim"].resource
        assert held["spec"]["managementPolicies"] == ["Observe"]


@pytest.mark.parametrize(
    ("allowed", "reason"),
    [
        pytest.param({"names": ["others"]}, "NamespaceNotAllowed", id="another namespace"),
        pytest.param({}, "NamespaceNotAllowed", id="nobody"),
        pytest.param({"matchLabels": {"tier": "prod"}}, "NamespaceUnknown", id="a Namespace that was not found"),
    ],
)
def test_a_cluster_that_does_not_allow_the_namespace_gets_nothing_new(allowed: Json, reason: str) -> None:
    """Whoever writes a copy by hand, or names the cluster in a replica, reaches it as little."""
    closed = cluster()
    closed["spec"]["allowedNamespaces"] = allowed
    new = ask(a_copy(), store=(closed,))
    assert new.children == {}
    assert (new.status["phase"], new.status["reason"]) == ("Pending", reason)
    assert "InferenceCluster a takes nothing new" in new.status["message"]
    composite, children = ready()
    kept = ask(composite, children, store=(closed,))
    assert kept.children.keys() == children.keys()
    assert kept.status["phase"] == "Ready"
    lost = {key: child for key, child in children.items() if not key.startswith(staging.STAGE)}
    assert ask(composite, lost, store=(closed,)).children.keys() == lost.keys(), "no Job is made there"


def test_a_cluster_allows_a_namespace_by_its_label() -> None:
    open_ = cluster()
    open_["spec"]["allowedNamespaces"] = {"matchLabels": {"tier": "prod"}}
    labels = {"name": "ml-team", "labels": {"tier": "prod"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": labels}
    assert "claim" in ask(a_copy(), store=(open_, namespace)).children
