# Generated from apis/modelcaches/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class ClusterSelector(Wire):
    """
    InferenceClusters to stage on, by their labels; {} is all of them. Left out, the cache follows its replicas: it is staged where deployments that name it are placed.
    """

    match_labels: dict[str, str] | None = Field(default=None, description="Labels that must be equal.")


class Storage(Wire):
    """
    The volume on each cluster. It does not change for a cluster that has one; another nodeGroup gives the files a new key.
    """

    class_name: str | None = Field(
        default=None,
        description="StorageClass. Default is that of the cluster (InferenceCluster spec.storage.weightsClassName).",
    )
    access_mode: Literal["ReadWriteMany", "ReadWriteOnce"] | None = Field(
        default=None,
        description="Access mode of the claim. Default is that of the cluster. ReadWriteOnce serves the pods of one node, so that replicas of several pods are not placed with it.",
    )
    node_group: str | None = Field(
        default=None,
        description="A LocalModelNodeGroup of KServe on each cluster. KServe then fetches the files to the disk of each of its nodes, and only replicas with the backend KServe can mount them. It must hold the nodes of the pools where these are placed.",
    )


class Summary(Wire):
    """
    Counts over clusters.
    """

    wanted: int | None = Field(default=None, description="Clusters that should hold it.")
    ready: int | None = Field(default=None, description="Clusters that hold it.")
    failed: int | None = Field(default=None, description="Clusters on which staging gave up.")


class Cluster(Wire):
    name: str = Field(description="Name of the InferenceCluster.")
    key: str | None = Field(default=None, description="Key of the files there.")
    phase: Literal["Pending", "Staging", "Ready", "Failed", "Retained"] = Field(
        description="Progress. Retained means that complete files are kept although the cluster is not wanted any more, or the source has changed.",
    )
    claim_name: str | None = Field(default=None, description="PersistentVolumeClaim on that cluster.")
    access_mode: str | None = Field(default=None, description="Access mode of the claim.")
    reason: str | None = Field(default=None, description="Reason why it is not ready.")
    message: str | None = Field(default=None, description="Message about the same.")


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
    Progress on the clusters.
    """

    source: str | None = Field(default=None, description="The source as one URI, for example hf://Qwen/Qwen3-8B@main.")
    revision: str | None = Field(default=None, description="Revision staged, a commit once one is known.")
    key: str | None = Field(
        default=None, description="Identity of the files: a digest of source, revision and patterns."
    )
    summary: Summary | None = None
    clusters: list[Cluster] | None = Field(
        default=None, description="One entry for each cluster and key, sorted by both."
    )
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
    Origin of the files, the room that they need, and their clusters.
    """

    source: Source
    size: str = Field(
        description="Room on each cluster, more than the files need. It may grow where the storage class allows it.",
    )
    cluster_selector: ClusterSelector | None = None
    placement: Literal["Prefer", "Require"] | None = Field(
        default=None,
        description="Require means that replicas run from the cache alone. With a clusterSelector only clusters that hold the files are eligible (reason CacheNotReady); without one a placed replica waits until its cluster has them. Prefer means that replicas go first to clusters that hold the files, and fetch model.uri themselves elsewhere. Default: Require.",
    )
    storage: Storage | None = None
    retention: Literal["Delete", "Retain"] | None = Field(
        default=None,
        description="Retain keeps (pins) the files of a cluster that is no longer wanted, and all claims when the ModelCache is deleted. Delete removes them once no replica uses them. Default: Delete.",
    )
    crossplane: Crossplane | None = None


class ModelCache(Document):
    """
    ModelCache keeps the weights of one model on the clusters that serve it: fetched once per cluster into a volume, which replicas mount read-only.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelCache"] = "ModelCache"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
