"""Hold: whatever breaks, in whatever combination and order, a service that serves keeps everything that runs."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane_functions.exchange import Ready
from tests.support import laws, serving
from tests.support.serving import Running

# Breaks that leave nothing to route to, or nothing that may be routed. Others change the route, as they should.
LASTING: list[Callable[[Running], None]] = [
    serving.no_gateway,
    serving.gateway_of_an_unknown_name,
    serving.gateway_that_cannot_be_read,
    serving.gateway_whose_type_needs_a_host_name,
    serving.host_of_somebody_else,
    serving.nothing_matches,
    serving.nothing_is_ready,
    serving.endpoints_lose_their_status,
    serving.endpoints_cannot_be_read,
    serving.selectors_match_something_else,
    serving.too_many_priorities,
    *serving.ASKED_IN_VAIN,
]


@settings(max_examples=laws.in_proportion(60), deadline=None)
@given(st.lists(st.sampled_from(LASTING), min_size=1, max_size=4, unique=True), st.booleans())
def test_hold_under_any_combination_of_faults(breaks: list[Callable[[Running], None]], standby: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    running = Running(standby=standby, auth=serving.KEYS)
    before, route = set(running.children), running.route
    for break_ in breaks:
        try:
            break_(running)
        except (KeyError, StopIteration):
            continue  # an earlier fault took away what this one breaks
        outcome = running.settle()
        assert before <= outcome.children.keys()
        assert running.route == route
        assert outcome.ready is Ready.FALSE
