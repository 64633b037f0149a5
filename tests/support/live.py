"""Suites that run a real component: they run, or fail and say what is missing, or are skipped by name.

MODELPLANE_SKIP=crossplane-core,packages pytest tests/conformance
"""

from __future__ import annotations

import os
import shutil

import pytest

VARIABLE = "MODELPLANE_SKIP"


def needs(suite: str, *programs: str) -> None:
    """Skip when `suite` is named in MODELPLANE_SKIP; fail when a program it needs is not installed."""
    named = {name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()}
    if suite in named:
        pytest.skip(f"{VARIABLE} names {suite}")
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.fail(f"{suite} needs {', '.join(missing)} on PATH; install it, or skip by name with {VARIABLE}={suite}")
