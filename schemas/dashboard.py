"""Writes examples/metrics/dashboard.json, the dashboard of the fleet for Grafana.

Run as `python schemas/dashboard.py`, with another file as its only argument to write elsewhere. A panel is a line of
the tables below; places, identifiers and the rest of Grafana's model follow from its position.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any

TARGET: Final = Path(__file__).resolve().parent.parent / "examples" / "metrics" / "dashboard.json"
_COLUMNS: Final = 24
_DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_TEAM: Final = 'namespace=~"$namespace"'
_SCHEMA_VERSION: Final = 41


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: what it is called, says and shows. `queries` are pairs of an expression and a legend."""

    title: str
    about: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    stacks: bool = False


ROWS: Final[tuple[tuple[str, tuple[Panel, ...]], ...]] = (
    (
        "Fleet",
        (
            Panel("Devices", "Devices of all pools.", (("sum(modelplane_cluster_devices)", ""),), kind="stat", width=4),
            Panel(
                "Free",
                "Devices that nothing holds.",
                (("sum(modelplane_cluster_free_devices)", ""),),
                kind="stat",
                width=4,
            ),
            Panel(
                "In use",
                "Share of the devices that admitted replicas hold.",
                (("1 - sum(modelplane_cluster_free_devices) / sum(modelplane_cluster_devices)", ""),),
                unit="percentunit",
                kind="stat",
                width=4,
            ),
            Panel(
                "Cost per hour",
                "Nodes of all pools at the prices that their classes state, used or not.",
                (
                    (
                        (
                            "sum(modelplane_cluster_pool_nodes * on (class) group_left () "
                            "max by (class) (modelplane_class_node_hour_cost))"
                        ),
                        "",
                    ),
                ),
                kind="stat",
                width=4,
            ),
            Panel(
                "Clusters that are not ready",
                "What runs there is kept.",
                (('count(modelplane_cluster_condition{type="ClusterReady"} < 1) or vector(0)', ""),),
                kind="stat",
                width=4,
            ),
            Panel(
                "Replicas without a place",
                "Of all deployments.",
                (("sum(modelplane_deployment_unscheduled_replicas)", ""),),
                kind="stat",
                width=4,
            ),
            Panel(
                "Free devices by cluster",
                "A cluster that is not counted has no line.",
                (("modelplane_cluster_free_devices", "{{cluster}}"),),
                width=12,
            ),
            Panel(
                "Devices in use by region",
                "From the label modelplane.ai/region of the clusters.",
                (
                    (
                        (
                            "sum by (region) ((modelplane_cluster_devices - modelplane_cluster_free_devices) "
                            "* on (cluster) group_left (region) modelplane_cluster_info)"
                        ),
                        "{{region}}",
                    ),
                ),
                width=12,
                stacks=True,
            ),
        ),
    ),
    (
        "Models",
        (
            Panel(
                "Replicas by phase",
                "Of the namespaces chosen above.",
                ((f"sum by (phase) (modelplane_replica_phase{{{_TEAM}}})", "{{phase}}"),),
                stacks=True,
            ),
            Panel(
                "Replicas without a place, by reason",
                "The reason is that of the condition ReplicasScheduled.",
                (
                    (
                        (
                            f"sum by (reason) (modelplane_deployment_unscheduled_replicas{{{_TEAM}}} "
                            "* on (namespace, deployment) group_left (reason) "
                            '(1 - modelplane_deployment_condition{type="ReplicasScheduled"}))'
                        ),
                        "{{reason}}",
                    ),
                ),
                stacks=True,
            ),
            Panel(
                "Ready endpoints by service",
                "A service with none answers with errors.",
                ((f"modelplane_service_ready_endpoints{{{_TEAM}}}", "{{namespace}}/{{service}}"),),
            ),
            Panel(
                "Wanted and serving replicas",
                "Of the namespaces chosen above.",
                (
                    (f"sum(modelplane_deployment_wanted_replicas{{{_TEAM}}})", "wanted"),
                    (f"sum(modelplane_deployment_placed_replicas{{{_TEAM}}})", "placed"),
                    (f"sum(modelplane_deployment_ready_replicas{{{_TEAM}}})", "serving"),
                ),
                width=12,
            ),
            Panel(
                "Copies of caches by phase",
                "Of the namespaces chosen above.",
                ((f"sum by (phase) (modelplane_cache_copy_phase{{{_TEAM}}})", "{{phase}}"),),
                width=12,
                stacks=True,
            ),
        ),
    ),
    (
        "Function server",
        (
            Panel(
                "Calls by outcome",
                "Refused calls are mistakes of authors; what is named by a gRPC status is not.",
                (("sum by (outcome) (rate(modelplane_function_calls_total[$__rate_interval]))", "{{outcome}}"),),
                unit="reqps",
                stacks=True,
            ),
            Panel(
                "Seconds of a call",
                "From its arrival to its answer.",
                tuple(
                    (
                        (
                            f"histogram_quantile({share}, sum by (le) "
                            "(rate(modelplane_function_call_duration_seconds_bucket[$__rate_interval])))"
                        ),
                        f"quantile {share}",
                    )
                    for share in (0.5, 0.9, 0.99)
                ),
                unit="s",
            ),
            Panel(
                "Calls under way",
                "Crossplane asks again for what is turned away at 1,024 queued calls of one namespace.",
                (
                    ("sum(modelplane_function_queued_calls)", "queued"),
                    ("sum(modelplane_function_computing_calls)", "computing"),
                ),
            ),
            Panel(
                "Calls by kind",
                "A change of one object should call few others.",
                (("sum by (kind) (rate(modelplane_function_calls_total[$__rate_interval]))", "{{kind}}"),),
                unit="reqps",
                stacks=True,
            ),
            Panel(
                "Bytes received and sent",
                "Crossplane receives at most 4 MiB in one answer.",
                (
                    ("sum(rate(modelplane_function_request_bytes_sum[$__rate_interval]))", "received"),
                    ("sum(rate(modelplane_function_response_bytes_sum[$__rate_interval]))", "sent"),
                ),
                unit="Bps",
            ),
            Panel(
                "Memory",
                "Resident memory of each server.",
                (("process_resident_memory_bytes and on (instance) modelplane_function_build_info", "{{instance}}"),),
                unit="bytes",
            ),
        ),
    ),
)


