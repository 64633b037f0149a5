"""Which composer answers for which kind.

A composer's module is imported when its kind is first asked for, or once the server listens, whichever is first: so it
listens at once, and a fault in one composer stops no other kind.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from modelplane import names
from modelplane.errors import Unsupported
from modelplane_functions.exchange import Observed, Outcome

Compose: TypeAlias = Callable[[Observed], Outcome]

_COMPOSERS = "modelplane_functions.compose"


@dataclass(frozen=True, slots=True)
class Composer:
    """How one kind is composed: its module under `compose`, and the condition that says when its author must act."""

    module: str
    condition: str

    def load(self) -> Compose:
        """Return the module's `compose`.

        Raises: Unsupported when this build has no such module; an error inside the module is a bug and passes through.
        """
        path = f"{_COMPOSERS}.{self.module}"
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
            raise Unsupported(
                f"this build of the function has no composer {self.module!r}; install a release that has it"
            ) from error
        return cast(Compose, module.compose)

    def prepare(self) -> None:
        """Load the module, and let it make what its first call would have to. Raises: as `load`."""
        self.load()
        prepare = getattr(sys.modules.get(f"{_COMPOSERS}.{self.module}"), "prepare", None)
        if prepare is not None:
            prepare()


COMPOSERS: Mapping[str, Composer] = {
    "InferenceClass": Composer("inference_class", "Accepted"),
    "InferenceCluster": Composer("inference_cluster", "ClusterReady"),
    "InferenceGateway": Composer("inference_gateway", "Accepted"),
    "LLMInference": Composer("llm_inference", "Accepted"),
    "ModelDeployment": Composer("model_deployment", "ReplicasScheduled"),
    "ModelEndpoint": Composer("model_endpoint", "EndpointResolved"),
    "ModelReplica": Composer("model_replica", "WorkloadReady"),
    "ModelService": Composer("model_service", "Accepted"),
}


def composer(api_version: str, kind: str) -> Composer:
    """Return the composer of a kind.

    Raises: Unsupported for a kind that is not ours; the message lists those that are.
    """
    if api_version == names.API_VERSION and kind in COMPOSERS:
        return COMPOSERS[kind]
    asked = f"{api_version}, Kind={kind}" if kind else "a request without a composite resource"
    raise Unsupported(
        f"this function does not compose {asked}; it composes {names.API_VERSION} {', '.join(sorted(COMPOSERS))}; "
        "name another function in the Composition's pipeline",
        reason="UnknownKind",
    )
