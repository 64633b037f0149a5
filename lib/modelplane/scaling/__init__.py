"""Scaling of a deployment by load: its author's wish, the metrics that show the load, and the decision on a scaler.

The scaler writes `spec.replicas` through the scale subresource. Placement knows nothing of it.
"""

from modelplane.scaling.decision import decide

__all__ = ["decide"]
