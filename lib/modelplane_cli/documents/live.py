"""The objects of a control plane, read through kubectl with the user's own credentials, plug-ins and proxies.

What may never happen here: anything but reading, a Secret, or a shell.
"""

from __future__ import annotations

import shutil
import subprocess

from modelplane import names
from modelplane.errors import InvalidInput

SECONDS = 300
"""The time limit of kubectl, sufficient for the list of a large fleet over a slow connection."""

# What our functions compose and observe, beside our own kinds. Secrets are not among them.
COMPOSED = frozenset(
    {
        "objects.kubernetes.m.crossplane.io",
        "observedobjectcollections.kubernetes.m.crossplane.io",
        "clusterproviderconfigs.kubernetes.m.crossplane.io",
        "releases.helm.m.crossplane.io",
        "providerconfigs.helm.m.crossplane.io",
        "clusterusages.protection.crossplane.io",
        "usages.protection.crossplane.io",
        "gatewayclasses.gateway.networking.k8s.io",
        "gateways.gateway.networking.k8s.io",
        "httproutes.gateway.networking.k8s.io",
        "backends.gateway.envoyproxy.io",
        "backendtrafficpolicies.gateway.envoyproxy.io",
        "clienttrafficpolicies.gateway.envoyproxy.io",
        "envoyproxies.gateway.envoyproxy.io",
        "httproutefilters.gateway.envoyproxy.io",
        "securitypolicies.gateway.envoyproxy.io",
        "networkpolicies.networking.k8s.io",
    }
)


def text(context: str) -> str:
    """Return every object of modelplane.ai and everything composed from them, as one JSON list.

    Raises: InvalidInput, in kubectl's own words where it has some.
    """
    served = _kubectl(context, "api-resources", "--verbs=list", "--no-headers", "-o", "name").split()
    ours = sorted(name for name in served if name.partition(".")[2] == names.GROUP)
    if not ours:
        raise InvalidInput(
            f"--context {context}: the API server serves no kind of {names.GROUP}; install the Configuration first"
        )
    wanted = [*ours, *sorted(COMPOSED.intersection(served))]
    return _kubectl(context, "get", ",".join(wanted), "--all-namespaces", "-o", "json")


def _kubectl(context: str, *arguments: str) -> str:
    program = shutil.which("kubectl")
    if program is None:
        raise InvalidInput(
            f"--context {context} needs kubectl on PATH; install it, or give files or - for standard input"
        )
    try:
        # An argument list and no shell: a context's name is data.
        done = subprocess.run(  # noqa: S603 - kubectl, its arguments a list and no shell
            [program, f"--context={context}", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InvalidInput(f"--context {context}: kubectl {arguments[0]} did not respond within {SECONDS} s") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise InvalidInput(f"--context {context}: kubectl {arguments[0]}: {said}")
    return done.stdout
