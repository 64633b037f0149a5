"""Exact search for a packing, for cases that the greedy algorithm does not decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubecel import interruption
from modelplane.devices.partitions import Rules
from modelplane.placement.packing import load
from modelplane.placement.packing.load import Answer, Item, Packing, Vector

STEPS_MAX = 4000
"""Limit of the nodes of the search tree before the answer is "undecided"; a few tens of milliseconds."""


class Search:
    """An exact search, node by node.

    Each next node carries at least one of the largest remaining pods, and as many others as it can. No packing is lost:
    some node must carry that pod, and moving pods from later nodes to this one never hurts. Failed states are
    remembered by their remaining pods.
    """

    def __init__(self, capacity: Vector, items: Sequence[Item], steps: int, rules: Rules | None) -> None:
        self._capacity = capacity
        self._rules = rules
        weights = load.weights(capacity)
        self._items = sorted(items, key=lambda i: (load.fullness(i.vector, weights), i), reverse=True)
        self._steps = steps
        self._failed: dict[tuple[int, ...], int] = {}
        self._nodes: list[tuple[int, ...]] = []

    def run(self, nodes: int) -> Packing:
        """Return the packing of the items on the nodes. Cost: at most `steps` nodes of the search tree."""
        found = self._solve(tuple(item.pods for item in self._items), nodes)
        if found is None:
            return Packing(Answer.UNDECIDED)
        if not found:
            return Packing(Answer.TOO_MUCH)
        histogram: dict[Vector, int] = {}
        for pattern in (*self._nodes, *[()] * (nodes - len(self._nodes))):
            free = self._capacity
            for item, times in zip(self._items, pattern, strict=False):
                free = load.minus(free, item.vector, times)
            histogram[free] = histogram.get(free, 0) + 1
        return Packing(Answer.FITS, tuple(sorted(histogram.items())))

    def _solve(self, wanted: tuple[int, ...], nodes: int) -> bool | None:
        """Return whether `wanted` fits into `nodes` empty nodes, None when the steps ran out.

        `_nodes` holds what was found.

        A loop and not a recursion: a pool may have more nodes than Python has frames.
        """
        settled = self._settled(wanted, nodes)
        if settled is not None:
            return settled
        stack = [(wanted, self._patterns(wanted))]
        while stack:
            if self._steps <= 0:
                return None
            left, patterns = stack[-1]
            pattern = next(patterns, None)
            if pattern is None:
                stack.pop()
                self._failed[left] = max(nodes - len(stack), self._failed.get(left, -1))
                if stack:
                    self._nodes.pop()
                continue
            interruption.checkpoint()
            self._steps -= 1
            rest = tuple(pods - times for pods, times in zip(left, pattern, strict=True))
            self._nodes.append(pattern)
            settled = self._settled(rest, nodes - len(self._nodes))
            if settled:
                return True
            if settled is None:
                stack.append((rest, self._patterns(rest)))
            else:
                self._nodes.pop()
        return False

    def _settled(self, left: tuple[int, ...], nodes: int) -> bool | None:
        """Return True when nothing is left, False when `left` cannot fit into `nodes`, None when it must be tried."""
        if not any(left):
            return True
        if nodes == 0 or self._failed.get(left, -1) >= nodes or self._too_much(left, nodes):
            return False
        return None

    def _too_much(self, left: tuple[int, ...], nodes: int) -> bool:
        rest = [Item(i.vector, pods, i.per_node) for i, pods in zip(self._items, left, strict=True) if pods]
        return any(item.pods > nodes * item.per_node for item in rest) or load.exceeds_bounds(
            self._capacity, nodes, rest
        )

    def _patterns(self, left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Return the fullest loads of one node with at least one of the largest pods left."""
        first = next(index for index, pods in enumerate(left) if pods)
        zeros = (0,) * first
        item = self._items[first]
        most = load.times(self._capacity, item.vector, min(item.per_node, left[first]), self._rules)
        for times in range(most, 0, -1):
            free = load.minus(self._capacity, item.vector, times)
            for tail in self._tails(left, first + 1, free):
                pattern = (*zeros, times, *tail)
                if self._is_maximal(left, pattern):
                    yield pattern

    def _tails(self, left: tuple[int, ...], index: int, free: Vector) -> Iterator[tuple[int, ...]]:
        if index == len(self._items):
            yield ()
            return
        interruption.checkpoint()
        item = self._items[index]
        most = load.times(free, item.vector, min(item.per_node, left[index]), self._rules)
        # Fewer of the last one than there is room for are never as much as the node can carry.
        least = most if index == len(self._items) - 1 else 0
        for times in range(most, least - 1, -1):
            for tail in self._tails(left, index + 1, load.minus(free, item.vector, times)):
                yield (times, *tail)

    def _is_maximal(self, left: tuple[int, ...], pattern: tuple[int, ...]) -> bool:
        free = self._capacity
        for item, times in zip(self._items, pattern, strict=True):
            free = load.minus(free, item.vector, times)
        return not any(
            times < min(item.per_node, pods) and load.times(free, item.vector, 1, self._rules)
            for item, pods, times in zip(self._items, left, pattern, strict=True)
        )
