"""The `modelplane` command. It finds the sub-command and runs it.

Only the standard library is imported before the sub-command is known, so that help is instant.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from modelplane_cli import exits, reader, shorts

COMMANDS = {
    "init": "write a first fleet and a first model after a few questions",
    "render": "run all composition functions over documents and print the resulting objects",
    "plan": "show the placement of every replica, the use and cost of pools, and the changes",
    "status": "show what is not as wanted on a control plane, why, and since when",
    "explain": "show why a replica is placed where it is, why a service does not answer, what a cluster lacks",
    "simulate": "show the effects of a drain, a loss, a scaling or an addition, step by step",
    "fit": "show the memory of a model, and the topologies and classes that hold it",
    "free": "show the free devices by class, region, cluster or pool",
    "top": "show who holds the devices, by deployment or namespace",
    "report": "draw the fleet as one page: devices and who uses them, pending work, cost, steps",
    "validate": "report the documents that the API server or a function would refuse",
    "cel": "evaluate a device selector against devices",
    "class": "write the classes and pools of a cluster that exists, from what its drivers publish",
    "schema": "print the JSON Schema of a kind, or of the JSON answer of a command",
    "completion": "print the script that completes this command in bash, zsh or fish",
    "serve": "run the gRPC function server",
}

_COMPLETE = "__complete"

_USAGE = """\
usage: modelplane [--debug] COMMAND [ARGUMENT ...]

The fleet control plane for LLM inference, offline: every command runs the code that runs in production.

commands:
{commands}

examples:
  modelplane init fleet                                write a first fleet and a first model
  modelplane render examples/quickstart                show the resulting objects as a tree
  modelplane render examples/quickstart -o yaml        print them as manifests
  modelplane plan fleet/ --against ../main/fleet/      show the changes of a pull request
  modelplane status --context prod                     show what is not as wanted, worst first
  modelplane explain fleet/ md/llama -n ml-team        explain the placements of a deployment
  modelplane explain fleet/ ms/chat -n ml-team         explain why a URL does not answer
  modelplane simulate fleet/ --drain eks-eu            show the moves of a drain, in steps
  modelplane fit Qwen3-8B --context 32k fleet/          show which classes hold a model, the cheapest first
  modelplane free fleet/ --by region                   show the free devices of each region
  modelplane report fleet/ -o fleet.html               draw the fleet as a page that needs no server
  modelplane validate clusters/ models/                check documents without an API server
  modelplane class from-cluster --context gke-us       describe a GPU cluster that exists
  modelplane schema --directory .schemas               write schemas for an editor
  source <(modelplane completion bash)                 complete commands, options and names with Tab
  modelplane help COMMAND                              show the help of a command

exit codes: 0 success, 1 the answer is no, 2 bad input, 3 internal error
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of the command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = bool(given) and given[0] == "--debug"
    if debug:
        given.pop(0)
    if given[:1] == ["help"] and given[1:2] and not given[1].startswith("-"):
        given = [given[1], "--help"]
    if not given or given[0] in ("-h", "--help", "help"):
        sys.stdout.write(usage())
        return exits.FINE if given else exits.BAD_INPUT
    if given[0] in ("-V", "--version", "version"):
        from importlib import metadata  # noqa: PLC0415 - half of the start-up time of --help

        print(f"modelplane {metadata.version('modelplane')}")
        return exits.FINE
    name, rest = given[0], given[1:]
    if name == _COMPLETE:
        from modelplane_cli.commands import completion  # noqa: PLC0415 - asked by a shell

        return completion.answer("".join(rest[:1]), COMMANDS)
    if name not in COMMANDS:
        return _unknown(name)
    if not {"-h", "--help"}.isdisjoint(rest):
        # What a command computes with takes longer to load than anybody waits for help.
        importlib.import_module(f"modelplane_cli.parsers.{shorts.module(name)}").parser().print_help()
        return exits.FINE
    if name in reader.COMMANDS:
        return reader.run(name, rest, lambda: _run(name, rest, debug=debug))
    return _run(name, rest, debug=debug)


def usage() -> str:
    """Return the help of the whole command."""
    width = max(map(len, COMMANDS))
    return _USAGE.format(commands="\n".join(f"  {name:<{width}} {what}" for name, what in COMMANDS.items()))


def _unknown(name: str) -> int:
    import difflib  # noqa: PLC0415 - only where a word was mistyped

    close = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; the commands are {', '.join(COMMANDS)}"
    print(f"modelplane: unknown command {name!r}{hint}", file=sys.stderr)
    return exits.BAD_INPUT


def _run(name: str, arguments: Sequence[str], *, debug: bool) -> int:
    """Return the exit code of the command. An unexpected error becomes one line instead of a traceback."""
    try:
        command = importlib.import_module(f"modelplane_cli.commands.{shorts.module(name)}")
        code: int = command.main(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more on exit. That goes to the null device, so that it reports nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.BROKEN_PIPE
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        else:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
            print(f"modelplane {name}: internal error: {type(error).__name__}: {error} ({where})", file=sys.stderr)
            print(f"run modelplane --debug {name} ... for the traceback, and report the error", file=sys.stderr)
        return exits.BUG
    return code


if __name__ == "__main__":
    sys.exit(main())
