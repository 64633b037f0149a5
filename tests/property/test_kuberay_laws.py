"""A law of RayServices: no word of an author stands in a command. test_backend_laws has the laws of every backend."""

from __future__ import annotations

import re
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelplane.devices.model import Claim
from modelplane.render.backends import kuberay
from modelplane.render.backends.kuberay import flags
from modelplane.render.backends.kuberay.flags import Kind
from modelplane.render.manifest import Manifest, Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, Model, Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.support import kuberay as shapes
from tests.support import replicas

_NAME = st.from_regex(r"[a-z]([-a-z0-9]{0,33}[a-z0-9])?", fullmatch=True) | st.just("a" * 33 + "-12")
_OWN = frozenset({"tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "enable_expert_parallel"})
_SWITCHES = sorted(name for name, kind in flags.KINDS.items() if kind is Kind.SWITCH and name not in _OWN)
_TEXTS = sorted(name for name, kind in flags.KINDS.items() if kind is Kind.TEXT and name not in ("model", "revision"))
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="$"), min_size=1).filter(lambda one: one[0] != "-")
_FLAG = st.sampled_from(_SWITCHES).map(lambda name: [f"--{name.replace('_', '-')}"]) | st.tuples(
    st.sampled_from(_TEXTS), _TEXT
).map(lambda pair: [f"--{pair[0].replace('_', '-')}={pair[1]}"])
_TOPOLOGY = st.one_of(
    st.builds(Topology, tensor=st.sampled_from([1, 2, 4, 8])),
    st.builds(Topology, tensor=st.sampled_from([1, 8]), pipeline=st.integers(2, 4)),
    st.builds(
        lambda local, nodes: Topology(data=local * nodes, data_local=local), st.integers(1, 8), st.integers(1, 3)
    ),
)
_SELECTOR = st.dictionaries(st.sampled_from(["a.example/x", "b", "c"]), st.sampled_from(["1", "2"]), min_size=1)
_FACTS = st.builds(
    ClusterFacts,
    st.just("gke-us"),
    st.just("gateway"),
    st.just("infra"),
    pool_node_selector=st.dictionaries(st.sampled_from(["h100", "l40s"]), _SELECTOR),
)


def _unique(given_flags: list[list[str]]) -> list[str]:
    return list({one[0].partition("=")[0]: one[0] for one in given_flags}.values())


@st.composite
def _role(draw: st.DrawFn, which: Role) -> BoundRole:
    engine: dict[str, Any] = {"args": _unique(draw(st.lists(_FLAG, max_size=5)))}
    if draw(st.booleans()):
        engine["env"] = [{"name": "TEXT", "value": draw(st.text(max_size=5))}]
    topology = draw(_TOPOLOGY)
    device = replicas.device(count=topology.devices_per_node, claim=draw(st.sampled_from(Claim)))
    return shapes.role(
        which,
        workers=draw(st.integers(1, 40)),
        topology=topology,
        pool=draw(st.sampled_from(["h100", "l40s"])),
        devices=(device,),
        pod_template=shapes.template(engine=engine),
    )


@st.composite
def _replica(draw: st.DrawFn) -> Replica:
    roles = [draw(_role(Role.DECODE)), *([draw(_role(Role.PREFILL))] if draw(st.booleans()) else [])]
    uri = draw(st.sampled_from(["hf://a/b", "hf://a/b@main", "pvc://weights", "pvc://weights/a"]))
    return shapes.replica(*roles, name=draw(_NAME), model=Model(draw(st.text(min_size=1, max_size=9)), uri))


def _service(manifests: tuple[Manifest, ...]) -> Any:
    (found,) = (one.resource for one in manifests if one.purpose is Purpose.WORKLOAD)
    return found


@given(_replica(), _FACTS)
def test_flags_are_data_and_nothing_of_an_author_is_a_word_of_rays_command(
    replica: Replica, facts: ClusterFacts
) -> None:
    kuberay.check(shapes.asked(replica))
    spec = _service(kuberay.render(replica, facts))["spec"]
    (application,) = yaml.safe_load(spec["serveConfigV2"])["applications"]
    engines = application["args"]
    configs = {
        "decode": engines.get("decode_config") or engines.get("llm_config") or (engines.get("llm_configs") or [{}])[0]
    }
    if "prefill_config" in engines:
        configs["prefill"] = engines["prefill_config"]
    groups = {group["groupName"]: group for group in spec["rayClusterConfig"]["workerGroupSpecs"]}
    assert configs.keys() == groups.keys()
    for bound in replica.roles:
        role, config = str(bound.spec.role), configs[str(bound.spec.role)]
        assert config["model_loading_config"]["model_id"] == (replica.model.name if replica.model else None)
        for flag in bound.spec.template["spec"]["containers"][0]["args"]:
            name, equals, value = flag[2:].partition("=")
            expected = (value if value != "None" else None) if equals else True
            found = config["engine_kwargs"][name.replace("-", "_")]
            assert found == expected or str(found).replace("_", "-") == str(expected).lower().replace("_", "-")
        container = groups[role]["template"]["spec"]["containers"][0]
        assert not {"command", "args"} & container.keys()
        assert all(
            re.fullmatch(r"[0-9]+|'\{\"(decode|prefill)\": 1\}'", one)
            for one in groups[role]["rayStartParams"].values()
        )
