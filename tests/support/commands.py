"""The command run in this process, and a small complete world as files for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from modelplane_cli import __main__ as command

CLASS = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: l4}
spec:
  devices:
  - name: gpu
    driver: gpu.nvidia.com
    deviceClassName: gpu.nvidia.com
    capacity: {memory: {value: 23034Mi}}
"""
CLUSTER = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: c}
spec:
  cluster: {source: Existing, existing: {secretRef: {namespace: s, name: c, key: kubeconfig}}}
  nodePools: [{name: p, className: l4, nodeCount: 2}]
"""
GATEWAY = "apiVersion: modelplane.ai/v1alpha1\nkind: InferenceGateway\nmetadata: {name: default}\nspec: {type: Envoy}\n"
DEPLOYMENT = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: m, namespace: t}
spec:
  model: {name: m, uri: "hf://a/m"}
  nodeSelector: {cel: "true"}
  workers:
    topology: {tensor: 1}
    template:
      spec:
        containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]
"""
SERVICE = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata: {name: m, namespace: t}
spec:
  endpoints: [{selector: {matchLabels: {modelplane.ai/deployment: m}}}]
"""
KUBECONFIG = "apiVersion: v1\nkind: Secret\nmetadata: {name: c, namespace: s}\ndata: {kubeconfig: c2VjcmV0LXZhbHVl}\n"
WORLD = {
    "class": CLASS,
    "cluster": CLUSTER,
    "gateway": GATEWAY,
    "deployment": DEPLOYMENT,
    "service": SERVICE,
    "secret": KUBECONFIG,
}


class Ran:
    """One run of the command in this process."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Run: TypeAlias = Callable[..., Ran]


def runner(capsys: pytest.CaptureFixture[str], folder: Path) -> Run:
    """Return a function that runs the command; its `files` are written to `folder`, the working directory, first."""

    def run(*arguments: str, files: dict[str, str] | None = None) -> Ran:
        for name, text in (files or {}).items():
            (folder / name).write_text(text)
        try:
            code = command.main(arguments)
        except SystemExit as stopped:  # argparse
            code = int(stopped.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


def files(**changes: str | None) -> dict[str, str]:
    """Return a complete world as files, with some of them changed or, for None, left out."""
    return {f"{name}.yaml": text for name, text in {**WORLD, **changes}.items() if text is not None}
