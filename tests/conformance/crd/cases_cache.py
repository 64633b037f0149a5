"""Refused ModelCaches and ModelCacheCopies."""

from __future__ import annotations

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, one
from tests.conformance.crd.documents import GONE

_REF = ("spec", "modelCacheRef")
_HUB = ("spec", "source", "huggingFace")

CACHE: tuple[Case, ...] = (
    one("cache-name", "ModelCache", ("metadata", "name"), "a.b", "metadata.name must be lower-case", at=""),
    one("cache-without-source", "ModelCache", ("spec", "source"), GONE, Cause.REQUIRED),
    one("cache-without-size", "ModelCache", ("spec", "size"), GONE, Cause.REQUIRED),
    one("cache-size-in-bytes", "ModelCache", ("spec", "size"), "300000000000", Cause.INVALID),
    one("cache-repo-without-owner", "ModelCache", (*_HUB, "repo"), "llama", Cause.INVALID),
    one("cache-repo-as-an-option", "ModelCache", (*_HUB, "repo"), "--help/x", Cause.INVALID),
    one("cache-repo-that-expands", "ModelCache", (*_HUB, "repo"), "owner/$(HF_TOKEN)", Cause.INVALID),
    one("cache-revision-that-expands", "ModelCache", (*_HUB, "revision"), "$(HF_TOKEN)", Cause.INVALID),
    one("cache-revision-as-an-option", "ModelCache", (*_HUB, "revision"), "--token", Cause.INVALID),
    one(
        "cache-pattern-upwards",
        "ModelCache",
        (*_HUB, "include"),
        ["a/../b"],
        'must not contain ".."',
        at="spec.source.huggingFace.include.0",
    ),
    one(
        "cache-pattern-that-expands",
        "ModelCache",
        (*_HUB, "exclude"),
        ["$(x)"],
        Cause.INVALID,
        at="spec.source.huggingFace.exclude.0",
    ),
    one(
        "cache-pattern-with-a-quote",
        "ModelCache",
        (*_HUB, "exclude"),
        ['a"b'],
        Cause.INVALID,
        at="spec.source.huggingFace.exclude.0",
    ),
    one(
        "cache-source-s3-upwards",
        "ModelCache",
        ("spec", "source"),
        {"s3": {"uri": "s3://b/a/../c"}},
        'must not contain ".."',
        at="spec.source.s3.uri",
    ),
    one(
        "cache-source-gcs-of-another-scheme",
        "ModelCache",
        ("spec", "source"),
        {"gcs": {"uri": "s3://b/a"}},
        Cause.INVALID,
        at="spec.source.gcs.uri",
    ),
    one("cache-placement", "ModelCache", ("spec", "placement"), "Maybe", Cause.NOT_SUPPORTED),
    one("cache-retention", "ModelCache", ("spec", "retention"), "Forever", Cause.NOT_SUPPORTED),
    one(
        "cache-access-mode",
        "ModelCache",
        ("spec", "storage"),
        {"accessMode": "ReadOnlyMany"},
        Cause.NOT_SUPPORTED,
        at="spec.storage.accessMode",
    ),
    one("copy-key", "ModelCacheCopy", ("spec", "key"), "xyz", Cause.INVALID),
    one("copy-commit", "ModelCacheCopy", ("spec", "commit"), "main", Cause.INVALID),
    one("copy-without-cluster", "ModelCacheCopy", ("spec", "clusterName"), GONE, Cause.REQUIRED),
    one("cache-source-of-nothing", "ModelCache", ("spec", "source"), {}, "write exactly one"),
    one(
        "cache-source-twice",
        "ModelCache",
        ("spec", "source", "gcs"),
        {"uri": "gs://b/a"},
        "write exactly one",
        at="spec.source",
    ),
    one("cache-that-shrinks", "ModelCache", ("spec", "size"), "200Gi", "size must not shrink", old="300Gi"),
    Case(
        "cache-preferred-on-one-node",
        "ModelCache",
        ((("spec", "placement"), "Prefer"), (("spec", "storage"), {"accessMode": "ReadWriteOnce"})),
        "spec",
        "placement Prefer needs a volume",
    ),
    one(
        "cache-on-nodes-of-a-branch",
        "ModelCache",
        ("spec", "storage"),
        {"nodeGroup": "gpus"},
        "storage.nodeGroup needs source.huggingFace with a commit",
        at="spec",
    ),
    Case(
        "cache-on-nodes-of-a-bucket",
        "ModelCache",
        ((("spec", "source"), {"gcs": {"uri": "gs://b/a"}}), (("spec", "storage"), {"nodeGroup": "gpus"})),
        "spec",
        "storage.nodeGroup needs source.huggingFace with a commit",
    ),
    *(
        Case(
            f"cache-on-nodes-with-{key}",
            "ModelCache",
            (((*_HUB, "revision"), "a" * 40), ((*_HUB, key), value), (("spec", "storage"), {"nodeGroup": "gpus"})),
            "spec",
            "storage.nodeGroup takes whole public repositories",
        )
        for key, value in (("include", ["a"]), ("exclude", ["a"]), ("tokenSecretRef", {"name": "hf"}))
    ),
    *(
        Case(
            f"cache-on-nodes-with-{key}",
            "ModelCache",
            (((*_HUB, "revision"), "a" * 40), (("spec", "storage"), {"nodeGroup": "gpus", key: value})),
            "spec.storage",
            "write nodeGroup, or className and accessMode",
        )
        for key, value in (("className", "nfs"), ("accessMode", "ReadWriteMany"))
    ),
    one(
        "cache-on-nodes-of-no-name",
        "ModelCache",
        ("spec", "storage"),
        {"nodeGroup": "a_b"},
        Cause.INVALID,
        at="spec.storage.nodeGroup",
    ),
    one("replica-cache-uri-of-a-branch", "ModelReplica", ("spec", "cacheUri"), "hf://o/m:main", Cause.INVALID),
    one("replica-cache-uri-elsewhere", "ModelReplica", ("spec", "cacheUri"), "pvc://other/m", Cause.INVALID),
    one("llm-cache-without-name", "LLMInference", _REF, {}, Cause.REQUIRED, at="spec.modelCacheRef.name"),
    one("llm-cache-of-no-name", "LLMInference", _REF, {"name": ""}, Cause.INVALID, at="spec.modelCacheRef.name"),
    Case(
        "llm-cache-beside-a-volume",
        "LLMInference",
        ((("spec", "model"), "pvc://weights/qwen"), (_REF, {"name": "qwen"})),
        "spec",
        "model already names a volume with the weights",
    ),
    one("copy-source-of-nothing", "ModelCacheCopy", ("spec", "source"), {}, "write exactly one"),
    one(
        "copy-pattern-upwards",
        "ModelCacheCopy",
        (*_HUB, "include"),
        ["a/../b"],
        'must not contain ".."',
        at="spec.source.huggingFace.include.0",
    ),
    one("copy-of-another-key", "ModelCacheCopy", ("spec", "key"), "f" * 16, "key is immutable", old="e" * 16),
    one("copy-on-another-cluster", "ModelCacheCopy", ("spec", "clusterName"), "b", "clusterName is immutable", old="a"),
    one("stack-of-another-cluster", "ServingStack", ("spec", "clusterName"), "b", "clusterName is immutable", old="a"),
)
