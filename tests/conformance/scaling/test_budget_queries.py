"""The queries of the page about budgets, by the engine of Prometheus."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.scaling import promql
from tests.support import live

PAGE = Path(__file__).resolve().parents[3] / "docs" / "budgets.md"
METRIC = "gen_ai_client_token_usage_sum"


@pytest.fixture(scope="module", autouse=True)
def _needs() -> None:
    live.needs("scaling", "go")


def queries() -> list[str]:
    """Return the queries of the page, each after a comment that begins a line."""
    (block,) = re.findall(r"```promql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [" ".join(part.split()) for part in re.split(r"^#.*$", block, flags=re.MULTILINE) if part.strip()]


def used(service: str, client: str, kind: str, per_second: float) -> dict[str, str]:
    labels = f'modelplane_service="{service}",modelplane_client="{client}",gen_ai_token_type="{kind}"'
    return {f"{METRIC}{{{labels}}}": promql.counter(per_second)}


def test_tokens_of_a_namespace_are_those_of_all_its_services_and_none_is_counted_twice() -> None:
    in_days, *_ = queries()
    series = (
        used("ml-team/llama", "alice", "input", 4)
        | used("ml-team/llama", "alice", "output", 1)
        | used("ml-team/qwen", "bob", "input", 5)
        | used("ml-team/qwen", "bob", "cached_input", 99)
    )
    (value,) = promql.ask(series, [in_days])
    assert value == pytest.approx(10 * 900, rel=0.1)


def test_tokens_per_second_are_told_for_each_service_and_client() -> None:
    _, by_client, *_ = queries()
    series = used("ml-team/llama", "alice", "input", 4) | used("ml-team/llama", "alice", "output", 1)
    assert promql.ask(series, [by_client]) == [pytest.approx(5)]


def test_what_was_refused_and_what_nobody_could_count() -> None:
    _, _, *of_proxies = queries()
    found = [re.search(r"envoy_cluster_ai_\w+", query) for query in of_proxies]
    series = {f'{name[0]}{{pod="{pod}"}}': promql.counter(2) for name in found if name for pod in ("a", "b")}
    assert promql.ask(series, of_proxies) == [pytest.approx(4)] * len(of_proxies)
