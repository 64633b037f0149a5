"""URL of an endpoint, parsed and checked.

Only URLs that Envoy Gateway accepts as a Backend pass, so that a mistake is reported here and the gateway does not omit
the Backend silently. Source: RFC 3986 (syntax); Envoy Gateway v1.9.0 `Backend` (names of at least two labels, no
loopback addresses). The check is stricter on purpose: it refuses addresses without endpoints (`addresses`), encoded
numbers and non-ASCII names. `egress` decides which of the valid addresses are allowed.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum

from modelplane.errors import InvalidInput
from modelplane.routing import addresses
from modelplane.routing.addresses import Address, Reach


class Scheme(StrEnum):
    """The scheme of an endpoint's URL."""

    HTTP = "http"
    HTTPS = "https"

    @property
    def default_port(self) -> int:
        """Return the port of a URL that has none."""
        return 443 if self is Scheme.HTTPS else 80


class AddressKind(StrEnum):
    """The kind of an address: a name that Envoy resolves, or an IP address. An Envoy cluster holds one kind."""

    FQDN = "FQDN"
    IP = "IP"


@dataclass(frozen=True, slots=True)
class Url:
    """The parsed URL of an endpoint.

    `host` is a lower-case name without a trailing dot, or an address (IPv6 without brackets). `prefix` is the path
    before that of the API (`/v1/...`): empty, or "/" and segments without a trailing "/".
    """

    scheme: Scheme
    kind: AddressKind
    host: str
    port: int
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The host of a URL: a name or an address, as in `Url`."""

    kind: AddressKind
    host: str


_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://"
    r"(?P<authority>[^/?#]*)"
    r"(?P<path>/[^?#]*)?"
    r"(?P<rest>[?#].*)?\Z"
)
_AUTHORITY = re.compile(r"(?:\[(?P<six>[^\]]*)\]|(?P<name>[^:\[\]]*))(?::(?P<port>[0-9]{0,5}))?\Z")
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\Z")
_SEGMENT = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+\Z")
_NUMERIC = re.compile(r"(?:[0-9]+|0[xX][0-9a-fA-F]*)\Z")
_HIDDEN_SEPARATORS = ("%2f", "%5c", "%2e", "%00")
_API_VERSION = "/v1"
_PATH_MAX = 1024


def parse(text: str) -> Url:
    """Return the parts of an endpoint's URL.

    Raises: InvalidInput (the author's fault), with a correction.
    """
    match = _URL.match(text)
    if not match:
        raise InvalidInput(
            f"{text!r} is not a URL; write scheme://host[:port][/path], for example https://api.example.com"
        )
    scheme = _scheme(match["scheme"])
    if match["rest"]:
        raise InvalidInput("a query or fragment is never sent to an endpoint; remove everything from '?' or '#' on")
    if "@" in match["authority"]:
        raise InvalidInput("credentials do not belong in a URL; remove user and password and set spec.auth.secretRef")
    kind, host, port = _authority(match["authority"])
    return Url(scheme, kind, host, scheme.default_port if port is None else port, _prefix(match["path"] or ""))


def place(text: str) -> Place:
    """Return the host of the https URL of a token issuer's keys, which may have a path and a query.

    Raises: InvalidInput (the author's fault).
    """
    match = _URL.match(text)
    if not match or _scheme(match["scheme"]) is not Scheme.HTTPS or "@" in match["authority"]:
        raise InvalidInput(
            f"{text!r} is not https://host[:port]/path; write for example https://issuer.example.com/keys"
        )
    if not text.isascii() or any(character.isspace() or not character.isprintable() for character in text):
        raise InvalidInput(f"{text!r} has characters that no URL has; escape them")
    kind, host, _ = _authority(match["authority"])
    return Place(kind, host)


def host_name(text: str) -> str:
    """Return a host name in normal form: lower case, no trailing dot.

    Raises: InvalidInput for a text that is not a host name of at least two labels.
    """
    if not text.isascii():
        # Lower case of some letters of other scripts is ASCII, and what a resolver would make of them is its own.
        raise InvalidInput(f"{text!r} is not a host name; write letters outside ASCII in punycode (xn--...)")
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if not name or len(name) > 253 or any(len(label) > 63 or not _LABEL.match(label) for label in labels):
        raise InvalidInput(
            f"{text!r} is not a host name; use lower-case letters, digits, '-' and '.', at most 63 per label"
        )
    if _NUMERIC.match(labels[-1]):
        raise InvalidInput(
            f"{text!r} looks like an address in a form that tools read differently; write the address in full"
        )
    if len(labels) < 2:
        raise InvalidInput(f"{text!r} has only one label, which the gateway refuses; write the full domain name")
    return name


def _scheme(text: str) -> Scheme:
    try:
        return Scheme(text.lower())
    except ValueError:
        raise InvalidInput(f"scheme {text!r} cannot be routed; use http:// or https://") from None


def _authority(text: str) -> tuple[AddressKind, str, int | None]:
    match = _AUTHORITY.match(text)
    if not match or not (match["six"] or match["name"]):
        raise InvalidInput(
            f"{text!r} is not host[:port]; put an IPv6 address in brackets, for example [2001:db8::1]:8000"
        )
    port = _port(match["port"])
    literal = _address(match["six"] if match["six"] is not None else match["name"])
    if literal is not None:
        return AddressKind.IP, str(_reachable(literal)), port
    if match["six"] is not None:
        raise InvalidInput(f"[{match['six']}] is not an IPv6 address")
    return AddressKind.FQDN, host_name(match["name"]), port


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    if not text or not 1 <= int(text) <= 65535:
        raise InvalidInput(f"port {text!r} is not between 1 and 65535")
    return int(text)


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id:
        raise InvalidInput(
            f"{text!r} names a network interface, which the gateway does not have; remove '%' and what follows"
        )
    return addresses.plain(address)


def _reachable(address: Address) -> Address:
    """Return `address` unless it would lead the gateway to itself or its node instead of to an endpoint."""
    finding = addresses.find(address)
    if finding.reach is Reach.NOWHERE:
        raise InvalidInput(
            f"{address} cannot be routed to: {finding.why}; write the address under which the endpoint is reached"
        )
    return address


def _prefix(path: str) -> str:
    """Return the path without trailing "/" and without a trailing `/v1`, which is the API's own and is appended to
    it.
    """
    bare = path.rstrip("/")
    segments = bare.split("/")[1:]
    if len(bare) > _PATH_MAX:
        raise InvalidInput(f"the path has {len(bare)} characters; a gateway rewrites at most {_PATH_MAX}")
    for segment in segments:
        if segment in {".", ".."} or not _SEGMENT.match(segment):
            raise InvalidInput(
                f"path {path!r} has the segment {segment!r}; use segments of URL characters without '.', '..' or '//'"
            )
        if any(hidden in segment.lower() for hidden in _HIDDEN_SEPARATORS):
            raise InvalidInput(f"path {path!r} has an encoded separator or dot in {segment!r}; write it unencoded")
    return bare.removesuffix(_API_VERSION) if segments and segments[-1] == "v1" else bare
