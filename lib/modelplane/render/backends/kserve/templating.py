"""Text that survives KServe's own templating.

KServe marshals the merged service to JSON and runs all of it as a Go template, so that `{{` in an argument, a
variable or an annotation (a Jinja chat template, for example) would be interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput

Json: TypeAlias = Any

_OPEN = "{{"
# An action that prints two braces. Back quotes, since double quotes would be escaped by the JSON around the template;
# the last of three braces in the user's text follows the action and cannot open another one with it.
_PRINTED = "{{`{{`}}"


def literal(value: Json) -> Json:
    """Return `value` with every string written so that KServe's templating gives back exactly that string.

    Raises: InvalidInput for a key with "{{". Written as an action it would be another key to everybody who reads the
    object before KServe does: the API server's schema, server-side apply, the comparison of what runs.
    """
    if isinstance(value, str):
        return value.replace(_OPEN, _PRINTED)
    if isinstance(value, Mapping):
        return {_key(key): literal(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [literal(entry) for entry in value]
    return value


def _key(key: str) -> str:
    if _OPEN in key:
        raise InvalidInput(f'the key {key!r} holds "{_OPEN}", which KServe would run as a template; leave it out')
    return key
