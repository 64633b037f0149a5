"""Charts of the profile, as their projects' modules have them, rendered by Helm with the values of the profile."""

from __future__ import annotations

import copy
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from modelplane.render.stack import profile, releases
from modelplane.workload.stack import Reference, Stack
from tests.conformance.tools import workshop
from tests.support import gobinaries

Json = Any
Document = dict[str, Any]
HERE: Final = Path(__file__).resolve().parent
PINS: Final = HERE.parent / "tools" / "charts"
CONFIG: Final = Reference("ClusterProviderConfig", "modelplane-a")
STACK: Final = Stack("a", "a", CONFIG, CONFIG)
FOLDERS: Final = {
    "cert-manager": ("github.com/cert-manager/cert-manager", "deploy/charts/cert-manager"),
    "envoy-gateway": ("github.com/envoyproxy/gateway", "charts/gateway-helm"),
    "lws": ("sigs.k8s.io/lws", "charts/lws"),
    "dra-nvidia": ("sigs.k8s.io/dra-driver-nvidia-gpu", "deployments/helm/dra-driver-nvidia-gpu"),
    "kserve-crd": ("github.com/kserve/kserve", "charts/kserve-llmisvc-crd-minimal"),
    "kserve": ("github.com/kserve/kserve", "charts/kserve-llmisvc-resources"),
    "kserve-presets": ("github.com/kserve/kserve", "charts/kserve-runtime-configs"),
    "kueue": ("sigs.k8s.io/kueue", "charts/kueue"),
}
"""Module and folder of the chart of each part that has one in reach."""
# Helm's own: cert-manager has a separator with a comment right behind it, which YAML takes for text.
_SEPARATOR: Final = re.compile(r"(?:^|\s*\n)---\s*")
# What the release of Envoy Gateway writes into the values of its chart.
_IMAGE: Final = {"${GatewayImage}": "docker.io/envoyproxy/gateway:v1.9.1", "${GatewayImagePullPolicy}": "IfNotPresent"}


@dataclass(frozen=True)
class Rendered:
    """The objects of a chart, those of its crds/ apart, or the error of Helm."""

    objects: tuple[Document, ...]
    definitions: tuple[Document, ...]
    error: str

    def find(self, kind: str, name: str) -> Document | None:
        """Return the object of a kind and name."""
        every = (*self.definitions, *self.objects)
        return next((one for one in every if (one["kind"], one["metadata"]["name"]) == (kind, name)), None)


def chart(part: str, folder: Path) -> Path:
    """Return the folder of the chart of a part; one whose values are a template is completed in `folder`."""
    module, path = FOLDERS[part]
    found = workshop.module_files(PINS, module) / path
    template = found / "values.tmpl.yaml"
    if not template.exists():
        return found
    made = folder / part
    shutil.copytree(found, made, dirs_exist_ok=True, copy_function=shutil.copyfile)
    text = template.read_text()
    for name, value in _IMAGE.items():
        text = text.replace(name, value)
    made.chmod(0o755)
    (made / "values.yaml").write_text(text)
    return made


def package(part: str, folder: Path, version: str = "") -> str:
    """Write the archive of a part's chart into `folder`, as a repository has it, and return its file name.

    `version` is that of the profile if empty. The charts in modules have a placeholder for it.
    """
    source = chart(part, folder.parent / "packaged")
    version = version or profile.parts()[part].chart.version
    name = profile.parts()[part].chart.name
    told = next(path for path in (source / "Chart.yaml", source / "Chart.template.yaml") if path.exists())
    described = {**yaml.safe_load(told.read_text()), "name": name, "version": version}
    file = folder / f"{name}-{version}.tgz"
    with tarfile.open(file, "w:gz") as archive:
        for path in sorted(one for one in source.rglob("*") if one.is_file() and one != told):
            archive.add(path, f"{name}/{path.relative_to(source)}")
        data = yaml.safe_dump(described).encode()
        entry = tarfile.TarInfo(f"{name}/Chart.yaml")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return file.name


def defaults(part: str, folder: Path) -> Json:
    """Return the values of the chart itself."""
    return yaml.safe_load((chart(part, folder) / "values.yaml").read_text())


def values(part: str) -> Json:
    """Return our values for a part."""
    return copy.deepcopy(releases.release(STACK, profile.parts()[part])["spec"]["forProvider"]["values"])


def render(part: str, folder: Path, *, given: Json = None, namespace: str = "") -> Rendered:
    """Return what Helm makes of the chart of a part with our values, or with those that are given."""
    made = profile.parts()[part]
    question = {
        "folder": str(chart(part, folder)),
        "release": made.release,
        "namespace": namespace or made.namespace,
        "values": values(part) if given is None else given,
        "apis": ["resource.k8s.io/v1", "cert-manager.io/v1"],
    }
    program = gobinaries.build(HERE, ".", "helm-render")
    done = subprocess.run([program], input=json.dumps([question]), capture_output=True, text=True, check=True)
    (answer,) = json.loads(done.stdout)
    return Rendered(_documents(answer["files"]), _documents(answer["definitions"]), answer["error"])


def _documents(files: Mapping[str, str] | None) -> tuple[Document, ...]:
    texts = [text for name, text in sorted((files or {}).items()) if not name.endswith("NOTES.txt")]
    parts = (part for text in texts for part in _SEPARATOR.split(text))
    found = (yaml.load(part, Loader=yaml.CSafeLoader) for part in parts)
    return tuple(one for one in found if isinstance(one, dict) and one.get("kind"))
