"""Namespaces that are allowed, as they are written: what cannot be read allows nobody."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import tenants
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access

Json = Any
ALLOWED, REFUSED, UNKNOWN = Access.ALLOWED, Access.REFUSED, Access.UNKNOWN


@pytest.mark.parametrize(
    ("spec", "labels", "wanted"),
    [
        pytest.param({}, None, ALLOWED, id="no field"),
        pytest.param({"allowedNamespaces": None}, None, ALLOWED, id="null is no field"),
        pytest.param({"allowedNamespaces": {}}, None, REFUSED, id="an empty block"),
        pytest.param({"allowedNamespaces": {"names": ["ml"]}}, None, REFUSED, id="the beginning of its name"),
        pytest.param({"allowedNamespaces": {"names": ["ml-team"]}}, None, ALLOWED, id="its name"),
        pytest.param({"allowedNamespaces": {"matchLabels": {"a": ""}}}, {"a": ""}, ALLOWED, id="an empty value"),
        pytest.param({"allowedNamespaces": {"matchLabels": {"a": ""}}}, {}, REFUSED, id="an empty value is no absence"),
        pytest.param(
            {"allowedNamespaces": {"matchLabels": {"a": "x", "b": "y"}}}, {"a": "x"}, REFUSED, id="one of two"
        ),
        pytest.param({"allowedNamespaces": {"matchLabels": {"a": "x"}}}, None, UNKNOWN, id="labels not known"),
        pytest.param(
            {"allowedNamespaces": {"matchLabels": {"a": "x"}}}, {"a": 7}, UNKNOWN, id="labels of another type"
        ),
        pytest.param({"allowedNamespaces": {"matchLabels": {"a": "x"}}}, "text", UNKNOWN, id="no labels at all"),
        pytest.param({"allowedNamespaces": "everybody"}, None, REFUSED, id="a text"),
        pytest.param({"allowedNamespaces": {"names": "ml-team"}}, None, REFUSED, id="a text in place of names"),
        pytest.param({"allowedNamespaces": {"names": ["ml-team", 7]}}, None, REFUSED, id="a number among names"),
        pytest.param({"allowedNamespaces": {"names": [], "matchLabels": {"a": None}}}, {}, REFUSED, id="a null label"),
        pytest.param("text", None, REFUSED, id="a spec of another type"),
    ],
)
def test_who_is_allowed(spec: Json, labels: Json, wanted: Access) -> None:
    found = tenants.readable({"metadata": {"name": "a"}, "spec": spec})
    known = None if labels is None else tenants.labels({"metadata": {"name": "ml-team", "labels": labels}})
    assert tenancy.access(found, "ml-team", known) is wanted
