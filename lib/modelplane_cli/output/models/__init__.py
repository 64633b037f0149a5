"""Models of every answer that a command gives with `-o json`.

They are the promise: a key may be added, none changed. Commands encode their answers themselves, so that none of them
waits for pydantic; tests hold every answer to its model.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from modelplane_cli import shorts

ANSWERS: Final = {
    "render": "Rendering",
    "plan": "Plan",
    "status": "Status",
    "explain": "Answer",
    "simulate": "Simulation",
    "fit": "Fit",
    "free": "Free",
    "top": "Holdings",
    "report": "Report",
    "validate": "Validation",
    "cel": "Evaluations",
    "class": "Written",
}
"""The model of each command's answer; it stands in the module of the command's name."""


class _Generator(GenerateJsonSchema):
    """Leaves out titles that repeat the name of a field."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return that no field has a title."""
        return False


def adapter(command: str) -> TypeAdapter[Any]:
    """Return the reader of a command's answer. Raises: KeyError for one that is not in `ANSWERS`."""
    module = importlib.import_module(f"{__name__}.{shorts.module(command)}")
    return TypeAdapter(getattr(module, ANSWERS[command]))


def schema(command: str) -> dict[str, Any]:
    """Return the JSON Schema of the answer of a command."""
    made = adapter(command).json_schema(by_alias=True, mode="validation", schema_generator=_Generator)
    title = f"modelplane {command} -o json"
    return {"$schema": _Generator.schema_dialect, **made, "title": title}
