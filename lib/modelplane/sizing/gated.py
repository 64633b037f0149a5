"""Repositories of the Hugging Face hub that are known to be gated: nobody fetches them without a token.

The hub has no list of them, and owners open and close repositories. So each entry has its evidence and the date when it
was last seen, and a repository without evidence is not named: Mistral's were gated in April 2024 and may be open now,
and Gemma 4 is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Gate:
    """The repositories whose names begin with `prefix`. `source` says that they are gated, as it last did on `seen`."""

    prefix: str
    source: str
    seen: str


GATES: Final = (
    Gate(
        "meta-llama/",
        "https://huggingface.co/spaces/meta-llama/README, of all models there: accept the license of one first; "
        "the hub's own refusals of Llama 2 to 4 in https://github.com/hiyouga/LlamaFactory/issues/3403, "
        "https://github.com/sgl-project/sglang/pull/14644 and https://github.com/meta-llama/llama3/issues/396",
        "2025-12",
    ),
    *(
        Gate(f"google/gemma-{generation}", source, seen)
        for generation, source, seen in (
            ("2b", "https://github.com/huggingface/transformers/issues/29283", "2026-09"),
            ("7b", "https://huggingface.co/google/gemma-7b-it-keras", "2024"),
            ("1.1-", "https://huggingface.co/google/gemma-1.1-2b-it-pytorch", "2024"),
            ("2-", "https://github.com/city96/ComfyUI_ExtraModels/issues/99", "2024-12"),
            ("3-", "https://github.com/ostris/ai-toolkit/pull/745", "2026-03"),
            ("3n-", "https://huggingface.co/google/gemma-3n-E2B/tree/main", "2025"),
        )
    ),
    Gate("google/embeddinggemma-", "https://github.com/vllm-project/semantic-router/issues/817", "2025-12"),
)


def gate(repository: str) -> Gate | None:
    """Return the gate of a repository, None where none is known. The hub does not tell upper case from lower case."""
    name = repository.lower()
    return next((one for one in GATES if name.startswith(one.prefix)), None)
