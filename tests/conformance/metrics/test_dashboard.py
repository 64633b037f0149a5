"""The dashboard: Grafana's own model reads it, and a real Prometheus that scrapes a fleet answers every query of it."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from tests.conformance.metrics import stage, test_alerts
from tests.conformance.tools import workshop
from tests.support import controlplane, examples, functionserver, gobinaries, kubeapi, live, requests

DASHBOARD = stage.FOLDER / "dashboard.json"
PANELS = [one for one in json.loads(DASHBOARD.read_text())["panels"] if one["type"] != "row"]
QUERIES = [
    pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")
    for panel in PANELS
    for target in panel["targets"]
]
SECONDS = 90
SCRAPE_SECONDS = 1
CALLS = 20


def test_the_model_of_grafana_takes_it() -> None:
    live.needs("metrics", "go")
    program = gobinaries.build(Path(__file__).parent / "dashboard", ".", "dashboard")
    text = DASHBOARD.read_text()
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    wrong = text.replace('"refresh"', '"refreshed"', 1)
    done = subprocess.run([str(program)], input=wrong, capture_output=True, text=True, timeout=60, check=False)
    assert "unexpected field 'refreshed'" in done.stdout


def test_no_panel_covers_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        place = panel["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }  # fmt: skip
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells


class Prometheus:
    """A running Prometheus."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}/api/v1"

    def ask(self, path: str, **query: str) -> Any:
        """Return the data of an answer. Raises: OSError when nobody answers, or the query is refused."""
        text = urllib.parse.urlencode(query)
        with urllib.request.urlopen(f"{self._address}/{path}?{text}", timeout=30) as answer:  # noqa: S310 - loopback
            return json.loads(answer.read())["data"]

    def query(self, text: str) -> list[Any]:
        """Return the elements of an instant query."""
        found: list[Any] = self.ask("query", query=text)["result"]
        return found

    def firing(self) -> set[str]:
        """Return the alerts that fire."""
        return {one["labels"]["alertname"] for one in self.ask("alerts")["alerts"] if one["state"] == "firing"}


@contextmanager
def prometheus(folder: Path, plane: controlplane.Plane, targets: dict[str, str]) -> Iterator[Prometheus]:
    """Yield a Prometheus with the shipped rules, whose patience is cut to seconds, and these targets."""
    folder.mkdir()
    groups = [
        {**group, "interval": "1s", "rules": [{**rule, "for": "2s"} for rule in group["rules"]]}
        for group in test_alerts.SPEC["groups"]
    ]
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))
    jobs = [
        {"job_name": name, "honor_labels": True, "static_configs": [{"targets": [address]}]}
        for name, address in targets.items()
    ]
    configuration = {
        "global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": jobs,
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration))
    (port,) = controlplane.free_ports(1)
    process = plane.program(
        "prometheus",
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    )
    controlplane.await_port(process, port)
    yield Prometheus(port)


class Fleet:
    """The control plane with kube-state-metrics, the function server, and the Prometheus that scrapes both."""

    def __init__(self, on: stage.Stage, found: Prometheus) -> None:
        self.on = on
        self.prometheus = found


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    live.needs("metrics", "go")
    workshop.program("prometheus")
    folder = tmp_path_factory.mktemp("dashboard")
    arguments = ["--insecure", "--metrics-address", "127.0.0.1:0"]
    objects = stage.fleet()
    with (
        functionserver.running(arguments) as server,
        grpc.insecure_channel(server.target) as channel,
        stage.running(folder / "plane", objects) as on,
    ):
        (port,) = (event["metricsPort"] for event in server.events() if event["msg"] == "serving")
        targets = {"fleet": on.address, "function": f"127.0.0.1:{port}"}
        with prometheus(folder / "prometheus", on.plane, targets) as found:
            kubeapi.until(
                lambda: found.query("up == 1"), seconds=SECONDS, what="both are scraped",
                enough=lambda up: len(up) == len(targets),
            )  # fmt: skip
            for _ in range(CALLS):
                requests.call(channel, requests.request(dict(objects[0])))
                time.sleep(SCRAPE_SECONDS / 4)
            yield Fleet(on, found)


