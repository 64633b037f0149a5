"""Common ancestor of the models of answers, and words that several of them use."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

RoleName: TypeAlias = Literal["decode", "prefill"]


class Part(BaseModel):
    """One object of an answer: nothing is converted, and a field that is not listed is an error."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, use_attribute_docstrings=True, defer_build=True
    )


def absent() -> Any:
    """Return the default of a field that may be missing: the schema does not require it and names no default."""
    return Field(default=None, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)
