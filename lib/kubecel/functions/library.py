"""The functions that `signatures` declares, from the modules of their subjects."""

from __future__ import annotations

from kubecel.functions import (
    arithmetic,
    formatting,
    lists,
    named_formats,
    network,
    patterns,
    quantities,
    strings,
    times,
    urls,
)
from kubecel.run import plan


def functions(minor: int) -> plan.Functions:
    """Return the functions of the environment of Kubernetes 1.`minor`, by name."""
    return {
        **arithmetic.FUNCTIONS,
        **times.FUNCTIONS,
        **strings.FUNCTIONS,
        **strings.patterns(patterns.compile),
        **lists.FUNCTIONS,
        **quantities.functions(minor),
        **network.FUNCTIONS,
        **urls.functions(minor),
        **named_formats.functions(minor),
        **formatting.FUNCTIONS,
    }