@pytest.mark.parametrize("query", QUERIES)
def test_prometheus_answers_every_query_of_the_dashboard(fleet: Fleet, query: str) -> None:
    asked = query.replace("$__rate_interval", "1m").replace("$namespace", ".*")
    assert "$" not in asked
    kubeapi.until(lambda: fleet.prometheus.query(asked), seconds=SECONDS, what=asked)
    assert all(one["value"][1] != "NaN" for one in fleet.prometheus.query(asked))


def test_the_variable_of_the_dashboard_has_values(fleet: Fleet) -> None:
    (variable,) = (one for one in json.loads(DASHBOARD.read_text())["templating"]["list"] if one["type"] == "query")
    asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"])
    assert asked is not None
    assert fleet.prometheus.ask(f"label/{asked[2]}/values", **{"match[]": asked[1]}) == ["ml-team"]


def test_the_figures_are_those_of_the_command(fleet: Fleet) -> None:
    """Devices and free ones, as `modelplane free` counts them over the same objects."""
    objects = stage.fleet()
    clusters = [one["status"]["summary"] for one in objects if one["kind"] == "InferenceCluster"]
    for query, key in (
        ("sum(modelplane_cluster_devices)", "devices"),
        ("sum(modelplane_cluster_free_devices)", "free"),
    ):
        ((_, value),) = (one["value"] for one in fleet.prometheus.query(query))
        assert float(value) == sum(one[key] for one in clusters)


def test_an_alert_fires_once_its_cause_is_there_and_ends_with_it(fleet: Fleet) -> None:
    service = stage.service(stage.fleet())
    assert "ModelplaneServiceDown" not in fleet.prometheus.firing()
    ready = service["status"]["endpoints"]["ready"]
    service["status"]["endpoints"]["ready"] = 0
    fleet.on.write(service)
    kubeapi.until(
        fleet.prometheus.firing, seconds=SECONDS, what="the alert fires",
        enough=lambda firing: "ModelplaneServiceDown" in firing,
    )  # fmt: skip
    service["status"]["endpoints"]["ready"] = ready
    fleet.on.write(service)
    kubeapi.until(
        fleet.prometheus.firing, seconds=SECONDS, what="the alert ends",
        enough=lambda firing: "ModelplaneServiceDown" not in firing,
    )  # fmt: skip


def test_all_well_is_silent(fleet: Fleet) -> None:
    """Nothing fires over a fleet in which everything serves, but what is meant for information."""
    quiet = {alert for alert, rule in test_alerts.ALERTS.items() if rule["labels"]["severity"] == "info"}
    kubeapi.until(fleet.prometheus.firing, seconds=SECONDS, what="silence", enough=lambda firing: not firing - quiet)


def test_every_metric_that_is_asked_for_is_one_of_ours() -> None:
    """Of alerts and dashboard, against the configuration and the server; a typing error would be silence for ever."""
    configuration = yaml.safe_load(stage.CONFIGURATION.read_text())["spec"]["resources"]
    ours = {f"{kind['metricNamePrefix']}_{one['name']}" for kind in configuration for one in kind["metrics"]}
    texts = [rule["expr"] for rule in test_alerts.ALERTS.values()]
    texts += [target["expr"] for panel in PANELS for target in panel["targets"]]
    asked = set(re.findall(r"\bmodelplane_\w+", " ".join(texts)))
    page = (examples.EXAMPLES.parent / "docs" / "metrics.md").read_text()
    told = set(re.findall(r"`(modelplane_\w+)`", page))
    suffix = re.compile(r"_(bucket|sum|count)$")
    for name in asked - {"modelplane_"}:
        assert name in ours or suffix.sub("", name) in told, name
    assert ours <= told, f"docs/metrics.md lacks {sorted(ours - told)}"
