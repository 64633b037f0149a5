"""Rules between backends whose evaluation a deployment's own lists make dear."""

from __future__ import annotations

from kubecel import interruption
from modelplane.render.backends import preference
from modelplane.workload.rule import Rule

DEAR = "spec.workers.template.spec.containers.all(c, c.env.all(a, c.env.all(b, c.env.all(d, a.name + b.name != ''))))"


def test_a_rule_that_a_long_list_makes_dear_counts_as_no_match_and_disturbs_no_other() -> None:
    env = [{"name": f"E{number}", "value": "x"} for number in range(300)]
    spec = {"engine": {"type": "vllm"}, "workers": {"template": {"spec": {"containers": [{"env": env}]}}}}
    passed = 0

    def counted() -> None:
        nonlocal passed
        passed += 1

    dear = [Rule("Native", 200, f"{DEAR} && {number} > -1", f"dear {number}", "fleet") for number in range(64)]
    with interruption.asking(counted):
        found = preference.on(spec, [Rule("KServe", 60, "has(spec.engine)", "first", "fleet"), *dear])
    assert found.of("KServe").priority == 60
    assert found.of("Native").priority == 0
    assert len(found.failures) == 64
    assert all("cost limit" in failure for failure in found.failures)
    assert passed < preference.COST_MAX
