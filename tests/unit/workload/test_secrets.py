"""Secrets a template refers to."""

from __future__ import annotations

from modelplane.workload import secrets
from tests.support import replicas as build


def test_every_reference_is_found_and_optional_ones_are_not_needed() -> None:
    engine = {
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "env", "key": "k"}}},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "maybe", "key": "k", "optional": True}}},
            {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "map", "key": "k"}}},
            {"name": "D", "value": "v"},
        ],
        "envFrom": [{"secretRef": {"name": "from"}}, {"secretRef": {"name": "maybe", "optional": True}}],
    }
    sidecar = {
        "name": "s",
        "image": "i",
        "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "side", "key": "k"}}}],
    }
    template = build.template(
        engine=engine,
        sidecars=(sidecar,),
        imagePullSecrets=[{"name": "pull"}],
        volumes=[
            {"name": "v", "secret": {"secretName": "volume"}},
            {"name": "w", "secret": {"secretName": "maybe", "optional": True}},
            {
                "name": "p",
                "projected": {"sources": [{"secret": {"name": "projected"}}, {"configMap": {"name": "map"}}]},
            },
            {"name": "e", "emptyDir": {}},
        ],
    )
    assert secrets.required(template) == ("env", "from", "projected", "pull", "side", "volume")


def test_a_template_without_secrets() -> None:
    assert secrets.required(build.template()) == ()
