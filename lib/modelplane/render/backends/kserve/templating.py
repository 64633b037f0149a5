"""Templating of KServe, and text that survives it.

KServe marshals the merged service to JSON and runs all of it as a Go template. So `{{` in an argument, a variable or an
annotation, for example of a Jinja chat template, would be interpreted.
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
    """Return `value` with every string escaped, so that KServe's templating restores exactly that string.

    Raises: InvalidInput for a key with "{{". An escaped key would be another key for all that read the object before
    KServe: the schema of the API server, server-side apply, and the comparison of running objects.
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
        raise InvalidInput(f'the key {key!r} holds "{_OPEN}", which KServe would run as a template; remove it')
    return key
