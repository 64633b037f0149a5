"""Ranges of IP addresses that a cluster is made with: their form, overlaps, and how many nodes they hold."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from modelplane.errors import InvalidInput
from modelplane.render.provisioning import Given


@dataclass(frozen=True, slots=True)
class Range:
    """A range of addresses: its field, the text in it or its default, and the addresses."""

    field: Given
    word: str
    text: str
    addresses: ipaddress.IPv4Network

    @property
    def size(self) -> int:
        """Return the number of addresses."""
        return self.addresses.num_addresses

    def blocks(self, prefix: int) -> int:
        """Return how many ranges with `prefix` fit."""
        return 1 << (prefix - self.addresses.prefixlen) if prefix >= self.addresses.prefixlen else 0


def read(field: Given, word: str, default: str) -> Range:
    """Return the range of a field, whose word is that of messages. Raises: InvalidInput for another text."""
    text = field.text(default)
    try:
        addresses = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise field.wrong(f"is no range of IPv4 addresses ({error}); write one like {default}") from None
    if not addresses.is_private:
        raise field.wrong(f"{text} is not private; write a range within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
    return Range(field, word, text, addresses)


def overlaps(ranges: Sequence[Range]) -> Iterator[InvalidInput]:
    """Yield an error for each pair of ranges that have addresses in common."""
    for one, other in combinations(ranges, 2):
        if one.addresses.overlaps(other.addresses):
            written = other if other.field.is_set else one
            yield written.field.wrong(
                f"the {one.word} {one.text} and the {other.word} {other.text} overlap; write ranges that do not"
            )
