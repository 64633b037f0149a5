# Generated from apis/backendrules/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from typing import Literal
from modelplane_schemas.wire import Document, ObjectMeta, Wire


class Rule(Wire):
    name: str = Field(description="Name of the rule, shown where the rule decides or fails.")
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] = Field(
        description="Backend that the rule prefers."
    )
    priority: int = Field(
        description="Priority of the backend where the rule matches. The shipped rules use 50 to 100. A negative one puts a backend behind those without a rule.",
    )
    when: str = Field(
        description="CEL expression over spec, the spec of the ModelDeployment with its resolved engine, for example spec.engine.type == 'vllm' && has(spec.prefill). A rule that does not compile, or that cannot be evaluated on a deployment, counts as no match.",
    )


class Invalid(Wire):
    name: str = Field(description="Name of the rule.")
    message: str | None = Field(default=None, description="The error, with line and column.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None
    namespace: str | None = None


class Status(Wire):
    """
    Observed state of the rules.
    """

    rules: int | None = Field(default=None, description="Number of rules.")
    invalid: list[Invalid] | None = Field(default=None, description="Rules that do not compile.")
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


class Spec(Wire):
    """
    The rules.
    """

    rules: list[Rule] = Field(
        description="Rules, in any order. For each backend the highest priority among its matching rules counts, and 0 without a match.",
    )
    crossplane: Crossplane | None = None


class BackendRules(Document):
    """
    BackendRules are the platform's preferences between backends. A rule decides where clusters would take several backends equally often, and the order of backends for a cluster that offers all of them. All BackendRules count together with the rules that Modelplane ships.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["BackendRules"] = "BackendRules"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
