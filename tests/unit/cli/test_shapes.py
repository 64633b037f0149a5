"""The JSON that machines read: every key of an answer is in its schema with its type, and none is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pydantic
import pytest
import yaml

from modelplane.placement.decision import Admission
from modelplane.workload.model import Role
from modelplane_cli.output import models
from modelplane_cli.output.models import base, common, explain, plan
from modelplane_cli.planning import plan as planned
from modelplane_cli.planning.changes import Action
from tests.bench import files
from tests.support import planning as given
from tests.support import rendering

Json = Any


CASES = {"cases": [{"id": "yes", "expression": "true"}, {"id": "no", "expression": "device."}]}


def differences(command: str, found: Json) -> list[str]:
    """Return where an answer is not of the JSON Schema that `modelplane schema --output` prints."""
    schema = given.run("schema", "--output", command).json
    jsonschema.Draft202012Validator.check_schema(schema)
    wrong = jsonschema.Draft202012Validator(schema).iter_errors(found)
    return sorted(f"{one.json_path}: {one.message}" for one in wrong)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return documents of a fleet that is too small for one replica."""
    objects = [given.node_class(price="90.00"), given.cluster("a"), given.cluster("b")]
    objects.append(given.deployment(replicas=5, tensor=8))
    return given.written(tmp_path_factory.mktemp("full"), "now", *objects)


EXAMPLES = [str(rendering.ROOT / "examples" / name) for name in rendering.EXAMPLES]


@pytest.mark.parametrize("example", [*EXAMPLES, None], ids=[*rendering.EXAMPLES, "a fleet that is too small"])
def test_plan_is_of_its_shape(full: str, example: str | None) -> None:
    found = given.run("plan", example or full, "-o", "json").json
    assert differences("plan", found) == []
    if example is None:
        (row,) = found["deployments"]
        assert row["unschedulable"]["closest"]["change"], "every shape that may be null was seen with a value"


@pytest.mark.parametrize("subject", ["md/llama", "mr/llama-0"])
def test_explain_is_of_its_shape(full: str, subject: str) -> None:
    assert differences("explain", given.run("explain", full, subject, "-o", "json").json) == []


@pytest.mark.parametrize(
    "happening",
    [
        pytest.param(["--drain", "a"], id="drain"),
        pytest.param(["--lose", "a"], id="lose"),
        pytest.param(["--scale", "ml-team/llama=1", "--drain", "b"], id="scale, drain"),
        pytest.param(["--scale", "ml-team/llama=2", "--headroom"], id="headroom"),
        pytest.param(["--headroom", "--by", "class"], id="headroom by class"),
    ],
)
def test_simulate_is_of_its_shape(full: str, happening: list[str]) -> None:
    found = given.run("simulate", full, *happening, "-o", "json").json
    assert differences("simulate", found) == []
    assert ("headroom" in found) is ("--headroom" in happening)


@pytest.mark.parametrize("replicas", [pytest.param("five", id="wrong"), pytest.param(1, id="right")])
def test_validate_is_of_its_shape(tmp_path: Path, replicas: Json) -> None:
    deployment = given.deployment()
    deployment["spec"]["replicas"] = replicas
    ran = given.run("validate", given.written(tmp_path, "now", deployment), "-o", "json")
    assert differences("validate", json.loads(ran.out)) == []
    assert bool(ran.json["problems"]) is (replicas == "five")


@pytest.mark.parametrize("expression", ["true", "device.driver +", 'device.driver == "x"', "device.nothing"])
def test_cel_is_of_its_shape(full: str, expression: str) -> None:
    found = given.run("cel", expression, "--class", full, "-o", "json").json
    assert differences("cel", found) == []
    assert isinstance(found, dict)


def test_a_batch_of_cel_is_of_its_shape(full: str, tmp_path: Path) -> None:
    batch = tmp_path / "batch.yaml"
    batch.write_text(yaml.safe_dump(CASES))
    found = given.run("cel", "--batch", str(batch), "--class", full, "-o", "json").json
    assert differences("cel", found) == []
    assert [(one["id"], one["result"]) for one in found] == [("yes", "true"), ("no", "compile_error")]


