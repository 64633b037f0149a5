"""Refusals of a workload that a backend cannot run."""

from __future__ import annotations

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.backend import Backend
from modelplane.workload.model import Workload


def refused_at(backend: Backend, workload: Workload, path: str, says: str) -> None:
    """Check that the backend refuses the workload at the field, in words with `says`."""
    with pytest.raises(InvalidInput) as caught:
        backend.check(workload)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)
