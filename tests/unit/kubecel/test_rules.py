"""Rules over JSON values: what holds, and what is said of one that cannot be evaluated."""

from __future__ import annotations

import pytest

from kubecel import rules
from kubecel.errors import EvaluationError


@pytest.mark.parametrize(
    ("rule", "value", "old", "holds"),
    [
        pytest.param("self.replicas >= 0", {"replicas": 1}, None, True, id="field"),
        pytest.param("!has(self.a) || self.a == oldSelf.a", {"a": 1}, {"a": 2}, False, id="transition"),
        pytest.param("self.names.all(n, n.matches('^[a-z]+$'))", {"names": ["a", "B"]}, None, False, id="pattern"),
        pytest.param("self.?a.orValue(3) == 3", {}, None, True, id="optional"),
        pytest.param("quantity(self.m).compareTo(quantity('1Gi')) > 0", {"m": "2Gi"}, None, True, id="quantity"),
        pytest.param(
            "self.__namespace__ == 'x' && self.a__dash__b == 1", {"namespace": "x", "a-b": 1}, None, True, id="escaped"
        ),
        pytest.param("size(self) == 2 && self.exists_one(k, k == 'a')", {"a": 1, "b": 2}, None, True, id="map"),
        pytest.param("self == 1.5 || self == null", None, None, True, id="null"),
    ],
)
def test_validation_rules(rule: str, value: object, old: object, holds: bool) -> None:  # noqa: FBT001 - a column of the table
    assert rules.compile(rule).evaluate(value, old=old) is holds


def test_a_rule_that_cannot_be_evaluated_says_which_and_why() -> None:
    with pytest.raises(EvaluationError, match=r"self\.a > 1.*no such key: a"):
        rules.compile("self.a > 1").evaluate({})
