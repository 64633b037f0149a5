"""Common ancestor of the generated models."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """One object of a document: unknown fields are ignored, validators are built when first used."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, defer_build=True)
