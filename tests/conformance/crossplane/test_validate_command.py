"""Crossplane's own `resource validate`, the API server's validation: our examples and all that our functions write."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from modelplane_cli.output import manifests
from tests.conformance.crossplane import test_core
from tests.support import crossplane, gobinaries, installation, live

APIS = gobinaries.REPOSITORY / "apis"
EXAMPLES = gobinaries.REPOSITORY / "examples"
TOTAL = re.compile(r"Total (\d+) resources: (\d+) missing schemas, (\d+) success cases, (\d+) failure cases")


@pytest.fixture(scope="module")
def cli() -> Path:
    live.needs("crossplane-core", "go")
    return crossplane.cli()


UNKNOWN = ("keda.sh/", "kueue.x-k8s.io/", "scheduling.run.ai/", "scheduling.volcano.sh/")


def validate(cli: Path, what: Path) -> tuple[int, int, int, int]:
    """Return (resources, without schema, accepted, refused); fails with the command's words when one is refused."""
    done = subprocess.run(
        [str(cli), "resource", "validate", str(APIS), str(what), "--crossplane-image=", "--skip-success-results"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = TOTAL.search(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found, done.stdout + done.stderr
    resources, missing, accepted, refused = (int(number) for number in found.groups())
    return resources, missing, accepted, refused


@pytest.mark.parametrize("example", (*test_core.EXAMPLES, "classes"))
def test_the_examples_are_accepted(cli: Path, example: str) -> None:
    """Objects of KEDA and of queues are the only ones of which the command has no definition; it says how many."""
    resources, missing, accepted, refused = validate(cli, EXAMPLES / example)
    kinds = [one["apiVersion"] for one in installation.documents(*sorted((EXAMPLES / example).rglob("*.yaml")))]
    assert missing == sum(kind.startswith(UNKNOWN) for kind in kinds)
    assert refused == 0
    assert accepted == resources - missing > 0


@pytest.mark.parametrize("name", ["deployment", "cluster", "service", "required"])
def test_the_documents_of_the_render_example_are_accepted(cli: Path, name: str) -> None:
    resources, missing, accepted, refused = validate(cli, EXAMPLES / "render" / f"{name}.yaml")
    assert (missing, refused) == (0, 0)
    assert accepted == resources > 0


@pytest.mark.parametrize("example", test_core.EXAMPLES)
def test_what_the_functions_write_is_accepted(cli: Path, tmp_path: Path, example: str) -> None:
    """Composites with the status our functions give them, and the composites that they compose."""
    composites = test_core.world(example).composites()
    settled = tmp_path / "settled.yaml"
    # The command's own writer: PyYAML leaves a digest such as 12e45678 unquoted, which Go reads as a number.
    settled.write_text(manifests.to_yaml(composites))
    resources, missing, accepted, refused = validate(cli, settled)
    assert (missing, refused) == (0, 0)
    assert accepted == resources == len(composites)


def test_a_wrong_document_is_refused(cli: Path, tmp_path: Path) -> None:
    """The oracle can say no: without this, the tests above would pass with a command that checks nothing."""
    wrong = tmp_path / "wrong.yaml"
    document = yaml.safe_load((EXAMPLES / "render" / "service.yaml").read_text())
    document["spec"]["endpoint"] = []
    wrong.write_text(yaml.safe_dump(document))
    with pytest.raises(AssertionError, match="unknown field"):
        validate(cli, wrong)
