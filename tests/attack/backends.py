"""Attacks through backends: what a tenant reaches in a picker, and the rules that decide between backends."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from modelplane.devices.model import Claim
from modelplane.render.backends import selection
from tests.attack import documents as of
from tests.attack import judge
from tests.attack.documents import TEAM
from tests.attack.plane import Plane, Refused, identity
from tests.attack.play import Play, Theft, after, copy_of, each, must

Json = Any
PROBE = "zq{{ env }}\n- evil: 'x' \"y\" $(id) `id` #"
EVIL = "evil.example.com/miner:1"
EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples" / "backends"
# Rules of one kind: they never end on a long list, name what is not there, or do not compile.
DEAR_RULE = (
    "spec.workers.template.spec.containers.all(c, c.env.all(a, c.env.all(b, c.env.all(d, a.name + d.name != ''))))"
)
BAD_RULES = ("spec.nothing.at.all", "(", "spec", "true && 1", "has(spec.prefill) ? 'x' : 7", "'a' * 9")
CALL_CPU_SECONDS = 20


def fleet(play: Play, backend: str, *more: Json, nodes: int = 2, **spec: Json) -> Plane:
    """Return a settled fleet of one backend: a deployment of two replicas that fill two nodes, of two workers each."""
    workers = {"count": 2, "topology": {"tensor": 4}, "template": of.template(image=image_for(backend))}
    return play.settled(
        *(_class_for(backend), of.cluster(nodes=nodes, backends=[backend]), of.gateway()),
        of.deployment(**{"workers": workers, "backend": backend, **spec}),
        *(of.service(), *more),
    )


def _class_for(backend: str) -> Json:
    """Return the class of nodes whose devices a backend can claim."""
    if Claim.DRA in selection.BACKENDS[backend].CAPABILITIES.claims:
        return of.node_class()
    return of.node_class(claim="DevicePlugin", resourceName=of.PLUGIN, deviceClassName=None)


def image_for(backend: str) -> str:
    """Return an image that a backend can start: that of its example, else vLLM's own."""
    written = EXAMPLES / backend.lower() / "models.yaml"
    named = re.search(r"image: (\S+)", written.read_text()) if written.exists() else None
    return named.group(1) if named else of.IMAGE


def every_backend(play: Play) -> str:
    """On each backend: labels off, a replica by hand, a replica grown, every Object with another image, silence."""
    for backend in selection.BACKENDS:
        plane = fleet(play, backend, _second(backend))
        counted = sum(count for _, count in judge.pods(plane, of.place()))
        must(counted == 16, f"of {backend} pods of {counted} devices are counted, and 16 are wanted")
        must(not any("second" in one for one in _workloads(plane)), f"{backend}: the fleet is not full")
        for ended in each(plane, [_unlabelled, _forged, _grown, _silent]):
            must(not any("forged" in one or "second" in one for one in _workloads(ended)), f"{backend}: taken")
        for ended in after(plane, _another_image(image_for(backend)), keep=False):
            must(EVIL not in repr(ended.remote[of.place()]), f"{backend}: another image stays")
            must(not ended.errors, f"{backend}: {ended.errors[:1]}")
    return f"{', '.join(selection.BACKENDS)}: what was admitted runs, nothing else does"


def picker_configuration(play: Play) -> str:
    """Text for the configuration of the endpoint picker: plugin names, numbers and other keys, past the schema too."""
    given: list[Json] = [
        {"scorers": [{"type": PROBE, "weight": 1}]},
        {"scorers": [{"type": "prefix-cache-scorer", "weight": PROBE}]},
        {"scorers": [{"type": "prefix-cache-scorer", "weight": -1}]},
        {"scorers": [{"type": "prefix-cache-scorer", "parameters": {"x": PROBE}, PROBE: PROBE}]},
        {"picker": PROBE, "uncachedTokens": PROBE},
        {"plugins": [{"type": PROBE}], "image": EVIL},
        PROBE,
    ]
    refused = rendered = 0
    for one in [{"picker": "random"}, *given]:
        for past_schema in (False, True):
            plane = fleet(play, "LLMD", nodes=3)
            asked = of.deployment("asked", replicas=1, gpus=1, backend="LLMD", endpointPicker=one)
            asked["spec"]["workers"]["count"] = 2
            try:
                plane.create(asked, past_schema=past_schema)
            except Refused:
                refused += 1
                continue
            plane.guards.append(judge.Standing(plane))
            plane.settle()
            _no_probe(plane)
            must(EVIL not in set(judge.images(plane, of.place())), "the image of the picker is the tenant's")
            rendered += any("asked" in one for one in _workloads(plane))
    must(rendered >= 2, "no configuration is rendered, not even a good one; the attack proves nothing")
    return f"{len(given)} configurations, {refused} refused by the schema; no text of theirs is rendered"


