"""The answer of `modelplane class -o json`: Kubernetes objects in the form of `kubectl get -o json`."""

from __future__ import annotations

from modelplane_cli.output.models.render import Rendering


class Written(Rendering):
    """The InferenceClasses and the InferenceCluster, for `kubectl apply`."""
