"""`modelplane report --serve`: the page on this machine, which follows its sources."""

from __future__ import annotations

import argparse
import ipaddress
import sys
import threading

from modelplane.errors import InvalidInput
from modelplane_cli import exits
from modelplane_cli.commands import report_data
from modelplane_cli.report import server, watching

_PORT_MAX = 65535


def serve(options: argparse.Namespace) -> int:
    """Return the exit code when the server was stopped."""
    if "-" in options.paths:
        return _refused("--serve cannot follow standard input; give files, a directory or --context")
    try:
        address = _address(options.listen)
    except InvalidInput as error:
        return _refused(str(error))
    board, bell = server.Board(report_data.title(options)), watching.Bell()
    try:
        # The watches come first, so that nothing is missed between the reading and them.
        _follow(options, bell)
        code, data = report_data.answer(options)
        if data is None:
            return code
        board.show(data)
        made = server.Server(address, board)
    except InvalidInput as error:
        return _refused(str(error))
    except OSError as error:
        return _refused(f"--listen {options.listen}: {error.strerror}")
    if not made.is_local:
        print("note: everybody who reaches this address can read the page", file=sys.stderr)
    print(f"{made.url} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        while bell.hear():
            _refresh(options, board)
    except KeyboardInterrupt:
        return exits.FINE
    finally:
        bell.stop()
        made.shutdown()
    return exits.FINE


def _follow(options: argparse.Namespace, bell: watching.Bell) -> None:
    if options.context is not None:
        watching.context(options.context, bell)
    added = [value for option, value in options.happenings or () if option == "--add"]
    watching.files([*options.paths, *(options.against or ()), *added], bell)


def _refresh(options: argparse.Namespace, board: server.Board) -> None:
    """Show what the sources say now. A page whose sources cannot be read stays, and says so."""
    _, data = report_data.answer(options)
    if data is None:
        board.complain(
            "The newest state cannot be read; the terminal of the server says why. This is the last that could."
        )
    else:
        board.show(data)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        colon = ""
    if not colon or not port.isdecimal() or int(port) > _PORT_MAX:
        raise InvalidInput(f"--listen {text}: write an IPv4 address and a port, for example 127.0.0.1:8484")
    return host, int(port)


def _refused(message: str) -> int:
    print(f"modelplane report: {message}", file=sys.stderr)
    return exits.BAD_INPUT
