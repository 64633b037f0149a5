"""URLs that a gateway calls, as authors write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.routing import hosts
from modelplane.routing.url import AddressKind, Place, Url

Address = TypeVar("Address", Url, Place)


def read(field: Field, namespace: str, parse: Callable[[str], Address]) -> Address:
    """Return the URL of a field, parsed.

    Raises: InvalidInput at the field if it is none, or if its host belongs to another namespace or to the gateway (the
    author's fault).
    """
    try:
        address = parse(field.text())
        if address.kind is AddressKind.FQDN:
            hosts.check_upstream(namespace, address.host)
    except InvalidInput as error:
        raise error if error.path else error.under(*field.path) from None
    return address
