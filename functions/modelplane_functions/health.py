"""The health service of gRPC (`grpc.health.v1.Health`), which probes and load balancers ask.

`Check` is answered on the event loop, so that a long computation does not make the server look dead. `Watch` is not
implemented: a stream that stays open would occupy one of the calls that the server takes at once, and a client that
hears UNIMPLEMENTED falls back to `Check`.

Source: grpc/health/v1/health.proto. A request is a message with a string under number 1, and an answer one with an enum
under number 1; both are on the wire what well-known types of protobuf are, so that no further package is needed.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

import grpc
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

SERVICE: Final = "grpc.health.v1.Health"
SERVING: Final = 1


def handler(services: Container[str]) -> grpc.GenericRpcHandler[StringValue, Int32Value]:
    """Return the handler of the health service for a server of these services; it serves as soon as it listens."""

    async def check(asked: StringValue, context: grpc.aio.ServicerContext[Any, Any]) -> Int32Value:
        if asked.value and asked.value not in services and asked.value != SERVICE:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"this server has no service {asked.value[:100]!r}")
        return Int32Value(value=SERVING)

    method = grpc.unary_unary_rpc_method_handler(
        check,
        request_deserializer=StringValue.FromString,
        response_serializer=Int32Value.SerializeToString,
    )
    return grpc.method_handlers_generic_handler(SERVICE, {"Check": method})