def _no_probe(plane: Plane) -> None:
    for standing in plane.remote.values():
        for key, one in standing.items():
            found = [text for text, _ in judge.every_text(one.manifest) if "zq{{" in text]
            must(not found, f"{key} holds {found[:1]}")
            if key[0] == "ConfigMap":
                for text in (one.manifest.get("data") or {}).values():
                    must(PROBE not in text and "evil" not in text, f"{key} holds {text[:80]}")


def tracing(play: Play) -> str:
    """A tenant's pods set the variables of tracing; the platform's cluster names a collector that is hostile text."""
    endpoints = ["http://otel.monitoring:4317", "file:///etc/passwd", "http://u:p@x/{{ env }}", "$(id)", PROBE]
    for endpoint in endpoints:
        monitoring = {"tracing": {"endpoint": endpoint, "samplingPercent": 5}}
        cluster = of.cluster(backends=["LLMD"], monitoring=monitoring)
        env = [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://evil.example.com"}]
        workers = {"count": 2, "topology": {"tensor": 1}, "template": of.template(env=env)}
        deployment = of.deployment(replicas=1, workers=workers, backend="LLMD")
        plane = play.settled(of.node_class(), of.gateway(), deployment, cluster, past_schema=True)
        _no_probe(plane)
        must(not plane.errors, f"{endpoint}: {plane.errors[:1]}")
        for container in _not_the_engine(plane):
            said = [one.get("value") for one in container.get("env") or ()]
            must("http://evil.example.com" not in said, "the picker sends its traces to the tenant")
    return f"{len(endpoints)} collectors: none is part of another text, none is the tenant's"


def _not_the_engine(plane: Plane) -> Iterator[Json]:
    for standing in plane.remote.values():
        for one in standing.values():
            yield from (each for each in judge.containers(one.manifest) if each.get("name") not in ("engine", "main"))


# Parts of a patch at each place where some backend keeps pods or what they are made of.
PATCHES: tuple[Json, ...] = (
    *({"hostNetwork": True}, {"hostPID": True}, {"serviceAccountName": "admin"}, {"nodeSelector": {}}),
    *({"nodeName": "other"}, {"tolerations": [{"operator": "Exists"}]}, {"resourceClaims": []}, {"replicas": 50}),
    {"containers": [{"name": "main", "image": EVIL, "securityContext": {"privileged": True}}]},
    *({"env": [{"name": "DYN_NAMESPACE", "value": PROBE}]}, {"annotations": {"sidecar.istio.io/inject": PROBE}}),
    *({"dnsConfig": {"searches": [PROBE]}}, {"hostAliases": [{"ip": "10.0.0.1", "hostnames": [PROBE]}]}),
)
PLACES: tuple[tuple[str, ...], ...] = (
    *(
        (),
        ("spec",),
        ("metadata",),
        ("spec", "template"),
        ("spec", "template", "spec"),
        ("spec", "prefill", "template"),
    ),
    *(("spec", "leaderWorkerTemplate", "workerTemplate", "spec"), ("spec", "deploymentConfig"), ("spec", "components")),
)


def overrides(play: Play) -> str:
    """An author's patches of rendered objects: the host, rights, nodes, devices, counts, names, template text."""
    tried = 0
    for backend in selection.BACKENDS:
        plane = fleet(play, backend, nodes=3)
        small = {"topology": {"tensor": 4}, "template": of.template(image=image_for(backend))}
        for part in [{}, *PATCHES]:
            made = copy_of(plane)
            for index, place in enumerate(PLACES):
                patch = functools.reduce(lambda below, key: {key: below}, reversed(place), part)
                entry: dict[str, Json] = {"overrides": [{"backend": backend, "patch": patch}]} if part else {}
                asked = of.deployment(f"asked-{index}", replicas=1, workers=small, backend=backend, **entry)
                made.create(asked, past_schema=True)
                tried += bool(part)
            made.settle()
            ran = {one for one in _workloads(made) if "asked" in one}
            must(not ran if part else ran, f"{backend}: {part or 'without a patch'}: {ran or 'nothing'} runs")
            must(EVIL not in repr(made.remote) and "zq{{" not in repr(made.remote), f"{backend}: {part} is rendered")
            must(not made.errors, f"{backend}: {made.errors[:1]}")
    return f"{tried} patches of {len(selection.BACKENDS)} backends: none is rendered"


def rules(play: Play) -> str:
    """BackendRules that never end on a tenant's list, fail, are of another backend, or come while replicas run."""
    env = [{"name": f"E{number}", "value": "x"} for number in range(256)]
    listed = {"topology": {"tensor": 4}, "template": of.template(env=env)}
    clusters = [of.cluster(nodes=2, backends=["KServe", "Native"])]
    plane = play.settled(of.node_class(), *clusters, of.gateway(), of.deployment(workers=listed), of.service())
    before = play.server.cpu_seconds()

    def written(*whens: str) -> Theft:
        made = [
            {"name": f"rule-{number}", "backend": "Native", "priority": 1000, "when": when}
            for number, when in enumerate(whens)
        ]

        def theft(one: Plane) -> None:
            one.create(of.document("BackendRules", "fleet", {"rules": made}), past_schema=True)
            one.edit("ModelDeployment", TEAM, "first", lambda it: it["spec"].update(priority=7))
            one.create(of.deployment("asked", replicas=1, workers=listed, namespace="other-team"))  # for which is voted

        return theft

    attempts = [written(*[f"{DEAR_RULE} && {number} > -1" for number in range(64)]), written(*BAD_RULES)]
    attempts.append(written("true"))  # a preference moves nothing that runs
    for ended in each(plane, attempts):
        must(not ended.errors, f"{ended.errors[:1]}")
        must(("ModelDeployment", TEAM, "first") not in ended.fatal, "a rule refuses a deployment")
    spent = play.server.cpu_seconds() - before
    must(spent < CALL_CPU_SECONDS, f"the server computed for {spent:.0f} s")
    return f"what runs stays on its backend, {spent:.1f} s of CPU for all"


def rules_of_a_tenant(play: Play) -> str:
    """BackendRules with a namespace, as one of a tenant would have; a ModelDeployment that carries rules itself."""
    plane = fleet(play, "KServe")
    forced = [{"name": "mine", "backend": "Native", "priority": 10**6, "when": "true"}]

    def namespaced(made: Plane) -> None:
        made.create(of.document("BackendRules", "mine", {"rules": forced}, namespace=TEAM), past_schema=True)

    def carried(made: Plane) -> None:
        made.edit("ModelDeployment", TEAM, "first", lambda it: it["spec"].update(rules=forced), past_schema=True)

    for ended in each(plane, [namespaced, carried]):
        must(not ended.errors, f"{ended.errors[:1]}")
    return "nothing that runs moves to another backend"


def kuberay(play: Play) -> str:
    """Engine arguments for KubeRay, which loads a Python class by name and writes YAML into a field."""
    args = [
        [f"--served-model-name={PROBE}"],
        ["--model-impl", "os:system"],
        ["--worker-cls=os.system"],
        ["--chat-template", PROBE],
        ["--served-model-name", "a\n    runtime_env: {pip: [evil]}"],
        [f"--x={'{' * 2000}"],
    ]
    rendered = 0
    for given in args:
        plane = fleet(play, "KubeRay", nodes=3)
        workers = {"topology": {"tensor": 1}, "template": of.template(args=given, image=image_for("KubeRay"))}
        plane.create(of.deployment("asked", replicas=1, workers=workers, backend="KubeRay"), past_schema=True)
        plane.guards.append(judge.Standing(plane))
        plane.settle()
        must(not plane.errors, f"{given}: {plane.errors[:1]}")
        for text in _serve_configurations(plane):
            must("\n    runtime_env: {pip" not in text, "an argument became a field of its own")
        rendered += any("asked" in one for one in _workloads(plane))
    must(rendered, "no argument list is rendered; the attack proves nothing")
    return f"{len(args)} argument lists: data of their own field, or refused"


def _serve_configurations(plane: Plane) -> Iterator[str]:
    for standing in plane.remote.values():
        for key, one in standing.items():
            if key[0] == "RayService":
                yield str(one.manifest["spec"].get("serveConfigV2", ""))


def _second(backend: str) -> Json:
    workers = {"topology": {"tensor": 8}, "template": of.template(image=image_for(backend))}
    return of.deployment("second", replicas=1, workers=workers, backend=backend)


# --- what is done -----------------------------------------------------------------------------------------------------


def _unlabelled(plane: Plane) -> None:
    for one in list(plane.of_kind("ModelReplica")):
        plane.edit(*identity(one), lambda it: it["metadata"].update(labels={}))


def _forged(plane: Plane) -> None:
    for number in range(2):
        one = plane.get("ModelReplica", TEAM, "first-0")
        plane.create(of.copied(one, f"forged-{number}", is_owned=bool(number), priority=900))


def _grown(plane: Plane) -> None:
    plane.edit("ModelReplica", TEAM, "first-0", lambda one: one["spec"]["workers"].update(count=9))


def _silent(plane: Plane) -> None:
    plane.is_silent = lambda _manifest: True


def _another_image(image: str) -> Theft:
    """Return an edit of every Object that names the image."""

    def theft(plane: Plane) -> None:
        edited = 0
        for wrapped in list(plane.of_kind("Object")):
            text = json.dumps(wrapped["spec"]["forProvider"]["manifest"])
            if image in text:
                manifest = json.loads(text.replace(image, EVIL))
                plane.edit(*identity(wrapped), _with_manifest(manifest))
                edited += 1
        must(edited, f"no Object names {image}")

    return theft


def _with_manifest(manifest: Json) -> Callable[[Json], Json]:
    return lambda wrapped: wrapped["spec"]["forProvider"].update(manifest=manifest)


def _workloads(plane: Plane) -> set[str]:
    return {workload for workload, _ in judge.pods(plane, of.place())}
