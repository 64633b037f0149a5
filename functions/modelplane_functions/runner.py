"""The gRPC server of the function.

It serves the same services as the SDK's runtime (v1, v1beta1, reflection) with the same flags and certificates. It
differs from the runtime in these points:

- It has the health service of gRPC, too.
- It serves metrics of Prometheus where an address for them is given, and sends traces where an endpoint is.
- A port in use is an error. SO_REUSEPORT is off, so no second listener shares the port.
- `insecure` opens only a plaintext port.
- A missing or unreadable certificate is reported in one line, with exit code 2.
- SIGINT stops the server as SIGTERM does. Running calls have a few seconds to finish and are then aborted. Crossplane
  treats an aborted call as any other failed call. A computation that cannot be stopped ends with the process.
"""

from __future__ import annotations

import asyncio
import gc
import logging as standard_logging
import os
import signal
import ssl
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from crossplane.function import logging, runtime
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1
from crossplane.function.proto.v1beta1 import run_function_pb2_grpc as grpcv1beta1
from grpc_reflection.v1alpha import reflection

from modelplane.errors import InvalidInput
from modelplane_functions import health, metrics, registry, servicer

# A fleet of a thousand clusters makes requests well past the 4 MB that gRPC receives by default.
DEFAULT_RECEIVE_MIB = 64
# The kubelet kills a pod 30 s after SIGTERM by default; other supervisors allow ten.
SHUTDOWN_GRACE_SECONDS = 5
STOPPING_SECONDS = 1
# Calls that are received at once, those that wait included; Crossplane asks again for one that is turned away.
CALLS_MAX = 2048
# The time after which a thread that waits is given the interpreter. A call that arrives while another computes waits
# several times for it, in the event loop and in its thread, each time as long as this; the default is 5 ms. Only one
# call computes at a time (see `turns`), so a shorter time does not make threads pass the interpreter to and fro.
SWITCH_SECONDS = 0.00005

