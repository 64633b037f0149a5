"""The arguments and the help of `modelplane serve`.

The server reads them itself, with the flags and the environment of the function SDK. It takes most of a second to load,
so help and completion read this description, which a test holds to the server's own.
"""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments

_EPILOG = """\
examples:
  modelplane serve --insecure --address localhost:9443
      serve without TLS on localhost, for `crossplane composition render` or the Development runtime of Crossplane
  modelplane serve --tls-server-certs-dir /tls/server
      serve as in a cluster: the directory has tls.crt, tls.key and ca.crt; callers need a certificate of that ca.crt
  modelplane serve --insecure --metrics-address :8080
      serve metrics of Prometheus at http://localhost:8080/metrics, too

Each option can be given by the environment variable that stands behind it. SIGTERM and SIGINT stop the server after
the running calls.

exit codes: 0 after an orderly stop, 2 bad input
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("serve", "Serve the composition functions over gRPC until SIGTERM or SIGINT.", _EPILOG)
    made.add_argument(
        "--address",
        metavar="HOST:PORT",
        default="0.0.0.0:9443",
        help="address of the gRPC server (default: %(default)s) [ADDRESS]",
    )
    made.add_argument(
        "--tls-server-certs-dir",
        "--tls-certs-dir",
        metavar="DIRECTORY",
        help="directory of the certificates for mutual TLS [TLS_SERVER_CERTS_DIR]",
    )
    made.add_argument(
        "--insecure", action="store_true", help="serve without TLS; the directory of certificates is ignored [INSECURE]"
    )
    made.add_argument(
        "--max-recv-message-size",
        "--max-grpc-message-size",
        metavar="MB",
        type=int,
        default=64,
        help="largest message that is received (default: %(default)s) [MAX_RECV_MESSAGE_SIZE, MAX_GRPC_MESSAGE_SIZE]",
    )
    made.add_argument(
        "--max-send-message-size",
        metavar="MB",
        type=int,
        help="largest message that is sent (default: as received) [MAX_SEND_MESSAGE_SIZE]",
    )
    made.add_argument(
        "--workers",
        metavar="N",
        type=int,
        help="requests that are computed at the same time, from 1 to 256; further ones wait "
        "(default: by the number of cores) [WORKERS]",
    )
    made.add_argument(
        "--metrics-address",
        metavar="HOST:PORT",
        help="address of the metrics of Prometheus, over plain HTTP (default: there are none) [METRICS_ADDRESS]",
    )
    made.add_argument(
        "--traces-endpoint",
        metavar="URL",
        help="OTLP receiver (gRPC) of traces, for example http://otel-collector.observability:4317 (default: there are "
        "none) [TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT]",
    )
    made.add_argument("-d", "--debug", action="store_true", help="write debug messages to the log [DEBUG]")
    return made
