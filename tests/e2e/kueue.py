"""Kueue and its webhooks as a process, as the serving stack configures it.

Two things differ from its release. Webhooks are called by URL, and not through a Service. And the program looks for the
certificates of its metrics in a fixed folder of /etc, which it is shown in a mount namespace of its own.
Source: Kueue v0.19.2 (cmd/kueue/main.go, config/components/webhook).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from modelplane.render.stack import profile
from tests.conformance.tools import workshop
from tests.support import controlplane, installation

Document = dict[str, Any]

KUEUE = "sigs.k8s.io/kueue"
NAMESPACE = "kueue-system"
# Kueue refuses to serve a review of the pods of these.
_NOT_ITS = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", NAMESPACE]}


def install(plane: controlplane.Plane) -> None:
    """Install Kueue's definitions and webhooks, start its controllers, and wait until they answer."""
    installation.definitions(plane, "kueue")
    installation.namespace(plane, NAMESPACE)
    port, health, metrics = controlplane.free_ports(3)
    certificates = plane.issue("kueue-webhook", "kueue")
    file = plane.folder / "kueue.yaml"
    file.write_text(yaml.safe_dump(_configuration(certificates, port, health, metrics)))
    gates = ("VisibilityOnDemand=false", "UnadmittedWorkloadsObservability=true")
    command = _with_etc(plane.folder / "kueue-etc", certificates)
    process = plane.start(
        controlplane.Process(
            "kueue",
            (*command, str(workshop.program("kueue")), f"--config={file}", f"--feature-gates={','.join(gates)}"),
            plane.folder / "kueue.log",
            {"KUBECONFIG": str(plane.kubeconfig)},
        )
    )
    controlplane.await_port(process, port)
    root = workshop.source("kueue", KUEUE)
    for document in installation.documents(root / "config" / "components" / "webhook" / "manifests.yaml"):
        plane.api.apply(_webhooks(document, port, certificates))


def _configuration(certificates: Path, port: int, health: int, metrics: int) -> Document:
    """Return the configuration that the serving stack installs, for a process beside others on one machine."""
    made: Document = yaml.safe_load(profile.KUEUE_CONFIGURATION)
    return {
        **made,
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics}"},
        "webhook": {"port": port, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }


def _with_etc(folder: Path, certificates: Path) -> tuple[str, ...]:
    """Return the words before a command that let it see the certificates in /etc, as nobody else does."""
    wanted = folder / "kueue" / "metrics" / "certs"
    wanted.mkdir(parents=True, exist_ok=True)
    for name in ("tls.crt", "tls.key"):
        shutil.copy(certificates / name, wanted / name)
    script = 'mount -t overlay overlay -o "lowerdir=$0:/etc" /etc && exec "$@"'
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(folder))


def _webhooks(document: Document, port: int, certificates: Path) -> Document:
    made = installation.called_by_url(document, port, certificates)
    for webhook in made["webhooks"]:
        if webhook["rules"][0]["apiGroups"] != ["kueue.x-k8s.io"]:
            webhook["namespaceSelector"] = {"matchExpressions": [_NOT_ITS]}
    made["metadata"]["name"] = f"kueue-{made['metadata']['name']}"
    return made
