"""Program that asks the parser of one Python engine: what its flags are, and what a command line means to it.

Arguments: the engine, the folder of its package, folders of other packages. Standard input: {"words": [...], "lines":
[[...]]}. Standard output: {"flags": [...], "meant": {word: [names]}, "answers": [...]}.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import standins  # type: ignore[import-not-found]

Json = Any

# They look at devices or compile kernels when they are imported.
_COVERED = (
    "vllm.ir",
    "vllm.kernels",
    "sglang.srt.platforms",
    "sglang.srt.distributed",
    "sglang.srt.layers",
    "sglang.srt.configs",
    "sglang.srt.utils.hf_transformers_utils",
)
_VLLM_HOMES = ("common", "launchers", "openai")


def _vllm() -> argparse.ArgumentParser:
    home: Any = None
    for name in _VLLM_HOMES:
        with contextlib.suppress(ModuleNotFoundError):
            home = importlib.import_module(f"vllm.entrypoints.{name}.cli_args")
            break
    parsing: Any = importlib.import_module("vllm.utils.argparse_utils")
    parser: argparse.ArgumentParser = home.make_arg_parser(parsing.FlexibleArgumentParser(prog="vllm serve"))
    return parser


def _vllm_settings() -> None:
    sys.modules["regex"] = re
    os.environ["VLLM_TARGET_DEVICE"] = "cpu"
    os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
    library: Any = importlib.import_module("torch.library")
    library.infer_schema = lambda *_, **__: "() -> ()"
    importlib.metadata.version = lambda distribution_name: "99.0"
    interface: Any = importlib.import_module("vllm.platforms.interface")
    interface.Platform.device_type = interface.UnspecifiedPlatform.device_type = "cpu"


def _sglang() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sglang serve")
    home: Any = importlib.import_module("sglang.srt.server_args")
    home.ServerArgs.add_cli_args(parser)
    return parser


def _flag(action: argparse.Action) -> Json:
    negative = getattr(action, "negative_option_strings", None)
    names = list(action.option_strings)
    if negative is None:
        pairs = isinstance(action, argparse.BooleanOptionalAction)
        negative = {name for name in names if pairs and name.startswith("--no-")}
    return {
        "names": [name for name in names if name not in negative],
        "denials": sorted(name for name in _registered(action) if name in negative),
        "nargs": action.nargs,
        "appends": isinstance(action, (argparse._AppendAction, argparse._ExtendAction)),
        "dest": action.dest,
        "type": getattr(action.type, "__name__", str(action.type)),
        "choices": None if action.choices is None else [str(choice) for choice in action.choices],
    }


def _registered(action: argparse.Action) -> set[str]:
    return {name for name, found in _PARSER._option_string_actions.items() if found is action}


def _meant(word: str) -> list[str]:
    """Return the names that a word may stand for."""
    if word in _PARSER._option_string_actions:
        return [word]
    return sorted({found[1] for found in _PARSER._get_option_tuples(word)})


def _answer(args: list[str]) -> Json:
    """Return the values by destination that a command line sets, or the parser's refusal."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            found = vars(_PARSER.parse_args(list(args)))
            plain = vars(_PARSER.parse_args([]))
    except SystemExit:
        return {"error": said.getvalue().strip().rpartition("error: ")[2]}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"set": {key: repr(value) for key, value in found.items() if repr(value) != repr(plain.get(key))}}


if __name__ == "__main__":
    _engine, _folder, *_others = sys.argv[1:]
    sys.path[:0] = _others
    _quiet = io.StringIO()
    with contextlib.redirect_stdout(_quiet), contextlib.redirect_stderr(_quiet):
        _is_vllm = _engine == "vllm"
        standins.install(_engine, _folder, _COVERED, _vllm_settings if _is_vllm else lambda: None)
        _PARSER = _vllm() if _is_vllm else _sglang()
        for _action in _PARSER._actions:
            _action.required = False  # a line is about its own flags
        _asked = json.load(sys.stdin)
        _found = {
            "flags": [_flag(action) for action in _PARSER._actions if action.option_strings],
            "meant": {word: _meant(word) for word in _asked["words"]},
            "answers": [_answer(args) for args in _asked["lines"]],
        }
    sys.__stdout__.write(json.dumps(_found))  # type: ignore[union-attr]
