"""`modelplane report`: the fleet as one page, as a file or served."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from modelplane_cli import exits
from modelplane_cli.commands import report_data
from modelplane_cli.output import manifests
from modelplane_cli.parsers import report as report_parser
from modelplane_cli.report import page

Json: TypeAlias = Any


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane report`."""
    made = report_parser.parser()
    options = made.parse_args(list(arguments))
    if options.serve:
        from modelplane_cli.commands import report_serving  # noqa: PLC0415 - an HTTP server is rarely wanted

        if options.output is not None:
            made.error("give one of --serve and -o")
        return report_serving.serve(options)
    if options.output is None and sys.stdout.isatty():
        made.error("say where the page goes: -o fleet.html, or -o - for standard output")
    code, data = report_data.answer(options)
    if data is not None:
        written = _write(data, options)
        return code if written == exits.FINE else written
    return code


def _write(data: Mapping[str, Json], options: argparse.Namespace) -> int:
    if options.output in report_parser.FORMATS:
        sys.stdout.write(manifests.answer(data, options.output))
        sys.stdout.flush()
        return exits.FINE
    made = page.html_page(data, report_data.title(options))
    if options.output in (None, "-"):
        sys.stdout.write(made.decode())
        sys.stdout.flush()
        return exits.FINE
    try:
        Path(options.output).parent.mkdir(parents=True, exist_ok=True)
        Path(options.output).write_bytes(made)
    except OSError as error:
        print(f"modelplane report: {options.output}: cannot be written: {error.strerror}", file=sys.stderr)
        return exits.BAD_INPUT
    print(f"{options.output} ({len(made) / 1000:,.0f} kB)", file=sys.stderr)
    return exits.FINE
