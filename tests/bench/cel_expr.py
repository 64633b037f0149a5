"""The compiler of cel-expr-python (Google's cel-cpp) over the environment of device selectors, as far as it goes.

For the comparison in tests/bench/selectors.py; only in the environment "cel". It has no optional maps of unknown
domains, no URL, IP, CIDR, format and regex libraries of Kubernetes, and no cost estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

DEEP = 33


def compiler() -> Callable[[str], bool]:
    """Return whether it takes an expression, compiled and written out for an evaluator of our own."""
    from cel_expr_python import cel  # noqa: PLC0415 - only in the environment "cel"
    from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings  # noqa: PLC0415 - as above

    kinds = cel.Type
    environment = cel.NewEnv(
        variables={
            "device.driver": kinds.STRING,
            "device.attributes": kinds.Map(kinds.STRING, kinds.Map(kinds.STRING, kinds.DYN)),
            "device.capacity": kinds.Map(kinds.STRING, kinds.Map(kinds.STRING, kinds.AbstractType("quantity"))),
            "device.allowMultipleAllocations": kinds.BOOL,
        },
        functions=_functions(cel),
        extensions=[
            ext_bindings.ExtBindings(),
            ext_math.ExtMath(),
            ext_optional.ExtOptional(),
            ext_strings.ExtStrings(),
        ],
    )

    def takes(expression: str) -> bool:
        try:
            compiled = environment.compile(expression)
            compiled.serialize()
        except Exception:
            return False
        return compiled.return_type() in (kinds.BOOL, kinds.DYN)

    return takes


def deep() -> str:
    """Return an expression in as many parentheses as are too many for it; Kubernetes takes 250."""
    return "(" * DEEP + "true" + ")" * DEEP


def _functions(cel: Any) -> list[Any]:
    """Return Kubernetes' functions of quantities and versions."""
    text, truth, whole, real = cel.Type.STRING, cel.Type.BOOL, cel.Type.INT, cel.Type.DOUBLE
    amount, version = cel.Type.AbstractType("quantity"), cel.Type.AbstractType("semver")
    pairs = [[amount, amount], [version, version]]
    made = [
        _function(cel, "quantity", amount, [[text]], is_member=False),
        _function(cel, "isQuantity", truth, [[text]], is_member=False),
        _function(cel, "semver", version, [[text], [text, truth]], is_member=False),
        _function(cel, "isSemver", truth, [[text], [text, truth]], is_member=False),
        _function(cel, "compareTo", whole, pairs),
        _function(cel, "isGreaterThan", truth, pairs),
        _function(cel, "isLessThan", truth, pairs),
        _function(cel, "isInteger", truth, [[amount]]),
        _function(cel, "asApproximateFloat", real, [[amount]]),
    ]
    made += [_function(cel, name, amount, [[amount, amount], [amount, whole]]) for name in ("add", "sub")]
    made += [_function(cel, name, whole, [[amount]]) for name in ("sign", "asInteger")]
    return made + [_function(cel, name, whole, [[version]]) for name in ("major", "minor", "patch")]


def _function(cel: Any, name: str, returns: Any, overloads: Sequence[Sequence[Any]], *, is_member: bool = True) -> Any:
    made = [
        cel.Overload(id=f"{name}_{number}", return_type=returns, parameters=list(parameters), is_member=is_member)
        for number, parameters in enumerate(overloads)
    ]
    return cel.FunctionDecl(name, made)
