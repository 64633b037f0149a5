"""Structural validation as the API server does it: one kind of a definition, its stored form, its problems.

What may never happen here: a document taken that the API server refuses, or the other way round.
"""

from modelplane.structural.kind import Kind, kind_of
from modelplane.structural.problem import Cause, Path, Problem, Severity

__all__ = ["Cause", "Kind", "Path", "Problem", "Severity", "kind_of"]
