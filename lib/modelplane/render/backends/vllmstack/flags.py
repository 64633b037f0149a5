"""The flags of vLLM that the operator writes itself, taken out of an author's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelplane.render import arguments
from modelplane.render.arguments import Words
from modelplane.render.dialects import DIALECTS, Flag
from modelplane.render.flags import vllm
from modelplane.workload.model import EngineType

_OPTIONS = DIALECTS[EngineType.VLLM].options
_CHUNKED_PREFILL = "--enable-chunked-prefill"
_PREFIX_CACHING = "--enable-prefix-caching"
# The topology and the Service say the last two, and an author's value is one of theirs.
_TAKEN = (_OPTIONS[Flag.MODEL], _CHUNKED_PREFILL, _PREFIX_CACHING, _OPTIONS[Flag.PORT], _OPTIONS[Flag.TENSOR])


@dataclass(frozen=True, slots=True)
class Fields:
    """The values of a VLLMRuntime that are flags of vLLM, and the arguments that remain.

    `model` is None if nothing names it. The operator writes both switches, on or off; they are on unless said.
    """

    model: str | None
    chunked_prefill: bool
    prefix_caching: bool
    rest: tuple[str, ...]


def of(args: Sequence[str]) -> Fields:
    """Return the fields that the arguments of `vllm serve` say."""
    words = arguments.read(args, vllm.TABLE)
    named = words.all_of(_OPTIONS[Flag.MODEL])
    taken = {
        index for name in _TAKEN for one in words.all_of(name) for index in range(one.index, one.index + one.words)
    }
    model = args[words.loose[0]] if words.loose else None
    taken.update(words.loose[:1])
    if model is None and named and named[-1].values:
        model = named[-1].values[0]
    return Fields(
        model=model,
        chunked_prefill=_is_on(words, _CHUNKED_PREFILL),
        prefix_caching=_is_on(words, _PREFIX_CACHING),
        rest=tuple(word for index, word in enumerate(args) if index not in taken),
    )


def _is_on(words: Words, name: str) -> bool:
    given = words.all_of(name)
    return not given or not given[-1].negated
