"""The suites that take long: what each runs, what it depends on, and what it needs built.

A suite's paths are beginnings of file names in the repository; a change below one of them touches the suite. Its
minutes are those of a quiet machine of two cores with all programs built.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

GROUPS: Final = 3
"""As many days pass until the turn of each suite has come."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that runs by choice. MODELPLANE_SKIP may name it, or its `parts`; with all of them it is left out.

    `group` is the day of its turn, `limit_minutes` where it is stopped. `{seed}` in the command is the day's.
    """

    name: str
    command: tuple[str, ...]
    paths: tuple[str, ...]
    group: int
    minutes: float
    limit_minutes: float
    programs: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


ALWAYS: Final = (
    ("lint", ("hatch", "run", "lint"), 10),
    ("generated files", ("hatch", "run", "python", "-m", "tests.support.ci.generated"), 5),
    ("tests", ("hatch", "run", "test"), 30),
)
"""What runs whatever was changed: a name, a command, the minutes after which it is stopped."""

EVERYTHING: Final = ("pyproject.toml",)
"""What touches every suite."""

_CELL: Final = ("lib/kubecel/", "lib/modelplane/units.py", "lib/modelplane/errors.py")
_DEVICES: Final = (*_CELL, "lib/modelplane/devices/", "tests/support/allocator/", "tests/support/selectors.py")
_DECIDING: Final = (
    *_DEVICES,
    "lib/modelplane/placement/",
    "lib/modelplane/topology/",
    "lib/modelplane/workload/",
    "lib/modelplane/labels.py",
)
_RENDERING: Final = (
    "lib/modelplane/render/",
    "lib/modelplane/topology/",
    "lib/modelplane/workload/",
    "lib/modelplane/names.py",
    "lib/modelplane/errors.py",
)
_WIRE: Final = ("apis/", "schemas/", "lib/modelplane/api/", "lib/modelplane/structural/")
_FUNCTIONS: Final = ("functions/modelplane_functions/", "lib/modelplane/routing/", *_WIRE, *_RENDERING, *_DECIDING)
_REAL: Final = (
    "tests/conformance/tools/",
    "tests/support/controlplane.py",
    "tests/support/installation.py",
    "tests/support/kubeapi.py",
    "tests/support/live.py",
)
_DOCUMENTS: Final = ("tests/conformance/crd/", "tests/conformance/recorded.py")
_BAD_INPUT: Final = "tests/support/bad_input.py"
_SERVER: Final = ("etcd", "kube-apiserver")
_CROSSPLANE: Final = ("crossplane",)
_FLEET: Final = (
    *_SERVER, "kubectl", "kube-controller-manager", "kube-scheduler",
    "kwok", "lws", "provider-kubernetes", "llmisvc", *_CROSSPLANE,
)  # fmt: skip


def _conformance(folder: str) -> tuple[str, ...]:
    return ("hatch", "run", "pytest", "-n", "0", f"tests/conformance/{folder}")


SUITES: Final = (
    Suite(
        "laws",
        ("hatch", "run", "laws", "--seed", "{seed}"),
        (
            *_DECIDING, "lib/modelplane/routing/", "tests/property/", "tests/support/laws.py", _BAD_INPUT,
            "tests/support/grammar_fleets.py",
        ),
        group=0, minutes=14, limit_minutes=30,
    ),
    Suite(
        "slow",
        ("hatch", "run", "slow"),
        ("lib/", "functions/", "tests/property/", "tests/unit/", "tests/support/interleaving.py"),
        group=1, minutes=19, limit_minutes=30,
    ),
    Suite(
        "attack",
        ("hatch", "run", "attack"),
        (*_FUNCTIONS, "lib/modelplane_cli/", "tests/attack/", "tests/support/functionserver.py"),
        group=0, minutes=5, limit_minutes=20,
    ),
    Suite(
        "mutations",
        (
            "hatch", "run", "python", "-m", "tests.property.mutations",
            "--each", "4000", "--jobs", "2", "--seed", "{seed}",
        ),
        (
            *_FUNCTIONS, "tests/property/mutations.py", "tests/support/fields.py", "tests/support/losses.py",
            "tests/support/mutations.py", "tests/support/situations.py",
        ),
        group=0, minutes=4, limit_minutes=20,
    ),
    Suite(
        "upgrades",
        ("hatch", "run", "upgrades", "-n", "2", "tests/upgrades"),
        (
            *_FUNCTIONS, "lib/modelplane/sizing/", "lib/modelplane/scaling/", "lib/modelplane_cli/simulator/",
            "tests/upgrades/", "tests/support/room.py", "tests/support/rendered.py",
            "tests/support/functionserver.py", "tests/support/examples.py",
        ),
        group=1, minutes=5, limit_minutes=20,
    ),
    Suite(
        "oracle-fuzz",
        (
            "hatch", "run", "oracle-fuzz", "--seed", "{seed}",
            "--expressions", "4000", "--quantities", "20000", "--versions", "20000", "--allocations", "1000",
        ),
        (*_DEVICES, "tests/conformance/oracle/"),
        group=2, minutes=5, limit_minutes=20,
    ),
    Suite(
        "crd",
        _conformance("crd"),
        (*_WIRE, *_CELL, *_DOCUMENTS),
        group=1, minutes=1, limit_minutes=15,
    ),
    Suite(
        "allocator",
        _conformance("allocator"),
        (*_DEVICES, "tests/conformance/allocator/"),
        group=2, minutes=1, limit_minutes=15,
    ),
    Suite(
        "oracle",
        _conformance("oracle"),
        (
            *_DEVICES, "lib/modelplane/placement/binding.py", "lib/modelplane/render/claims.py",
            "tests/conformance/oracle/", "tests/support/device_questions.py", "tests/support/published.py",
        ),
        group=0, minutes=2, limit_minutes=20,
    ),
    Suite(
        "routing",
        _conformance("routing"),
        (
            *_FUNCTIONS, *_REAL, "tests/conformance/routing/", "tests/support/routing.py",
            "tests/support/certificates.py", "tests/support/exchange.py", "tests/e2e/envoy_gateway.py",
            "tests/conformance/stack/", "tests/property/test_address_laws.py", "tests/support/spellings.py",
            "examples/spillover/",
        ),
        group=1, minutes=5, limit_minutes=20, programs=("egctl", "envoy-gateway", *_SERVER),
    ),
    Suite(
        "aigateway",
        _conformance("aigateway"),
        (
            *_FUNCTIONS, *_REAL, "tests/conformance/aigateway/", "tests/conformance/routing/",
            "tests/e2e/envoy_gateway.py", "tests/support/ai.py", "tests/support/routing.py",
            "tests/support/exchange.py", "examples/ai-gateway/", "examples/budgets/",
        ),
        group=2, minutes=6, limit_minutes=25,
        programs=(*_SERVER, "envoy-gateway", "ai-gateway-controller", "ai-gateway-extproc", "ratelimit"),
    ),
    Suite(
        "kubernetes",
        _conformance("kubernetes"),
        (*_WIRE, *_CELL, *_RENDERING, *_REAL, "examples/", "tests/conformance/kubernetes/", *_DOCUMENTS),
        group=2, minutes=2, limit_minutes=20, programs=(*_SERVER, *_CROSSPLANE),
    ),
    Suite(
        "permissions",
        _conformance("permissions"),
        (
            *_WIRE, *_RENDERING, *_REAL, "examples/", "functions/modelplane_functions/",
            "tests/conformance/permissions/", *_DOCUMENTS, "tests/support/permissions.py",
            "tests/support/rendered.py",
        ),
        group=2, minutes=3, limit_minutes=20, programs=(*_SERVER, "kube-controller-manager", "crossplane-rbac"),
    ),
    Suite(
        "engines",
        _conformance("engines"),
        (
            "lib/modelplane/render/flags/", "lib/modelplane/render/arguments.py", "lib/modelplane/render/dialects.py",
            "lib/modelplane/render/backends/kuberay/", "lib/modelplane/errors.py", "lib/modelplane/sizing/",
            "lib/modelplane/topology/", "tests/conformance/engines/",
            "tests/conformance/tools/",
        ),
        group=2, minutes=2, limit_minutes=20,
    ),
    Suite(
        "staging",
        _conformance("staging"),
        (
            "lib/modelplane/render/", "lib/modelplane/workload/", "lib/modelplane/names.py",
            "tests/conformance/staging/", "tests/support/hub.py",
        ),
        group=0, minutes=1, limit_minutes=10,
    ),
    Suite(
        "picker",
        _conformance("picker"),
        (*_RENDERING, *_REAL, "lib/modelplane/devices/", "tests/conformance/picker/", "tests/support/llmd.py"),
        group=1, minutes=1, limit_minutes=15, programs=(*_SERVER, "epp"),
    ),
    Suite(
        "scaling",
        _conformance("scaling"),
        (
            *_FUNCTIONS, *_REAL, "lib/modelplane/scaling/", "tests/conformance/scaling/", "tests/support/fleet.py",
            "tests/support/exchange.py", "tests/support/certificates.py",
        ),
        group=1, minutes=6, limit_minutes=20,
        programs=(*_SERVER, "kube-controller-manager", "keda-operator", "keda-adapter", "keda-webhooks"),
    ),
    Suite(
        "metrics",
        _conformance("metrics"),
        (
            *_FUNCTIONS, *_REAL, "examples/", "docs/metrics.md", "docs/runbook/", "lib/modelplane_cli/simulator/",
            "tests/conformance/metrics/", "tests/support/functionserver.py", "tests/support/rendered.py",
        ),
        group=2, minutes=3, limit_minutes=20,
        programs=(*_SERVER, "kubectl", "kube-state-metrics", "prometheus", "promtool"),
    ),
    Suite(
        "manifests",
        _conformance("manifests"),
        (
            *_FUNCTIONS, *_REAL, "examples/", "tests/conformance/manifests/", "tests/conformance/scheduler/",
            "tests/support/rendered.py", "lib/modelplane_cli/simulator/",
        ),
        group=0, minutes=2, limit_minutes=20, programs=(*_SERVER, *_CROSSPLANE),
    ),
    Suite(
        "clouds",
        _conformance("clouds"),
        (
            *_RENDERING, *_WIRE, *_REAL, "lib/kubecel/", "tests/conformance/clouds/", "tests/conformance/manifests/",
            "examples/", "functions/modelplane_functions/", "lib/modelplane_cli/simulator/", "tests/support/aks.py",
            "tests/support/eks.py", "tests/support/rendered.py", "tests/support/sites.py",
        ),
        group=1, minutes=7, limit_minutes=25, programs=(*_SERVER, "kube-controller-manager", *_CROSSPLANE),
    ),
    Suite(
        "crossplane",
        _conformance("crossplane"),
        (
            *_FUNCTIONS, *_REAL, "functions/package/", "crossplane.yaml", "docs/pull-requests.md", "examples/",
            "lib/modelplane_cli/", "tests/conformance/crossplane/", "tests/support/crossplane.py",
            "tests/support/functionserver.py", "tests/support/gobinaries.py", "tests/support/livefleet.py",
            "tests/support/requests.py",
        ),
        group=1, minutes=17, limit_minutes=27,
        programs=(*_SERVER, "kube-controller-manager", "crossplane", "crossplane-cli"),
        parts=("crossplane-core", "crossplane-watches", "packages"),
    ),
    Suite(
        "supply",
        _conformance("supply"),
        (
            "functions/package/", "docs/release.md", "crossplane.yaml", "tests/conformance/supply/",
            "tests/conformance/crossplane/test_packages.py", "tests/conformance/tools/", "tests/support/live.py",
        ),
        group=2, minutes=2, limit_minutes=15, programs=("cosign", "crane", "crossplane-cli"),
    ),
    Suite(
        "stack",
        _conformance("stack"),
        (
            *_RENDERING, *_REAL, *_WIRE, *_DECIDING, "tests/conformance/stack/", "tests/support/gobinaries.py",
        ),
        group=2, minutes=4, limit_minutes=20, programs=_SERVER,
    ),
    Suite(
        "installation",
        ("hatch", "run", "pytest", "-n", "0", "-m", "slow", "tests/e2e/test_provider_helm.py"),
        (
            *_REAL, "lib/modelplane/render/stack/", "lib/modelplane/api/serving_stack.py",
            "functions/modelplane_functions/compose/serving_stack.py", "tests/conformance/stack/",
            "tests/e2e/provider_pair.py", "tests/e2e/test_provider_helm.py", "tests/support/stack_world.py",
        ),
        group=0, minutes=9, limit_minutes=25,
        programs=(
            *_SERVER, "kube-controller-manager", "kube-scheduler", "kwok", "provider-helm", "provider-kubernetes",
        ),
    ),
    Suite(
        "report",
        _conformance("report"),
        (
            "lib/modelplane_cli/report/", "lib/modelplane_cli/commands/", "lib/modelplane_cli/parsers/report.py",
            "lib/modelplane_cli/output/models/", "lib/modelplane_cli/planning/", "examples/quickstart/",
            "tests/bench/report.py", "tests/bench/stated.py", "tests/conformance/report/", "docs/images/",
            "tests/support/browser.py", "tests/support/live.py", "tests/support/planning.py",
        ),
        group=1, minutes=3, limit_minutes=15,
    ),
    Suite(
        "gitops",
        _conformance("gitops"),
        (
            *_FUNCTIONS, "examples/", "tests/conformance/gitops/", "lib/modelplane_cli/simulator/",
            "tests/support/gobinaries.py", "tests/support/planning.py",
        ),
        group=0, minutes=1, limit_minutes=15,
    ),
    Suite(
        "scheduler",
        _conformance("scheduler"),
        (
            *_DECIDING, *_RENDERING, *_WIRE, *_REAL, "examples/", "lib/modelplane_cli/planning/",
            "lib/modelplane_cli/simulator/", "tests/conformance/scheduler/", "tests/support/rendered.py",
            "lib/modelplane/inventory/", "lib/modelplane_cli/commands/classes.py",
            "tests/support/driver_slices.py",
            "tests/support/grammar_fleets.py", "tests/support/device_questions.py", "tests/support/published.py",
        ),
        group=2, minutes=11, limit_minutes=30,
        programs=(*_SERVER, "kubectl", "kube-scheduler", "kube-controller-manager"),
    ),
    Suite(
        "workloads",
        ("hatch", "run", "pytest", "-n", "0", "-m", "slow", "tests/e2e/test_workloads.py"),
        (*_FUNCTIONS, *_REAL, "examples/", "tests/e2e/"),
        group=1, minutes=12, limit_minutes=25, programs=(*_FLEET, "kuberay", "kaito", "kueue"),
    ),
    Suite(
        "operators",
        (
            "hatch", "run", "pytest", "-n", "0", "-m", "slow",
            "tests/e2e/test_kserve.py", "tests/e2e/test_kuberay.py", "tests/e2e/test_kaito.py",
            "tests/e2e/test_provider.py", "tests/e2e/test_provider_pods.py", "tests/e2e/test_endings.py",
            "tests/e2e/test_kueue.py", "tests/e2e/test_provider_queue.py", "tests/e2e/test_node_files.py",
            "tests/e2e/test_provider_observation.py", "tests/e2e/test_outages.py",
        ),
        (
            *_FUNCTIONS, *_REAL, "examples/queues/", "examples/rbac-workload-observer.yaml", "tests/e2e/",
            "tests/support/kaito.py",
        ),
        group=2, minutes=18, limit_minutes=30, programs=(*_FLEET, "kuberay", "kaito", "kueue", "localmodel"),
    ),
    Suite(
        "e2e",
        ("hatch", "run", "e2e", "test"),
        (*_FUNCTIONS, *_REAL, "examples/quickstart/", "tests/e2e/", "tests/support/crossplane.py"),
        group=0, minutes=13, limit_minutes=30, programs=(*_FLEET, "envoy-gateway"),
    ),
    Suite(
        "chaos",
        ("hatch", "run", "e2e", "chaos", "--minutes", "10", "--seed", "{seed}"),
        (*_FUNCTIONS, *_REAL, "examples/quickstart/", "tests/e2e/", "tests/support/crossplane.py"),
        group=2, minutes=14, limit_minutes=28, programs=(*_FLEET, "envoy-gateway"),
    ),
)  # fmt: skip

_FAILED_ALONE: Final = ("--last-failed", "--last-failed-no-failures", "none")

AGAIN: Final = {
    "tests": ("hatch", "run", "pytest", "-n", "0", *_FAILED_ALONE),
    "e2e": ("hatch", "run", "e2e", "test"),  # a step begins where the one before it ended
} | {
    one.name: (*one.command, *_FAILED_ALONE)
    for one in SUITES
    if one.name
    in {
        "aigateway",
        "clouds",
        "crossplane",
        "manifests",
        "metrics",
        "operators",
        "permissions",
        "report",
        "routing",
        "scaling",
        "scheduler",
        "slow",
        "workloads",
    }
}
"""The second attempts of what runs by the clock or with servers of others, where a busy machine can fail a test.

What passes then is reported as unstable, by name. What computes alone has no second attempt: it would fail again.
"""


def seed(day: date) -> int:
    """Return the seed of random questions of a day: 20260102 on the second of January."""
    return day.year * 10000 + day.month * 100 + day.day
