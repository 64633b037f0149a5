# Generated from apis/modelcachecopies/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class CacheRef(Wire):
    """
    The ModelCache of the same namespace.
    """

    name: str = Field(description="Name of the ModelCache.")


class Storage(Wire):
    """
    The volume, as in the ModelCache.
    """

    class_name: str | None = Field(default=None, description="StorageClass. Default is that of the cluster.")
    access_mode: Literal["ReadWriteMany", "ReadWriteOnce"] | None = Field(
        default=None, description="Access mode of the claim. Default is that of the cluster."
    )
    node_group: str | None = Field(
        default=None,
        description="A LocalModelNodeGroup of KServe on the cluster, to whose nodes KServe fetches the files.",
    )


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Gcs(Wire):
    """
    A prefix of a public Google Cloud Storage bucket.
    """

    uri: str = Field(description="Bucket and prefix.")


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None


class TokenSecretRef(Wire):
    """
    Secret of this namespace on every cluster with a token for gated repositories. It is referenced by name and never read or copied.
    """

    name: str = Field(description="Name of the Secret.")
    key: str | None = Field(default=None, description="Key of the token in the Secret. Default: HF_TOKEN.")


class CredentialsSecretRef(Wire):
    """
    Secret of this namespace on every cluster whose keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are the credentials; AWS_ENDPOINT_URL and AWS_DEFAULT_REGION are optional. Without it the bucket is read anonymously.
    """

    name: str = Field(description="Name of the Secret.")


class Status(Wire):
    """
    Progress on the cluster.
    """

    phase: Literal["Pending", "Staging", "Ready", "Failed"] | None = Field(
        default=None, description="Progress. Ready stays while the claim is the same, whatever happens to its pods."
    )
    reason: str | None = Field(default=None, description="Reason why it is not ready.")
    message: str | None = Field(default=None, description="Message about the same.")
    claim_name: str | None = Field(default=None, description="PersistentVolumeClaim on the cluster.")
    claim_uid: str | None = Field(
        default=None, description="Identity of the claim that was filled. Another claim is filled anew."
    )
    access_mode: str | None = Field(default=None, description="Access mode of the claim.")
    commit: str | None = Field(default=None, description="Commit that the revision was resolved to.")
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class Crossplane(Wire):
    """
    Configures how Crossplane will reconcile this composite resource
    """

    composition_ref: CompositionRef | None = None
    composition_selector: CompositionSelector | None = None
    composition_revision_ref: CompositionRef | None = None
    composition_revision_selector: CompositionSelector | None = None
    composition_update_policy: Literal["Automatic", "Manual"] | None = None
    resource_refs: list[ResourceRef] | None = None


class HuggingFace(Wire):
    """
    A repository of the Hugging Face hub.
    """

    repo: str = Field(description="Owner and name, for example Qwen/Qwen3-8B.")
    revision: str | None = Field(
        default=None,
        description="Commit, tag or branch. The first cluster resolves a tag or a branch to a commit, and all clusters stage that commit (status.revision). Default: main.",
    )
    include: list[str] | None = Field(
        default=None, description="Glob patterns of the files to take. Without patterns all files are taken."
    )
    exclude: list[str] | None = Field(
        default=None, description="Glob patterns of files to leave out, for example original/* or *.pth."
    )
    token_secret_ref: TokenSecretRef | None = None


class S3(Wire):
    """
    A prefix of an S3-compatible bucket.
    """

    uri: str = Field(description="Bucket and prefix.")
    credentials_secret_ref: CredentialsSecretRef | None = None


class Source(Wire):
    """
    Origin of the files, as exactly one block. After a change other files are staged beside the present ones. Replicas keep the old files until they are replaced.
    """

    hugging_face: HuggingFace | None = None
    s3: S3 | None = None
    gcs: Gcs | None = None


class Spec(Wire):
    """
    The files and the cluster.
    """

    cache_ref: CacheRef
    cluster_name: str = Field(description="The InferenceCluster.")
    key: str = Field(
        description="Identity of the files: a digest of source, revision and patterns. It is the folder in the claim.",
    )
    commit: str | None = Field(
        default=None, description="The commit to stage, where another cluster has resolved the revision before."
    )
    source: Source
    size: str = Field(description="Room in the claim.")
    storage: Storage | None = None
    retention: Literal["Delete", "Retain"] | None = Field(
        default=None, description="Retain keeps the claim when this object is deleted. Default: Delete."
    )
    attempt: str | None = Field(
        default=None,
        description="Text of the attempt, of which another one stages again after a failure. It is the annotation modelplane.ai/stage-again of the ModelCache.",
    )
    crossplane: Crossplane | None = None


class ModelCacheCopy(Document):
    """
    ModelCacheCopy is the copy of a ModelCache on one cluster: a claim, and the pod that fills it. A ModelCache composes it; it is not written by hand.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelCacheCopy"] = "ModelCacheCopy"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
