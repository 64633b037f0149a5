"""URLs.

Source: pkg/cel/library/urls.go of k8s.io/apiserver v0.36.2 over Go's net/url.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import Opaque, Value

_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_ESCAPE: Final = re.compile("%([0-9A-Fa-f]{2})")
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = r"A-Za-z0-9_.~\-"
_PATH_SAFE: Final = re.compile(f"[{_UNRESERVED}$&+,/:;=@]".encode())
# what may stand in a path as it was written, for the written form to be kept
_PATH_KEPT: Final = re.compile(rf"(?:[{_UNRESERVED}!$&'()*+,;=:@/\[\]]|%[0-9A-Fa-f]{{2}})*")
_HOST: Final = re.compile(rf"(?:[{_UNRESERVED}!$&'()*+,;=:\[\]<>\"]|%[0-9A-Fa-f]{{2}}|[^\x00-\x7f])*")
_USER: Final = re.compile(rf"(?:[{_UNRESERVED}!$&'()*+,;=:@%])*")
_PORT: Final = re.compile("(?::[0-9]*)?")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")


class _Invalid(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL. `path` is decoded and `raw_path` is as written."""

    text: str
    scheme: str
    host: str
    path: str
    query: str


def _parse(text: str, *, request: bool, colons: bool = False) -> Url:
    """Return the URL; `request` is the stricter parse of a request line, which knows no fragment and no relative
    form; `colons` allows more than one before the port.

    Raises: _Invalid with a reason.
    """
    if _CONTROL.search(text):
        raise _Invalid("net/url: invalid control character in URL")
    if request and not text:
        raise _Invalid("empty url")
    rest, fragment = (text, "") if request else text.partition("#")[::2]
    if _BAD_ESCAPE.search(fragment):
        raise _Invalid("invalid URL escape")
    if rest == "*":
        return Url(text, "", "", "*", "")
    scheme, rest = _scheme(rest)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(text, scheme.lower(), "", "", query)
        if request:
            raise _Invalid("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _Invalid("first path segment in URL cannot contain colon")
    host = ""
    # Go leaves `///...` without a scheme alone
    if (scheme or (not request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = _host(authority, colons=colons), slash + path
    return Url(text, scheme.lower(), host, _escaped_path(rest), query)


def _scheme(text: str) -> tuple[str, str]:
    """Return scheme and rest."""
    if text.startswith(":"):
        raise _Invalid("missing protocol scheme")
    match = _SCHEME.match(text)
    if match is not None and text[match.end() : match.end() + 1] == ":":
        return match.group(), text[match.end() + 1 :]
    return "", text


def _host(authority: str, *, colons: bool) -> str:
    user, at, host = authority.rpartition("@")
    if at and (not _USER.fullmatch(user) or _BAD_ESCAPE.search(user)):
        raise _Invalid("net/url: invalid userinfo")
    if host.startswith("["):
        return _bracketed(host)
    if _BAD_ESCAPE.search(host):
        raise _Invalid("invalid URL escape")
    if not _HOST.fullmatch(host):
        raise _Invalid("invalid character in host name")
    colon = host.rfind(":") if colons else host.find(":")
    if colon >= 0 and not _PORT.fullmatch(host[colon:]):
        raise _Invalid(f'invalid port "{host[colon:]}" after host')
    for code in _ESCAPE.findall(host):
        # only bytes beyond ASCII may be escaped in a host
        if int(code, 16) < 0x80:
            raise _Invalid(f'invalid URL escape "%{code}"')
    return _decoded(host)


def _bracketed(host: str) -> str:
    end = host.rfind("]")
    if end < 0:
        raise _Invalid("missing ']' in host")
    if not _PORT.fullmatch(host[end + 1 :]):
        raise _Invalid(f'invalid port "{host[end + 1 :]}" after host')
    if _BAD_ESCAPE.search(host) or not _HOST.fullmatch(host):
        raise _Invalid("invalid character in host name")
    return _decoded(host)


def _decoded(text: str) -> str:
    raw = re.sub(b"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), text.encode("utf-8", "surrogatepass"))
    return raw.decode("utf-8", "replace")


def _escaped_path(path: str) -> str:
    """Return the path as `EscapedPath` writes it: as it came where that is valid, escaped anew otherwise."""
    if _BAD_ESCAPE.search(path):
        raise _Invalid("invalid URL escape")
    if _PATH_KEPT.fullmatch(path):
        return path
    raw = re.sub(b"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), path.encode("utf-8", "surrogatepass"))
    return "".join(chr(byte) if _PATH_SAFE.match(bytes([byte])) else f"%{byte:02X}" for byte in raw)


def _query(query: str) -> dict[str, list[str]]:
    """Return the values by key; pairs with a semicolon or a bad escape are left out."""
    found: dict[str, list[str]] = {}
    for pair in query.split("&"):
        if not pair or ";" in pair or _BAD_ESCAPE.search(pair):
            continue
        key, _, value = pair.partition("=")
        found.setdefault(_decoded(key.replace("+", " ")), []).append(_decoded(value.replace("+", " ")))
    return found


def _url(text: Value, *, colons: bool = False) -> Value:
    if type(text) is not str:
        return no_such_overload()
    try:
        _parse(text, request=True, colons=colons)
        return Opaque("kubernetes.URL", _parse(text, request=False, colons=colons))
    except _Invalid as error:
        return Err(f'URL parse error during conversion from string: parse "{text}": {error}')


def fault(text: str, *, colons: bool = False) -> str:
    """Return the reason that `text` is not an absolute URL, empty if it is one."""
    try:
        _parse(text, request=True, colons=colons)
    except _Invalid as error:
        return f'parse "{text}": {error}'
    return ""


def _is_url(text: Value, *, colons: bool = False) -> Value:
    return no_such_overload() if type(text) is not str else not fault(text, colons=colons)


def _hostname(url: Url) -> str:
    host = url.host
    if host.startswith("["):
        return host[1 : host.rfind("]")]
    colon = host.rfind(":")
    return host[:colon] if colon >= 0 else host


def _port(url: Url) -> str:
    tail = url.host[url.host.rfind("]") + 1 :] if url.host.startswith("[") else url.host
    return tail.rpartition(":")[2] if ":" in tail else ""


def _of_url(read: Callable[[Url], Value]) -> Callable[[Value], Value]:
    def result(value: Value) -> Value:
        known = type(value) is Opaque and value.type_name == "kubernetes.URL"
        return read(value.value) if known else no_such_overload()

    return result


# From this version on, which Go 1.26 builds, a host has no colon but that before the port.
STRICT_FROM: Final = 36


def functions(minor: int) -> Mapping[str, Callable[..., Any]]:
    """Return the functions as Kubernetes 1.`minor` has them."""
    if minor >= STRICT_FROM:
        return _FUNCTIONS
    lenient = {"url": functools.partial(_url, colons=True), "isURL": functools.partial(_is_url, colons=True)}
    return {**_FUNCTIONS, **lenient}


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "url": _url,
    "isURL": _is_url,
    "getScheme": _of_url(lambda url: url.scheme),
    "getHost": _of_url(lambda url: url.host),
    "getHostname": _of_url(_hostname),
    "getPort": _of_url(_port),
    "getEscapedPath": _of_url(lambda url: url.path),
    "getQuery": _of_url(lambda url: _query(url.query)),
}