def test_render_is_of_its_shape(full: str) -> None:
    assert differences("render", given.run("render", full, "-o", "json").json) == []


def test_a_key_that_is_missing_unknown_or_of_another_type_is_seen() -> None:
    problem = {"file": 1, "line": "1", "document": 1, "path": "", "message": "", "severity": "error", "more": True}
    assert differences("validate", {"problems": [problem]}) == [
        "$.problems[0].file: 1 is not of type 'string'",
        "$.problems[0].line: '1' is not of type 'integer'",
        "$.problems[0]: 'object' is a required property",
        "$.problems[0]: Additional properties are not allowed ('more' was unexpected)",
    ]


@pytest.mark.parametrize("command", models.ANSWERS)
def test_no_object_of_an_answer_takes_keys_that_are_not_said(command: str) -> None:
    schema = models.schema(command)
    parts = [schema, *schema["$defs"].values()]
    objects = {one["title"]: one for one in parts if one.get("type") == "object"}
    open_ = {name for name, one in objects.items() if one.get("additionalProperties") is not False}
    assert open_ == ({"Resource", "Metadata"} if command in ("class", "render") else set())
    silent = [
        f"{name}.{field}"
        for name, one in objects.items()
        for field, below in one["properties"].items()
        if not below.get("description")
    ]
    assert silent == []


def test_a_model_reads_an_answer_as_it_is(full: str) -> None:
    found = given.run("plan", full, "-o", "json")
    read = models.adapter("plan").validate_json(found.out)
    assert read.deployments[0].unschedulable.closest.change[0].document.kind == "InferenceCluster"
    assert read.model_dump(by_alias=True, exclude_unset=True) == found.json
    with pytest.raises(pydantic.ValidationError):
        models.adapter("plan").validate_python({**found.json, "more": 1})


@pytest.mark.parametrize(
    ("said", "known"),
    [
        pytest.param(common.Change.model_fields["change"].annotation, Action, id="change"),
        pytest.param(explain.Standing.model_fields["admission"].annotation, Admission, id="admission"),
        pytest.param(base.RoleName, Role, id="role"),
    ],
)
def test_words_of_an_answer_are_those_of_the_library(said: Any, known: Any) -> None:
    assert sorted(get_args(said)) == sorted(one.value for one in known)


def test_states_of_an_answer_are_those_of_a_plan() -> None:
    states = get_args(plan.Replica.model_fields["state"].annotation)
    assert sorted(states) == sorted([planned.RETAINED, planned.NEW, planned.MOVED])


# --- a plan equals what the functions compose ---------------------------------------------------------------------


@pytest.mark.parametrize("example", [*EXAMPLES, None], ids=[*rendering.EXAMPLES, "a fleet that is too small"])
def test_a_plan_equals_what_the_functions_compose(full: str, example: str | None) -> None:
    assert placements(example or full) == composed(example or full)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_plan_of_a_generated_fleet_equals_what_the_functions_compose(tmp_path: Path, seed: int) -> None:
    arguments = [str(tmp_path), "--clusters", "6", "--deployments", "9", "--seed", str(seed)]
    assert files.main(arguments) == 0
    planned = placements(str(tmp_path))
    assert planned == composed(str(tmp_path))
    assert len({cluster for _, _, cluster, _ in planned}) > 1


def placements(path: str) -> list[Json]:
    """Return the placements of a plan: namespace, name, cluster, and the pool of each role."""
    return sorted(
        (row["namespace"], one["name"], one["cluster"], {role["role"]: role["pool"] for role in one["roles"]})
        for row in given.run("plan", path, "-o", "json").json["deployments"]
        for one in row["replicas"]
    )


def composed(path: str) -> list[Json]:
    """Return the same of the ModelReplicas that `render` composes."""
    found = given.run("render", path, "-o", "json").json
    items = found["items"] if isinstance(found, dict) else found
    replicas = [one for one in items if one["kind"] == "ModelReplica"]
    return sorted(
        (
            one["metadata"]["namespace"],
            one["metadata"]["name"],
            one["spec"]["clusterName"],
            {
                "decode": one["spec"]["pool"],
                **({"prefill": one["spec"]["prefill"]["pool"]} if one["spec"].get("prefill") else {}),
            },
        )
        for one in replicas
    )