def main(arguments: list[str]) -> int:
    """Return 0 after the dashboard was written."""
    text = json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n"
    (Path(arguments[0]) if arguments else TARGET).write_text(text)
    return 0


def dashboard() -> dict[str, Json]:
    """Return the dashboard in Grafana's model."""
    panels: list[Json] = []
    top = 0
    for title, row in ROWS:
        panels.append(
            {
                "id": len(panels) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                "gridPos": {"x": 0, "y": top, "w": _COLUMNS, "h": 1},
            }
        )  # fmt: skip
        top += 1
        left = height = 0
        for panel in row:
            if left + panel.width > _COLUMNS:
                top, left, height = top + height, 0, 0
            size = 4 if panel.kind == "stat" else 8
            panels.append(_panel(panel, len(panels) + 1, {"x": left, "y": top, "w": panel.width, "h": size}))
            left, height = left + panel.width, max(height, size)
        top += height
    return {
        "uid": "modelplane-fleet",
        "title": "Modelplane",
        "description": "The fleet, its models and the function server. Written by schemas/dashboard.py.",
        "tags": ["modelplane"],
        "schemaVersion": _SCHEMA_VERSION,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "annotations": {"list": []},
        "templating": {"list": [_datasource(), _namespace()]},
        "panels": panels,
    }


def _panel(panel: Panel, number: int, place: Json) -> dict[str, Json]:
    custom = {"stacking": {"mode": "normal"}, "fillOpacity": 20} if panel.stacks else {}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _DATASOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": custom}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": _DATASOURCE, "expr": query, "legendFormat": legend}
            for at, (query, legend) in enumerate(panel.queries)
        ],
    }


def _datasource() -> dict[str, Json]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _namespace() -> dict[str, Json]:
    return {
        "name": "namespace",
        "label": "Namespace",
        "type": "query",
        "datasource": _DATASOURCE,
        "query": "label_values(modelplane_deployment_wanted_replicas, namespace)",
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
