"""Program that asks click what command lines mean to trtllm-serve, from its recorded options.

Argument: the folder of click. Standard input: {"options": [...], "lines": [[...]]}. Standard output: a list with
{"error"} or {"set": {first name: value}} for each line.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

Json = Any


def _answer(command: Any, click: Any, line: list[str]) -> Json:
    try:
        found = command.make_context("serve", list(line), resilient_parsing=False).params
    except click.exceptions.Exit:
        return {"error": "ends"}
    except click.ClickException as error:
        return {"error": error.format_message()}
    return {"set": {key: value for key, value in found.items() if value not in (None, False, ())}}


def _main() -> None:
    sys.path.insert(0, sys.argv[1])
    click: Any = importlib.import_module("click")
    asked = json.load(sys.stdin)
    parameters: list[Any] = [click.Argument(["model"], required=False)]
    for option in asked["options"]:
        names = ["/".join([*option["names"], *option.get("denials", ())])] if "denials" in option else option["names"]
        settings = {"is_flag": True, "default": False} if option["is_flag"] else {"multiple": option["multiple"]}
        parameters.append(click.Option([*names, option["names"][0][2:].replace("-", "_")], **settings))
    command = click.Command("serve", params=parameters)
    json.dump([_answer(command, click, line) for line in asked["lines"]], sys.stdout)


if __name__ == "__main__":
    _main()
