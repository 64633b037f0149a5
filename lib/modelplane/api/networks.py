"""Networks as authors write them."""

from __future__ import annotations

import ipaddress

from modelplane.api.fields import Field
from modelplane.routing.addresses import Network


def read(field: Field) -> Network:
    """Return the network of a field. Raises: InvalidInput at the field if it is none (the author's fault)."""
    text = field.text()
    try:
        network = ipaddress.ip_network(text, strict=False)
        address = ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        raise field.wrong(f"{text!r} is not a network; write address/length, for example 10.20.0.0/16") from None
    if address != network.network_address:
        raise field.wrong(f"{text} is an address inside a network; write {network}")
    return network


def read_all(field: Field) -> tuple[Network, ...]:
    """Return the networks of a list, sorted and each once. Raises: as `read`."""
    found = {read(item) for item in field.items()}
    return tuple(sorted(found, key=lambda network: (network.version, network)))
