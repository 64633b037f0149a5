"""`modelplane cel`: the evaluation of a device selector against devices, with the results of Kubernetes.

A selector that returns another type than bool is refused when the type is known at compile time. Otherwise it is a
run-time error. The result `non_bool` of the answer's format is therefore never used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.api import inference_class
from modelplane.devices import selector
from modelplane.devices.hints import advice, mistakes
from modelplane.devices.model import Device
from modelplane.errors import InvalidInput, InvalidSelector
from modelplane_cli import exits
from modelplane_cli.documents import reading, yamltext
from modelplane_cli.output import manifests
from modelplane_cli.parsers import cel as cel_parser

Json: TypeAlias = Any

_RESULTS = {selector.Outcome.MATCH: "true", selector.Outcome.NO_MATCH: "false", selector.Outcome.ABORT: "error"}
_UNBOUNDED = 10**18


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer for one expression and one device. A cost is None when it is unknown or unbounded."""

    id: str
    expression: str
    device: str
    result: str
    error: str = ""
    estimated_cost: int | None = None
    actual_cost: int | None = None
    accepted: bool = False
    refusal: str = ""

    def encoded(self) -> dict[str, Json]:
        """Return the answer as JSON."""
        return {
            "id": self.id,
            "expression": self.expression,
            "device": self.device,
            "result": self.result,
            "error": self.error or None,
            "estimatedCost": self.estimated_cost,
            "actualCost": self.actual_cost,
            "apiServerAccepts": self.accepted,
        }


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane cel`."""
    made = cel_parser.parser()
    options = made.parse_args(list(arguments))
    if (options.expression is None) == (options.batch is None):
        made.error("give either an EXPRESSION or --batch FILE")
    if options.batch is None and (options.device is None) == (options.classes is None):
        made.error("give either --device FILE or --class FILE")
    profile = selector.PROFILES[options.kubernetes]
    try:
        if options.batch is not None:
            return _batch(options, profile)
        found = _devices(options.device, options.classes)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return exits.BAD_INPUT
    answers = [_answer("", options.expression, name, device, profile) for name, device in found]
    _show(answers, options.output, one_by_one=len(answers) == 1)
    for message in _advice(options.expression, [device for _, device in found], profile):
        print(f"hint: {message}", file=sys.stderr)
    return _code(answers)


def _advice(expression: str, devices: Sequence[Device], profile: selector.Profile) -> list[str]:
    """Return corrections and advice for the expression on the devices, without duplicates."""
    try:
        compiled = mistakes.compile(expression, devices[0].driver, profile, admit=False)
    except InvalidSelector as error:
        return [error.hint] if error.hint else []
    remarks = [remark.message for device in devices for remark in advice.selector_advice(expression, device)]
    if any(compiled.evaluate(device).cause.startswith("CEL result of type ") for device in devices):
        remarks.append("a selector must return true or false; compare the value with something")
    return list(dict.fromkeys(remarks))


def _code(answers: Sequence[_Answer]) -> int:
    if any(answer.result == "compile_error" for answer in answers):
        return exits.BAD_INPUT
    return exits.FINE if any(answer.result == "true" for answer in answers) else exits.NO


# --- answers ----------------------------------------------------------------------------------------------------------


def _answer(case: str, expression: str, name: str, device: Device, profile: selector.Profile) -> _Answer:
    try:
        compiled = selector.compile(expression, profile, admit=False)
    except InvalidSelector as error:
        return _Answer(case, expression, name, "compile_error", error.message)
    verdict, cost = compiled.measure(device)
    estimated = compiled.estimated_cost
    return _Answer(
        id=case,
        expression=expression,
        device=name,
        result=_RESULTS[verdict.outcome],
        error=verdict.cause,
        estimated_cost=estimated if estimated <= _UNBOUNDED else None,
        actual_cost=cost,
        accepted=compiled.api_server_accepts,
        refusal=compiled.refusal,
    )


def _show(answers: Sequence[_Answer], output: str, *, one_by_one: bool) -> None:
    if output != "text":
        encoded = [answer.encoded() for answer in answers]
        sys.stdout.write(manifests.answer(encoded[0] if one_by_one else encoded, output))
        return
    width = max(len(answer.device or answer.id) for answer in answers)
    faults = list(dict.fromkeys(answer.error for answer in answers if answer.result == "compile_error"))
    if len(faults) == 1 and all(answer.result == "compile_error" and not answer.id for answer in answers):
        print(f"invalid: {faults[0]}", file=sys.stderr)  # the same for every device, so it is said once
        return
    words = {"true": "match", "false": "no match", "error": "abort", "compile_error": "invalid"}
    for answer in answers:
        cost = "" if answer.actual_cost is None else f"cost {answer.actual_cost}"
        why = f": {answer.error}" if answer.error else ""
        label = answer.id or answer.device
        print(f"{label:<{width}}  {words[answer.result]:<8}  {cost}{why}".rstrip())
    refused = {answer.refusal for answer in answers if answer.refusal}
    for refusal in sorted(refused):
        print(f"the API server would refuse the expression: {refusal}", file=sys.stderr)


def _batch(options: argparse.Namespace, profile: selector.Profile) -> int:
    """Return the exit code of a batch. Its answers are data, so none of them is a failure."""
    batch = _one_value(options.batch)
    cases = batch.get("cases")
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise InvalidInput(f"{options.batch}: cases must be a list of objects with id and expression")
    if options.device or options.classes:
        name, device = next(iter(_devices(options.device, options.classes)))
    else:
        name, device = _device(batch, options.batch)
    answers = []
    for position, case in enumerate(cases):
        expression = case.get("expression")
        if not isinstance(expression, str):
            raise InvalidInput(f"{options.batch}: cases[{position}].expression must be text")
        answers.append(_answer(str(case.get("id", position)), expression, name, device, profile))
    _show(answers, options.output, one_by_one=False)
    return exits.FINE


# --- devices ----------------------------------------------------------------------------------------------------------


def _devices(device: str | None, classes: str | None) -> list[tuple[str, Device]]:
    """Return the devices of a file with names that tell them apart.

    Raises: InvalidInput for text, documents or values that are no devices.
    """
    path = device if device is not None else classes
    given = reading.read([str(path)])
    for problem in given.problems:
        if problem.severity == reading.ERROR:
            raise InvalidInput(str(problem))
    read = _of_slices if device is not None else _of_classes
    found = [entry for document in given.documents for entry in read(document)]
    if not found:
        what = "ResourceSlice, nor a device with its driver" if device is not None else "InferenceClass"
        raise InvalidInput(f"{path}: holds no {what}")
    return found


def _of_classes(document: reading.Document) -> Iterator[tuple[str, Device]]:
    if document.data.get("kind") != inference_class.KIND:
        return
    try:
        node = inference_class.decode(document.data)
    except InvalidInput as error:
        raise InvalidInput(str(document.problem(error.message, error.path))) from None
    for device in node.devices:
        yield f"{node.name}/{device.name}", device


def _of_slices(document: reading.Document) -> Iterator[tuple[str, Device]]:
    data = document.data
    if data.get("kind") == "ResourceSlice":
        spec = data.get("spec")
        if not isinstance(spec, Mapping):
            raise InvalidInput(str(document.problem("a ResourceSlice needs driver and devices", ("spec",))))
        for entry in spec.get("devices") or []:
            yield _device({"driver": spec.get("driver"), "device": entry}, document.file)
    elif "driver" in data:
        yield _device(data if "device" in data else {"driver": data["driver"], "device": data}, document.file)


def _device(holder: Mapping[str, Json], where: str) -> tuple[str, Device]:
    """Return the device of `{"driver": ..., "device": {"name", "attributes", "capacity"}}`.

    Before resource.k8s.io/v1 the values were below `basic`. Raises: InvalidInput.
    """
    entry = holder.get("device")
    if not isinstance(entry, Mapping) or not isinstance(holder.get("driver"), str):
        raise InvalidInput(f"{where}: a device needs driver, and device with attributes and capacity")
    basic = entry.get("basic")
    values = basic if isinstance(basic, Mapping) else entry
    name = str(entry.get("name") or "device")
    fields = {key: values[key] for key in ("attributes", "capacity") if values.get(key)}
    described = {"name": name, "driver": holder["driver"], "claim": "Synthetic", **fields}
    try:
        node = inference_class.decode({"metadata": {"name": name}, "spec": {"devices": [described]}})
    except InvalidInput as error:
        raise InvalidInput(f"{where}: device {name}: {error}") from None
    return name, node.devices[0]


def _one_value(path: str) -> Mapping[str, Json]:
    text = reading.text(path)
    try:
        values = [parsed.value for parsed in yamltext.read(text)]
    except yamltext.TextError as error:
        raise InvalidInput(f"{path}:{error.line}: {error.message}") from None
    if len(values) != 1 or not isinstance(values[0], Mapping):
        raise InvalidInput(f"{path}: must hold one object with driver, device and cases")
    return values[0]
