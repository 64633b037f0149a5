"""What a function is handed is what it would have received in a request."""

from __future__ import annotations

from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from hypothesis import given
from hypothesis import strategies as st

from modelplane_cli.simulator import sent
from modelplane_functions import wire

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_LEAVES = (
    st.none()
    | st.booleans()
    | _TEXT
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**60), 2**60)
    | st.sampled_from([2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 1.0, 0.5, 1e300])
)
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=12
)


def typed(value: Any) -> Any:
    """Return a value in which 1 and 1.0, and 1 and True, are told apart."""
    if isinstance(value, dict):
        return {name: typed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value


@given(spec=_JSON, managers=st.sampled_from(["none", "some"]))
def test_an_object_is_received_as_the_protocol_carries_it(spec: Any, managers: str) -> None:
    managed = {"managedFields": [{"manager": "kubectl"}]} if managers == "some" else {}
    found = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "it", **managed}, "spec": spec}
    request = fnv1.RunFunctionRequest()
    request.required_resources["it"].items.add().resource.update(found)
    carried = wire.decode(request).required["it"][0]
    received = sent.received(found)
    assert typed(dict(received)) == typed(dict(carried))
    assert found["metadata"] == {"name": "it", **managed}, "what was given stays as it was"