_CERTIFICATE_FILES = ("tls.crt", "tls.key", "ca.crt")
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the server. Units: MiB for message sizes. `certificates` None serves plaintext."""

    address: str
    certificates: Path | None
    receive_mib: int = DEFAULT_RECEIVE_MIB
    send_mib: int = DEFAULT_RECEIVE_MIB
    metrics_address: str | None = None


def settings(  # noqa: PLR0913 - one parameter for each flag
    address: str,
    certificates: str | None,
    *,
    insecure: bool,
    receive_mib: int,
    send_mib: int | None,
    metrics_address: str | None = None,
) -> Settings:
    """Return validated settings.

    Raises: InvalidInput for invalid settings.
    """
    for name, size in (("--max-recv-message-size", receive_mib), ("--max-send-message-size", send_mib)):
        # gRPC counts bytes in 32 bits.
        if size is not None and not 1 <= size < 2048:
            raise InvalidInput(f"{name} is {size} MB; must be between 1 and 2047")
    if not insecure and not certificates:
        raise InvalidInput(
            "no certificates: set --tls-server-certs-dir DIR (or TLS_SERVER_CERTS_DIR) to a directory with "
            f"{', '.join(_CERTIFICATE_FILES)}, or --insecure to serve plaintext on your own machine"
        )
    if metrics_address:
        metrics.parsed(metrics_address)
    return Settings(
        address=address,
        certificates=None if insecure or not certificates else Path(certificates),
        receive_mib=receive_mib,
        send_mib=send_mib or receive_mib,
        metrics_address=metrics_address or None,
    )


_GARBAGE_THRESHOLDS: Final = (50_000, 20, 100)


def serve(how: Settings, runner: servicer.FunctionRunner) -> None:
    """Serve until SIGTERM or SIGINT. Running calls may finish then.

    Raises: InvalidInput when the certificates or the address cannot be used.
    """
    credentials = None if how.certificates is None else _credentials(how.certificates)
    # A call about a large fleet makes half a million objects that stay alive and form no cycle; looking through them
    # again and again was a quarter of its time. What is loaded by now is never looked through.
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    sys.setswitchinterval(SWITCH_SECONDS)
    asyncio.run(_serve(how, runner, credentials))
    all_ended = runner.close(STOPPING_SECONDS)
    runner.end_traces(STOPPING_SECONDS)
    logging.get_logger().info("stopped", allEnded=all_ended)
    if not all_ended:
        # What computes without a checkpoint would be torn down together with the interpreter under it.
        standard_logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _credentials(directory: Path) -> grpc.ServerCredentials:
    """Return mTLS credentials, after a check of the files. gRPC reports a wrong file only as a failed connection."""
    certificate, key, authority = (directory / name for name in _CERTIFICATE_FILES)
    for path in (certificate, key, authority):
        try:
            path.read_bytes()
        except OSError as error:
            raise InvalidInput(f"certificates: cannot read {path}: {error.strerror}") from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise InvalidInput(
            f"certificates: {certificate} and {key} are not a PEM certificate and its private key: {error.reason}"
        ) from error
    try:
        context.load_verify_locations(authority)
    except ssl.SSLError as error:
        raise InvalidInput(f"certificates: {authority} contains no PEM certificate: {error.reason}") from error
    return runtime.load_credentials(str(directory))


async def _serve(how: Settings, runner: servicer.FunctionRunner, credentials: grpc.ServerCredentials | None) -> None:
    log = logging.get_logger()
    measured, metered = _metrics(how, runner)
    server = grpc.aio.server(
        interceptors=measured,
        options=[
            ("grpc.max_receive_message_length", how.receive_mib * _MIB),
            ("grpc.max_send_message_length", how.send_mib * _MIB),
            ("grpc.so_reuseport", 0),
        ],
        maximum_concurrent_rpcs=CALLS_MAX,
    )
    grpcv1.add_FunctionRunnerServiceServicer_to_server(runner, server)  # type: ignore[no-untyped-call]  # generated
    beta = runtime.BetaFunctionRunner(wrapped=runner)
    grpcv1beta1.add_FunctionRunnerServiceServicer_to_server(beta, server)  # type: ignore[no-untyped-call]  # generated
    server.add_generic_rpc_handlers((health.handler(runtime.SERVICE_NAMES),))
    reflection.enable_server_reflection((*runtime.SERVICE_NAMES, health.SERVICE), server)
    try:
        if credentials is None:
            port = server.add_insecure_port(how.address)
        else:
            port = server.add_secure_port(how.address, credentials)
    except RuntimeError as error:
        raise InvalidInput(
            f"cannot listen on {how.address}: the port is already in use, or the address does not belong to this "
            "machine; choose another --address"
        ) from error

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stopping.set)

    await server.start()
    log.info(
        "serving",
        address=how.address,
        port=port,
        mtls=credentials is not None,
        receiveMiB=how.receive_mib,
        metricsPort=None if metered is None else metered.port,
    )
    preparing = asyncio.create_task(_prepare(runner))
    await stopping.wait()
    preparing.cancel()
    log.info("stopping; waiting for running calls", graceSeconds=SHUTDOWN_GRACE_SECONDS)
    await server.stop(grace=SHUTDOWN_GRACE_SECONDS)
    runner.close()
    if metered is not None:
        metered.stop()


def _metrics(
    how: Settings, runner: servicer.FunctionRunner
) -> tuple[tuple[grpc.aio.ServerInterceptor[Any, Any], ...], metrics.Endpoint | None]:
    """Return what measures the calls, and what serves the result; nothing of both without an address.

    Raises: InvalidInput for an address that cannot be listened on.
    """
    if how.metrics_address is None:
        return (), None
    registered = metrics.registry(runner)
    measured = metrics.Interceptor(registered, frozenset(registry.composers()))
    return (measured,), metrics.serve(registered, how.metrics_address)


async def _prepare(runner: servicer.FunctionRunner) -> None:
    """Load the composers once the server listens. The garbage collector skips them as well."""
    await runner.prepare()
    gc.freeze()
