"""`modelplane init`: a first fleet and a first model, from options or from answers on a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import yaml

from modelplane.errors import InvalidInput
from modelplane_cli import exits
from modelplane_cli.checks import function_refusals
from modelplane_cli.commands import plan
from modelplane_cli.commands.stage import Stage
from modelplane_cli.documents import reading
from modelplane_cli.documents.reading import Input
from modelplane_cli.output import problem_lines
from modelplane_cli.parsers import init as init_parser
from modelplane_cli.planning import first_fleet
from modelplane_cli.planning.first_fleet import FLEET, MODEL, Answers

T = TypeVar("T")

_TRIES = 3
_GPUS_MAX, _PER_NODE_MAX, _NODES_MAX = 16, 64, 10_000
_HEADS = {
    FLEET: "# What the platform team writes: the devices of a node, the cluster and its pools, the entry point.\n",
    MODEL: "# What the ML team writes. `modelplane render` shows what is derived from it.\n",
}


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane init`."""
    options = init_parser.parser().parse_args(list(arguments))
    paths = {name: os.path.join(options.directory, name) for name in (FLEET, MODEL)}
    try:
        for path in paths.values():
            if os.path.lexists(path):
                raise InvalidInput(f"{path} exists; name another directory, or remove it")
        said = _answers(options)
    except InvalidInput as error:
        print(f"modelplane init: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    except EOFError:
        print("\nmodelplane init: the answers ended; nothing was written", file=sys.stderr)
        return exits.BAD_INPUT
    texts = {
        paths[FLEET]: _text(FLEET, first_fleet.fleet(said)),
        paths[MODEL]: _text(MODEL, [first_fleet.inference(said)]),
    }
    if not _is_valid(texts):
        print("modelplane init: nothing was written", file=sys.stderr)
        return exits.BAD_INPUT
    return _write(options.directory, texts)


def _text(name: str, documents: Sequence[object]) -> str:
    return _HEADS[name] + yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True)


def _is_valid(texts: dict[str, str]) -> bool:
    """Return whether `validate` accepts the texts. Problems are reported."""
    read = [reading.parsed(path, text) for path, text in texts.items()]
    given = Input(
        tuple(one for each in read for one in each.documents), tuple(p for each in read for p in each.problems)
    )
    stage = Stage.empty()
    checked = stage.checked(given, "default")
    if checked is None:
        return False
    refused = function_refusals.check(checked, stage.kinds)
    problem_lines.write(refused)
    return not reading.has_errors(refused)


def _write(directory: str, texts: dict[str, str]) -> int:
    try:
        os.makedirs(directory, exist_ok=True)
        for path, text in texts.items():
            with open(path, "x", encoding="utf-8") as file:  # x: a file that appeared meanwhile is not overwritten
                file.write(text)
            print(f"wrote {path}", file=sys.stderr)
    except OSError as error:
        print(f"modelplane init: {error.filename}: {error.strerror}", file=sys.stderr)
        return exits.BAD_INPUT
    code = plan.main([*texts])
    first = next(iter(texts))
    print(f"\nnext: correct the numbers in {first}, then `modelplane plan {directory}`", file=sys.stderr)
    return code


# --- answers ----------------------------------------------------------------------------------------------------------


def _answers(options: argparse.Namespace) -> Answers:
    """Return what options and answers say. Raises: InvalidInput, and EOFError where the answers end."""
    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not asks or (options.model is not None and options.gpu is not None):
        missing = [flag for flag, value in (("--model", options.model), ("--gpu", options.gpu)) if value is None]
        if missing:
            raise InvalidInput(f"nobody can be asked without a terminal; give {' and '.join(missing)}")
        asks = False
    ask = _Ask(asks)
    repository, is_known = ask(
        "Which model? (a Hugging Face repository)", options.model, "Qwen/Qwen3-8B", first_fleet.model
    )
    shown = ", ".join(first_fleet.title(one) for one in first_fleet.products())
    gpu = ask(f"Which GPUs do the nodes have? ({shown})", options.gpu, "H100 80GB", first_fleet.product)
    per_node = ask("How many GPUs has a node?", options.gpus_per_node, "8", _number(_PER_NODE_MAX))
    nodes = ask("How many nodes has the cluster?", options.nodes, "2", _number(_NODES_MAX))
    gpus = None
    if options.gpus is not None or not is_known:
        if options.gpus is None and not asks:
            raise InvalidInput(f"the memory of {repository[:100]} is not known; give --gpus, the GPUs of one replica")
        gpus = ask(
            "How many GPUs does one replica need? (its memory is not known)", options.gpus, "1", _number(_GPUS_MAX)
        )
    return Answers(
        product=gpu,
        model=repository,
        gpus=gpus,
        gpus_per_node=per_node,
        nodes=nodes,
        cluster=ask("What is the cluster called?", options.cluster, "first", str),
        region=ask("In which region is it? (may be empty)", options.region, "", str),
        name=ask("What is the service called?", options.name, first_fleet.name_of(repository), str),
        namespace=ask("In which namespace?", options.namespace, "ml-team", str),
    )


def _number(most: int) -> Callable[[str], int]:
    return lambda text: first_fleet.number(text, most)


class _Ask:
    """A question on a terminal; without one every question has its default answer."""

    def __init__(self, asks: bool) -> None:  # noqa: FBT001 - the one thing that it is made of
        self._asks = asks

    def __call__(self, question: str, option: str | None, default: str, read: Callable[[str], T]) -> T:
        """Return the answer. Raises: InvalidInput for an option, and for the last of three wrong answers."""
        if option is not None or not self._asks:
            return read(default if option is None else option)
        for left in reversed(range(_TRIES)):
            print(f"{question} [{default}] ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            try:
                return read(line.strip() or default)
            except InvalidInput as error:
                if not left:
                    raise
                print(f"  {error}", file=sys.stderr)
        raise AssertionError  # the last wrong answer was raised
