"""The response to one request: the whole function, without a server.

It must never be one that makes Crossplane apply or delete something because an input was not fetched yet or was wrong,
or because the answer is too large to be received. gRPC and logging are the business of the server, which the command
does not load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane.errors import InvalidInput, InvalidSelector, OverBudget, Unsupported
from modelplane_functions import admissible, ownership, registry, wire
from modelplane_functions.exchange import Condition, Observed, Outcome, Truth

# Crossplane's client receives at most this much (the default of grpc-go, which it does not change), whatever we may
# send.
RESPONSE_MAX_BYTES = 4 * 1024 * 1024

# A hundred times what any composite of a fleet of a thousand clusters sees.
OBJECTS_MAX = 100_000

Registry = Callable[[str, str], registry.Composer]
Decode = Callable[[fnv1.RunFunctionRequest], Observed]


def answer(
    request: fnv1.RunFunctionRequest,
    *,
    find: Registry = registry.composer,
    decode: Decode = wire.decode,
    minute: int | None = None,
) -> fnv1.RunFunctionResponse:
    """Return the response to one request.

    `decode` lets a caller reuse resources that it has decoded before. `minute` is the time, None without a clock.
    Raises: only the errors of a bug. A mistake of the author becomes a condition and a fatal result.
    """
    about = wire.subject(request)
    condition = "Accepted"
    try:
        composer = find(about.api_version, about.kind)
        condition = composer.condition
        if not about.name:
            raise InvalidInput("is required", path=("metadata", "name"))
        _check_size(request)
        observed = replace(decode(request), minute=minute)
        outcome = _settled(request, observed, composed(composer, observed))
    except (InvalidInput, Unsupported) as error:
        outcome = refused(about, condition, error)
    return _within_limit(request, about, condition, wire.encode(request, outcome))


def composed(composer: registry.Composer, observed: Observed) -> Outcome:
    """Return the composer's decision about a composite, after validation of its spec.

    Raises: InvalidInput or Unsupported when the author must change something.
    """
    admissible.check(observed)
    return ownership.checked(observed, composer.load()(observed))


def _check_size(request: fnv1.RunFunctionRequest) -> None:
    """Refuse a request with too many objects. The server bounds its bytes when it receives it."""
    count = wire.size(request)
    if count > OBJECTS_MAX:
        raise OverBudget(
            f"{count} objects have to be read for it, and the limit is {OBJECTS_MAX}; "
            "narrow its selectors, or delete objects that are no longer used"
        )


def refused(about: wire.Subject, condition: str, error: InvalidInput | Unsupported) -> Outcome:
    """Return the outcome that holds everything and reports what the author must change."""
    said = error.line_of_text if isinstance(error, InvalidSelector) else str(error)
    return Outcome(
        conditions=(Condition(condition, Truth.FALSE, error.reason, said),),
        fatal=f"{about}: {said}; what runs is kept as it is",
    )


def _settled(request: fnv1.RunFunctionRequest, observed: Observed, outcome: Outcome) -> Outcome:
    """Return `outcome` when all its requirements were fetched, otherwise only its requirements.

    Crossplane fetches them and calls again, and it applies nothing in between. A caller that cannot fetch objects would
    apply the answer and delete everything else. It gets a refusal.
    """
    missing = sorted(key for key in outcome.requirements if key not in observed.required)
    if not missing:
        return outcome
    if wire.lacks_required_resources(request):
        raise Unsupported(
            f"other objects are required ({', '.join(missing)}), and this version of Crossplane cannot fetch them; "
            "upgrade to Crossplane v2.4 or later",
            reason="CrossplaneTooOld",
        )
    return Outcome(requirements=outcome.requirements, kinds=outcome.kinds, ttl_seconds=outcome.ttl_seconds)


def _within_limit(
    request: fnv1.RunFunctionRequest, about: wire.Subject, condition: str, response: fnv1.RunFunctionResponse
) -> fnv1.RunFunctionResponse:
    """Return `response`, or a refusal when `response` is too large for Crossplane to receive."""
    size = response.ByteSize()
    if size <= RESPONSE_MAX_BYTES:
        return response
    largest = ", ".join(f"{key} {count} bytes" for key, count in wire.largest_children(response, count=3))
    count = len(response.desired.resources)
    error = Unsupported(
        f"the response has {size} bytes in {count} resources (largest: {largest}), and Crossplane receives at most "
        f"{RESPONSE_MAX_BYTES} bytes; reduce the number of children, shorten the template, or split the object",
        reason="ResponseTooLarge",
    )
    return wire.encode(request, refused(about, condition, error))
