"""Named formats, as in `format.dns1123Label().validate(text)`.

Source: pkg/cel/library/format.go of k8s.io/apiserver v0.36.2 and the validations it calls. Known divergence: the
number of errors is that of Kubernetes, their text is our own.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from kubecel.functions import urls
from kubecel.values.errors import no_such_overload
from kubecel.values.runtime import NONE, Opaque, Optional, Value

_LABEL: Final = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_LABEL_1035: Final = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_NAME: Final = re.compile("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_VALUE: Final = re.compile(f"({_NAME.pattern})?")
_UUID: Final = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_BASE64: Final = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_DATE: Final = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, the size of the pattern for which it is charged, and the faults of a text."""

    name: str
    regex_size: int
    faults: Callable[[str], list[str]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _named(pattern: re.Pattern[str], longest: int, what: str, *, prefix: bool = False) -> Callable[[str], list[str]]:
    def faults(text: str) -> list[str]:
        if prefix and len(text) > 1 and text.endswith("-"):
            # as in Kubernetes, the character before the dash is lost as well
            text = text[:-2] + "a"
        found = (
            [f"must be no more than {longest} bytes"] if len(text.encode("utf-8", "surrogatepass")) > longest else []
        )
        return found if pattern.fullmatch(text) else [*found, f"a {what} is expected"]

    return faults


def _qualified(text: str) -> list[str]:
    parts = text.split("/")
    if len(parts) > 2:
        return ["a qualified name has at most one '/'"]
    found: list[str] = []
    if len(parts) == 2:
        found += ["prefix part must be non-empty"] if not parts[0] else []
        found += _named(_SUBDOMAIN, 253, "lowercase RFC 1123 subdomain")(parts[0]) if parts[0] else []
    name = parts[-1]
    found += [] if name else ["name part must be non-empty"]
    return found + _named(_NAME, 63, "name")(name)


def _single(holds: Callable[[str], bool], fault: str) -> Callable[[str], list[str]]:
    return lambda text: [] if holds(text) else [fault]


def _uri(text: str, *, colons: bool = False) -> list[str]:
    fault = urls.fault(text, colons=colons)
    return [fault] if fault else []


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    try:
        datetime.date(year or 4, month, day)
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    if len(text) < 4:
        return False
    parts = text.lower().split("t")
    if len(parts) < 2 or not _is_date(parts[0]):
        return False
    match = _TIME.search(parts[1]) if _TIME.fullmatch(parts[1]) else None
    if match is None:
        return False
    hours, minutes, seconds = (int(part) for part in match.groups()[:3])
    return hours < 24 and minutes < 60 and seconds < 60


FORMATS: Final[Mapping[str, Format]] = {
    "dns1123Label": Format("DNS1123Label", 30, _named(_LABEL, 63, "lowercase RFC 1123 label")),
    "dns1123Subdomain": Format("DNS1123Subdomain", 60, _named(_SUBDOMAIN, 253, "lowercase RFC 1123 subdomain")),
    "dns1035Label": Format("DNS1035Label", 30, _named(_LABEL_1035, 63, "DNS-1035 label")),
    "qualifiedName": Format("QualifiedName", 60, _qualified),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", 30, _named(_LABEL, 63, "RFC 1123 label", prefix=True)),
    "dns1123SubdomainPrefix": Format(
        "DNS1123SubdomainPrefix", 60, _named(_SUBDOMAIN, 253, "RFC 1123 subdomain", prefix=True)
    ),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", 30, _named(_LABEL_1035, 63, "DNS-1035 label", prefix=True)),
    "labelValue": Format("LabelValue", 40, _named(_LABEL_VALUE, 63, "label value")),
    "uri": Format("URI", 1103, _uri),
    "uuid": Format("uuid", 70, _single(lambda text: bool(_UUID.fullmatch(text)), "does not match the UUID format")),
    "byte": Format("byte", 84, _single(lambda text: bool(_BASE64.fullmatch(text)), "invalid base64")),
    "date": Format("date", 71, _single(_is_date, "invalid date")),
    "datetime": Format("datetime", 71, _single(_is_datetime, "invalid datetime")),
}


def _value(known: Mapping[str, Format], name: str) -> Opaque:
    return Opaque("kubernetes.NamedFormat", known[name])


def _find(known: Mapping[str, Format], name: Value) -> Value:
    if type(name) is not str:
        return no_such_overload()
    return Optional(_value(known, name)) if name in known else NONE


def _validate(value: Value, text: Value) -> Value:
    if type(value) is not Opaque or value.type_name != "kubernetes.NamedFormat" or type(text) is not str:
        return no_such_overload()
    faults = value.value.faults(text)
    return Optional(faults) if faults else NONE


def functions(minor: int) -> Mapping[str, Callable[..., Any]]:
    """Return the functions as Kubernetes 1.`minor` has them."""
    lenient = {"uri": replace(FORMATS["uri"], faults=functools.partial(_uri, colons=True))}
    known = FORMATS if minor >= urls.STRICT_FROM else {**FORMATS, **lenient}
    return {
        "format.named": functools.partial(_find, known),
        "validate": _validate,
        **{f"format.{name}": functools.partial(_value, known, name) for name in known},
    }
