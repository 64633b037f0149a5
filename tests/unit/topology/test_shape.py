"""Parallelism turned into nodes and devices, and what no hardware can be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.errors import InvalidShape
from modelplane.topology.shape import Topology

SHAPES = [
    ("one device", Topology(), 1, 1, 1),
    ("one node, tensor parallel", Topology(tensor=8), 1, 8, 8),
    ("a pipeline stage takes a node", Topology(tensor=8, pipeline=2), 2, 8, 16),
    ("data-parallel ranks share a node", Topology(data=8, data_local=8, expert=True), 1, 8, 8),
    ("or take several", Topology(data=16, data_local=8, expert=True), 2, 8, 16),
    ("two ranks of four devices on a node", Topology(tensor=4, data=4, data_local=2), 2, 8, 16),
    ("all three", Topology(tensor=2, pipeline=2, data=4, data_local=2), 4, 4, 16),
]


@pytest.mark.parametrize(("reason", "shape", "nodes", "per_node", "devices"), SHAPES, ids=[row[0] for row in SHAPES])
def test_arithmetic(reason: str, shape: Topology, nodes: int, per_node: int, devices: int) -> None:
    assert (shape.nodes, shape.devices_per_node, shape.devices) == (nodes, per_node, devices), reason
    assert shape.is_gang == (nodes > 1)


@given(*[st.integers(1, 16) for _ in range(4)])
def test_nodes_times_devices_per_node_is_all_devices(tensor: int, pipeline: int, groups: int, local: int) -> None:
    shape = Topology(tensor, pipeline, groups * local, local)
    assert shape.nodes * shape.devices_per_node == shape.devices


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"tensor": 0}, ("topology", "tensor")),
        ({"pipeline": -1}, ("topology", "pipeline")),
        ({"data": 3, "data_local": 2}, ("topology", "data")),
        ({"data": 1, "data_local": 2}, ("topology", "data")),
    ],
)
def test_impossible_shapes_name_their_field(fields: dict[str, Any], path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidShape) as caught:
        Topology(**fields)
    assert caught.value.path == path
