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

# What our functions compose and observe, beside our own kinds. Secrets are not among them, nor ConfigMaps: those of a
# control plane hold more than the authorities of our endpoints.
COMPOSED = frozenset(
    {
        "objects.kubernetes.m.crossplane.io",
        "observedobjectcollections.kubernetes.m.crossplane.io",
        "clusterproviderconfigs.kubernetes.m.crossplane.io",
        "releases.helm.m.crossplane.io",
        "clusterproviderconfigs.helm.m.crossplane.io",
        "providerconfigs.helm.m.crossplane.io",
        "clusterusages.protection.crossplane.io",
        "usages.protection.crossplane.io",
        "gatewayclasses.gateway.networking.k8s.io",
        "gateways.gateway.networking.k8s.io",
        "httproutes.gateway.networking.k8s.io",
        "aigatewayroutes.aigateway.envoyproxy.io",
        "aiservicebackends.aigateway.envoyproxy.io",
        "backendsecuritypolicies.aigateway.envoyproxy.io",
        "backends.gateway.envoyproxy.io",
        "backendtrafficpolicies.gateway.envoyproxy.io",
        "clienttrafficpolicies.gateway.envoyproxy.io",
        "envoyproxies.gateway.envoyproxy.io",
        "httproutefilters.gateway.envoyproxy.io",
        "securitypolicies.gateway.envoyproxy.io",
        "networkpolicies.networking.k8s.io",
        "horizontalpodautoscalers.autoscaling",
        "scaledobjects.keda.sh",
        "certificates.cert-manager.io",
        "issuers.cert-manager.io",
    }
)

# What our functions require of others: an InferenceCluster may allow namespaces by their labels, and cert-manager
# publishes the certificate of an InferenceGateway's authority in a request.
REQUIRED = frozenset({"namespaces", "certificaterequests.cert-manager.io"})


def text(context: str) -> str:
    """Return every object of modelplane.ai and everything composed from them, as one JSON list.

    Raises: InvalidInput, in kubectl's own words where it has some.
    """
    served = _served(context)
    wanted = [*_ours(context, served), *sorted((COMPOSED | REQUIRED).intersection(served))]
    return _kubectl(context, "get", ",".join(wanted), "--all-namespaces", "-o", "json")


# What says which devices a cluster has. The API server of a cluster without DRA serves none of the last two.
HARDWARE = ("nodes", "resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io")


def hardware(context: str) -> str:
    """Return the nodes, ResourceSlices and DeviceClasses of a cluster with devices, as one JSON list.

    Raises: InvalidInput, in kubectl's own words where it has some.
    """
    served = set(_served(context))
    return _kubectl(
        context, "get", ",".join(one for one in HARDWARE if one in served or one == HARDWARE[0]), "-o", "json"
    )


def kinds(context: str) -> list[str]:
    """Return the kinds of modelplane.ai that the API server serves. Raises: InvalidInput."""
    return _ours(context, _served(context))


def watch(context: str, kind: str) -> subprocess.Popen[str]:
    """Return a process that prints the name of each object of a kind as it changes, until it is ended.

    The API server ends a watch after a while; what changed before the next one is not told. Raises: InvalidInput.
    """
    command = [_program(context), f"--context={context}", "get", kind, "--all-namespaces", "--watch-only", "-o", "name"]
    return subprocess.Popen(  # noqa: S603 - kubectl, its arguments a list and no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


def _served(context: str) -> list[str]:
    return _kubectl(context, "api-resources", "--verbs=list", "--no-headers", "-o", "name").split()


def _ours(context: str, served: list[str]) -> list[str]:
    ours = sorted(name for name in served if name.partition(".")[2] == names.GROUP)
    if not ours:
        raise InvalidInput(
            f"--context {context}: the API server serves no kind of {names.GROUP}; install the Configuration first"
        )
    return ours


def _program(context: str) -> str:
    program = shutil.which("kubectl")
    if program is None:
        raise InvalidInput(
            f"--context {context} needs kubectl on PATH; install it, or give files or - for standard input"
        )
    return program


def _kubectl(context: str, *arguments: str) -> str:
    program = _program(context)
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
