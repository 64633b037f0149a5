"""What the command says of access to a service and the choice of its endpoints, and of two services of one host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.commands import validate
from modelplane_cli.planning import service_rules
from tests.support import routing

Json = Any
A = routing.group(deployment="a")
JWT = {"jwt": {"issuer": "https://i.example", "jwksUri": "https://i.example/k"}}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, [], id="nothing-asked"),
        pytest.param({"auth": JWT}, ["clients send a token of https://i.example"], id="token"),
        pytest.param(
            {"rateLimit": {"requests": 9, "unit": "Hour"}},
            ["all clients together may send 9 requests per hour to each proxy of the gateway"],
            id="limit",
        ),
        pytest.param(
            {
                "auth": JWT,
                "rateLimit": {
                    "per": "Client",
                    "tokens": 9,
                    "unit": "Minute",
                    "budgets": [{"tokens": 99, "unit": "Day"}],
                    "clients": [{"names": ["batch"], "requests": 5, "budgets": [{"tokens": 7, "unit": "Year"}]}],
                },
            },
            [
                "clients send a token of https://i.example",
                "each client may use 9 tokens per minute, and use 99 tokens per day",
                "in place of that, batch may each send 5 requests per minute to the gateway, and use 7 tokens per year",
            ],
            id="limits-and-budgets",
        ),
        pytest.param(
            {"clients": {"deniedCIDRs": ["10.0.0.0/8"]}},
            ["requests may come from every network, but not from 10.0.0.0/8"],
            id="denied",
        ),
        pytest.param(
            {"affinity": {"type": "ClientAddress"}},
            ["a session stays at one endpoint, by the address of its client"],
            id="address",
        ),
        pytest.param({"slowStart": {}}, ["a new endpoint has its whole share after 60s"], id="slow-start"),
        pytest.param({"maxRequestSize": "none"}, [], id="what-cannot-be-read"),
    ],
)
def test_rules_are_said_in_words(spec: Json, want: list[str]) -> None:
    assert list(service_rules.of(routing.model_service(A, **spec))) == want


@pytest.mark.parametrize(("kind", "warnings"), [("Envoy", 1), ("EnvoyAI", 0)])
def test_two_services_of_one_host_are_told_before_they_meet_except_where_the_model_tells_them_apart(
    kind: str, warnings: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = "chat.ml-team.models.example"
    documents = [
        routing.inference_gateway(type=kind, gateway={"hostname": "models.example"}),
        *(routing.model_service(A, name=name, host=host) for name in ("one", "two")),
        routing.model_service(A, name="three", host=f"other-{host}"),
        routing.model_service(A, name="four"),
    ]
    for document in documents:
        document.pop("status", None)
    (tmp_path / "all.yaml").write_text("---\n".join(yaml.safe_dump(document) for document in documents))
    validate.main([str(tmp_path)])
    said = [line for line in capsys.readouterr().out.splitlines() if "this host too" in line]
    assert len(said) == warnings
    assert all("ModelService ml-team/one has this host too" in each and "two" in each for each in said)
