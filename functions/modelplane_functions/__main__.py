"""The command of the function server. It takes the flags and environment variables of the function SDK.

`modelplane serve` runs the same command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
from crossplane.function import cli as sdk
from crossplane.function import logging

from modelplane.errors import InvalidInput
from modelplane_functions import registry, runner, servicer, tracing

EXIT_OK = 0
EXIT_BAD_INPUT = 2


@click.command(name="serve", help="Serve the composition functions over gRPC until SIGTERM or SIGINT.")
@sdk.standard_options
@click.option(
    "--workers",
    type=click.IntRange(min=1, max=256),
    default=servicer.DEFAULT_WORKERS,
    envvar="WORKERS",
    help="Maximum number of requests computed at the same time. Further requests are queued. "
    "The default depends on the number of cores.",
)
@click.option(
    "--metrics-address",
    metavar="ADDRESS",
    default="",
    envvar="METRICS_ADDRESS",
    help="Address of the metrics of Prometheus, over plain HTTP, for example :8080. Without it there are none.",
)
@click.option(
    "--traces-endpoint",
    metavar="URL",
    default="",
    envvar=["TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
    help="OTLP receiver (gRPC) of traces, for example http://otel-collector.observability:4317. Without it there are "
    "none.",
)
def command(  # noqa: PLR0913 - one parameter for each flag of the SDK
    *,
    debug: bool,
    address: str,
    tls_certs_dir: str | None,
    insecure: bool,
    max_recv_message_size: int,
    max_send_message_size: int | None,
    workers: int,
    metrics_address: str,
    traces_endpoint: str,
) -> None:
    """Serve until a signal ends the process."""
    logging.configure(level=logging.Level.DEBUG if debug else logging.Level.INFO)
    runner.serve(
        runner.settings(
            address,
            tls_certs_dir,
            insecure=insecure,
            receive_mib=max_recv_message_size,
            send_mib=max_send_message_size,
            metrics_address=metrics_address,
        ),
        servicer.FunctionRunner(workers=workers, traces=_traces(traces_endpoint)),
    )


def _traces(endpoint: str) -> tracing.Untraced | None:
    if not endpoint:
        return None
    tracing.check(endpoint)
    from modelplane_functions import spans  # noqa: PLC0415 - OpenTelemetry loads only where it is used

    return spans.Traced(spans.provider(endpoint), registry.composers())


def _raise_receive_default(to: click.Command) -> None:
    """Raise the SDK's default of 4 MB, which the requests of a large fleet exceed."""
    for option in to.params:
        if option.name == "max_recv_message_size":
            option.default = runner.DEFAULT_RECEIVE_MIB


_raise_receive_default(command)


def main(arguments: Sequence[str] | None = None, *, program: str = "python -m modelplane_functions") -> int:
    """Return the exit code: 0 after an orderly stop, 2 for invalid settings."""
    try:
        command.main(args=None if arguments is None else list(arguments), prog_name=program, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return EXIT_BAD_INPUT
    except InvalidInput as error:
        print(f"{program}: {error}", file=sys.stderr)  # noqa: T201 - a command speaks to people
        return EXIT_BAD_INPUT
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
