"""Servers that answer as providers of models do, in the API that they are asked in, with the tokens that they count."""

from __future__ import annotations

from typing import Any

from tests.conformance.routing.upstream import Upstream

Json = Any
PROMPT_TOKENS, COMPLETION_TOKENS = 7, 5


class Provider(Upstream):
    """A server with the OpenAI API under /v1/chat/completions and the Anthropic API under /v1/messages."""

    def reply(self, path: str, asked: Json) -> Json:
        """Return a message of one word, the name of the server."""
        if path.endswith("/messages"):
            return {
                "id": "msg",
                "type": "message",
                "role": "assistant",
                "model": asked.get("model"),
                "content": [{"type": "text", "text": self.name}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": PROMPT_TOKENS, "output_tokens": COMPLETION_TOKENS},
            }
        message = {"role": "assistant", "content": self.name}
        return {
            "id": "chat",
            "object": "chat.completion",
            "created": 1,
            "model": asked.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": _usage(),
        }

    def chunks(self, asked: Json) -> list[Json]:
        """Return the chunks of a streamed message; the last one has the usage."""
        made = [
            {
                "id": "chat",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": asked.get("model"),
                "choices": [{"index": 0, "delta": {"content": f"{self.name} "}, "finish_reason": None}],
            }
            for _ in asked["pauses"]
        ]
        made[-1] |= {"usage": _usage()}
        return made


def _usage() -> Json:
    return {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS,
        "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
    }
