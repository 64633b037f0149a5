"""Time that the start of an engine may take, for every kind and backend.

The image is pulled, kernels are compiled and graphs are captured, and the weights are fetched: 250 MB/s is what a slow
registry or object store gives one pod.
"""

from __future__ import annotations

BASE_SECONDS = 20 * 60
BYTES_PER_SECOND = 250_000_000


def seconds(weights: int) -> int:
    """Return the time for so many bytes of weights."""
    return BASE_SECONDS + weights // BYTES_PER_SECOND
