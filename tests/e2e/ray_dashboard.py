"""The dashboard of every Ray head of a cluster, as far as KubeRay asks it, by a loop: Ray itself does not run.

Run as `python -m tests.e2e.ray_dashboard FOLDER PORT`. It is an HTTP proxy: the operator, told of it by HTTP_PROXY,
asks a head by the name of its Service, which nothing resolves here. An application is RUNNING once its Ray cluster has
all the pods that its engines need, and DEPLOY_FAILED where its model is one of `MISSING`.

Source: Ray 2.60.0, dashboard/modules/serve (`/api/serve/applications/`), as KubeRay v1.6.2 reads it.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import http.server
import json
import urllib.parse
from pathlib import Path
from typing import Any

from tests.support import controlplane, kubeapi

Json = Any

PATH = "/api/serve/applications/"
MISSING = "nobody/"
REASON = "RuntimeError: the repository does not exist"
UNANSWERED = (OSError, http.client.HTTPException, kubeapi.Refused)


class Dashboards:
    """The configurations that heads were given, by the name of the Ray cluster and its namespace."""

    def __init__(self, plane: controlplane.Plane) -> None:
        self._plane = plane
        self._given: dict[tuple[str, str], Json] = {}

    def put(self, head: tuple[str, str], config: Json) -> None:
        """Take a configuration; what it does not speak of any more is gone."""
        assert isinstance(config["applications"], list), config
        self._given[head] = config

    def report(self, head: tuple[str, str]) -> Json:
        """Return what the dashboard of a head says of its applications."""
        given = self._given.get(head, {"applications": []})
        return {"applications": {one["name"]: self._application(head, one) for one in given["applications"]}}

    def _application(self, head: tuple[str, str], given: Json) -> Json:
        engines = _engines(given["args"])
        deployments = {name: self._deployment(head, config) for name, config in engines.items()}
        states = {one["status"] for one in deployments.values()}
        state = "RUNNING" if states == {"HEALTHY"} else "DEPLOYING"
        if "DEPLOY_FAILED" in states:
            state = "DEPLOY_FAILED"
        return {"name": given["name"], "status": state, "message": "", "deployments": deployments}

    def _deployment(self, head: tuple[str, str], config: Json) -> Json:
        model = config["model_loading_config"]
        if model["model_source"].startswith(MISSING):
            return {"name": model["model_id"], "status": "DEPLOY_FAILED", "message": REASON}
        kwargs = config["engine_kwargs"]
        sizes = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
        needed = config["deployment_config"]["num_replicas"]
        for size in sizes:
            needed *= kwargs.get(size, 1)
        has = self._devices(head, config["placement_group_config"]["bundle_per_worker"])
        return {"name": model["model_id"], "status": "HEALTHY" if has >= needed else "UPDATING", "message": ""}

    def _devices(self, head: tuple[str, str], bundle: Json) -> int:
        """Return the devices that ready pods of the cluster offer to Ray, if also the bundle's own resource."""
        cluster, namespace = head
        pods = self._plane.api.all_of("v1", "Pod", namespace, f"ray.io/cluster={cluster},ray.io/node-type=worker")
        own = set(bundle) - {"GPU"}
        offered = [_words(pod) for pod in pods if kubeapi.condition(pod, "Ready").get("status") == "True"]
        return sum(int(one["--num-gpus"]) for one in offered if own <= set(json.loads(one.get("--resources", "{}"))))


def _engines(args: Json) -> dict[str, Json]:
    """Return the engines of an application by the names that Ray gives their Serve deployments."""
    if "prefill_config" in args:
        found = {"Prefill": args["prefill_config"], "Decode": args["decode_config"]}
    elif "llm_config" in args:
        found = {"DPServer": args["llm_config"]}
    else:
        (config,) = args["llm_configs"]
        found = {"LLMServer": config}
    return {f"{kind}:{config['model_loading_config']['model_id']}": config for kind, config in found.items()}


def _words(pod: Json) -> dict[str, str]:
    """Return the flags of `ray start` in the command that KubeRay wrote, as the shell hands them over."""
    (line,) = pod["spec"]["containers"][0]["args"]
    found = dict(word.partition("=")[::2] for word in line.split("  ") if word.strip().startswith("--"))
    return {name.strip(): value.strip().strip("'") for name, value in found.items()}


class Handler(http.server.BaseHTTPRequestHandler):
    """One request of the operator to one head."""

    dashboards: Dashboards

    def do_GET(self) -> None:
        """Answer what applications there are."""
        self._answer(self.dashboards.report)

    def do_PUT(self) -> None:
        """Take a configuration."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(lambda head: self.dashboards.put(head, body))

    def _answer(self, ask: Any) -> None:
        asked = urllib.parse.urlsplit(self.path)
        service, _, rest = (asked.hostname or "").partition(".")
        if asked.path != PATH or asked.port != 8265 or not service.endswith("-head-svc"):
            self.send_error(404, f"no dashboard answers {self.path}")
            return
        try:
            found = json.dumps(ask((service.removesuffix("-head-svc"), rest.partition(".")[0])) or {}).encode()
        except UNANSWERED as error:
            self.send_error(503, str(error))
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(found)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Say nothing: the operator asks every two seconds."""


def main() -> None:
    """Answer for ever."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("port", type=int)
    given = parser.parse_args()
    Handler.dashboards = Dashboards(controlplane.load(given.folder))
    http.server.ThreadingHTTPServer(("127.0.0.1", given.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
