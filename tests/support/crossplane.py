"""Crossplane's own reconciler, one turn at a time: `internal render` of the real core, on our running server.

Shape: documents are plain Python data. What the core reports as deleted it would have garbage-collected on a cluster.
Source: Crossplane v2.4.0 proto/render/v1alpha1/render.proto (its messages are declared below by number) and
cmd/crossplane/render: exit code 3 is a fatal result with the output so far.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, struct_pb2

from tests.support import gobinaries

VERSION = "v2.4.0"
CORE_MODULE = gobinaries.REPOSITORY / "tests" / "conformance" / "crossplane" / "core"
CORE_PACKAGE = "github.com/crossplane/crossplane/v2/cmd/crossplane"
# The command has versions of its own since v2.4.
CLI_VERSION = "v2.5.0"
CLI_MODULE = gobinaries.REPOSITORY / "tests" / "conformance" / "crossplane" / "cli"
CLI_PACKAGE = "github.com/crossplane/cli/v2/cmd/crossplane"
KEY_ANNOTATION = "crossplane.io/composition-resource-name"
TIMEOUT_SECONDS = 120
EXIT_FATAL = 3

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Rendered:
    """One turn of the reconciler. `fatal` is the core's message when a step of the pipeline was fatal."""

    composite: dict[str, Any]
    composed: list[dict[str, Any]]
    deleted: list[dict[str, Any]]
    events: list[tuple[str, str, str]]
    requirements: list[dict[str, Any]]
    fatal: str | None

    def condition(self, kind: str) -> dict[str, Any]:
        """Return a condition of the composite, empty when it has none of this type."""
        conditions = self.composite.get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == kind), {})

    def keys(self) -> list[str]:
        """Return the composition keys of what was composed, sorted."""
        return sorted(one["metadata"]["annotations"][KEY_ANNOTATION] for one in self.composed)


class CoreError(Exception):
    """The core gave up: an error of a function or a read, or unstable requirements. Nothing would have been applied."""


def binary() -> Path:
    """Return Crossplane's core, built when it is not there yet."""
    return gobinaries.build(CORE_MODULE, CORE_PACKAGE, f"crossplane-{VERSION}")


def rbac_manager() -> Path:
    """Return the same program for `rbac start`, which has no flag for the port of its metrics (8080)."""
    stamp = "sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=127.0.0.1:0"
    return gobinaries.build(CORE_MODULE, CORE_PACKAGE, f"crossplane-rbac-{VERSION}", stamps=(stamp,))


def cli() -> Path:
    """Return Crossplane's command, built when it is not there yet."""
    return gobinaries.build(CLI_MODULE, CLI_PACKAGE, f"crossplane-cli-{CLI_VERSION}")


def render(
    composite: Document,
    composition: Document,
    *,
    functions: Mapping[str, str],
    observed: Iterable[Document] = (),
    required: Iterable[Document] = (),
) -> Rendered:
    """Return what one reconcile of `composite` does.

    `functions` are addresses by name (plaintext), `observed` the existing children, `required` everything that a
    requirement may find.
    Raises: CoreError when the reconcile fails with something other than a fatal result.
    """
    request = _MESSAGES["RenderRequest"]()
    inputs = request.composite
    inputs.composite_resource.CopyFrom(_struct(composite))
    inputs.composition.CopyFrom(_struct(composition))
    for name in sorted(functions):
        inputs.functions.add(name=name, address=functions[name])
    inputs.observed_resources.extend(_struct(document) for document in observed)
    inputs.required_resources.extend(_struct(document) for document in required)
    done = subprocess.run(
        [str(binary()), "internal", "render", f"--timeout={TIMEOUT_SECONDS}s"],
        input=request.SerializeToString(),
        capture_output=True,
        timeout=TIMEOUT_SECONDS + 30,
        check=False,
    )
    words = done.stderr.decode(errors="replace").strip()
    if done.returncode not in (0, EXIT_FATAL):
        raise CoreError(words)
    output = _MESSAGES["RenderResponse"].FromString(done.stdout).composite
    return Rendered(
        composite=_plain(output.composite_resource),
        composed=sorted((_plain(one) for one in output.composed_resources), key=identity),
        deleted=sorted((_plain(one) for one in output.deleted_resources), key=identity),
        events=[(event.type, event.reason, event.message) for event in output.events],
        requirements=[_plain(one) for one in output.required_resources],
        fatal=words if done.returncode == EXIT_FATAL else None,
    )


def identity(document: Document) -> tuple[str, str, str, str]:
    """Return what tells a document from every other."""
    metadata = document["metadata"]
    return document["apiVersion"], document["kind"], metadata.get("namespace", ""), metadata["name"]


def _struct(document: Document) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update(dict(document))
    return struct


def _plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = _integral(json_format.MessageToDict(struct))
    return plain


def _integral(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _integral(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_integral(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _messages(file: descriptor_pb2.FileDescriptorProto, names: Sequence[str]) -> dict[str, Any]:
    # The default pool, so that a Struct in these messages is the Struct of everything else.
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{name}")) for name in names
    }


def _declaration() -> descriptor_pb2.FileDescriptorProto:
    """Return the part of render.proto that composites need."""
    file = descriptor_pb2.FileDescriptorProto(
        name="crossplane/render/v1alpha1/render.proto",
        package="crossplane.render.v1alpha1",
        syntax="proto3",
        dependency=["google/protobuf/struct.proto"],
    )
    struct, text = ".google.protobuf.Struct", ""
    fields: dict[str, list[tuple[str, int, str, str]]] = {
        "FunctionInput": [("name", 1, "one", text), ("address", 2, "one", text)],
        "Event": [("type", 1, "one", text), ("reason", 2, "one", text), ("message", 3, "one", text)],
        "CompositeInput": [
            ("composite_resource", 1, "one", struct),
            ("composition", 2, "one", struct),
            ("functions", 3, "many", ".crossplane.render.v1alpha1.FunctionInput"),
            ("observed_resources", 4, "many", struct),
            ("required_resources", 5, "many", struct),
        ],
        "CompositeOutput": [
            ("composite_resource", 1, "one", struct),
            ("composed_resources", 2, "many", struct),
            ("deleted_resources", 3, "many", struct),
            ("events", 4, "many", ".crossplane.render.v1alpha1.Event"),
            ("required_resources", 5, "many", struct),
        ],
        "RenderRequest": [("composite", 2, "one", ".crossplane.render.v1alpha1.CompositeInput")],
        "RenderResponse": [("composite", 2, "one", ".crossplane.render.v1alpha1.CompositeOutput")],
    }
    kinds = descriptor_pb2.FieldDescriptorProto
    for message_name, members in fields.items():
        message = file.message_type.add(name=message_name)
        for name, number, many, type_name in members:
            field = message.field.add(
                name=name,
                number=number,
                label=kinds.LABEL_REPEATED if many == "many" else kinds.LABEL_OPTIONAL,
                type=kinds.TYPE_MESSAGE if type_name else kinds.TYPE_STRING,
            )
            if type_name:
                field.type_name = type_name
    return file


_MESSAGES = _messages(_declaration(), ["RenderRequest", "RenderResponse"])
