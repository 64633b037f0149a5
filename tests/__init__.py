"""The tests, and what they share.

Tests start programs from a process that also calls functions over gRPC. gRPC's handlers of fork() restart its pollers
in the child before the program begins, and while a channel is in use that aborts about one child in twenty before its
program was started (seen with grpcio 1.84.0: 20 of 400, and none without the handlers). Nothing here uses gRPC after a
fork.
"""

import os

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
