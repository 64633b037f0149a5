"""Structural validation as in the API server: a kind of a definition, its stored form and its problems.

The package must accept a document if and only if the API server accepts it.
"""

from modelplane.structural.kind import Kind, kind_of
from modelplane.structural.problem import Cause, Path, Problem, Severity

__all__ = ["Cause", "Kind", "Path", "Problem", "Severity", "kind_of"]
