"""The words of CONTRIBUTING ("Words"): a thing with a name there has no other in class names, messages and the API."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]

# Parts of class names (PacketLoss has the parts Packet and Loss), with the words to use in their place.
CLASS_WORDS = {
    "Lot": "assignment",
    "Look": "candidate",
    "Guest": "replica or holding",
    "Roll": "retention plan",
    "Leaver": "migration",
    "Seat": "replica",
    "Judge": "diagnosis",
    "Job": "replica",
    "Instance": "replica",
    "Machine": "node",
    "Accelerator": "device",
    "Gpu": "device",
    "Shard": "worker",
    "Slot": "device or node",
    "Group": "pool (of nodes) or role",
    "Eviction": "migration or shed",
    "Reservation": "admission",
    "Booking": "admission",
    "Booker": "admission",
    "Datacenter": "cluster",
}
# (class, module): why it may have the word.
CLASSES_ALLOWED = {
    ("Group", "lib/modelplane/routing/model.py"): "a priority group of endpoints: neither pool nor role",
}

# What messages never say, with the word to use in its place.
MESSAGE_WORDS = {
    r"jobs?": "replica",
    r"machines?": "node",
    r"(model|serving) instances?": "replica",
    r"instances?": "replica",
    r"gpu (pools?|groups?)": "pool",
    r"node groups?|(?-i:nodegroups?)": "pool",
    r"shards?": "worker",
    r"slots?": "device or node",
    r"seats?|guests?|lots?": "replica",
    r"evict\w*": "move or shed",
    r"book(ed|ings?)|reservations?": "admitted, admission",
    r"data ?cent(er|re)s?": "cluster",
    r"leavers?|rolls?": "replica that moves, retention plan",
    r"graphics cards?|accelerators?": "device",
}
# (module, text around the word): why it may stand there.
MESSAGES_ALLOWED = {
    (
        "functions/modelplane_functions/runner.py",
        "your own machine",
    ): "where the server listens, no node of a pool",
    (
        "functions/modelplane_functions/runner.py",
        "belong to this machine",
    ): "where the server listens, no node of a pool",
    ("lib/modelplane/render/node_files.py", "object of kind Job"): "the kind of Kubernetes, which somebody deletes",
    ("lib/modelplane/render/clouds/gke/troubles.py", "accelerator"): "in errors and commands of Google Cloud",
    ("lib/modelplane/render/clouds/gke/troubles.py", "machine type"): "in errors of Google Cloud",
    ("lib/modelplane/render/clouds/gke/troubles.py", "reservation"): "in errors of Google Cloud",
    (
        "lib/modelplane/render/clouds/eks/advice.py",
        "aws ec2 describe-instance-type-offerings",
    ): "a command of Amazon's",
    (
        "lib/modelplane/render/clouds/eks/advice.py",
        "aws ec2 describe-capacity-reservations",
    ): "a command of Amazon's",
}
# (text of a definition): why it may stand there. Clouds have words of their own, and people know them by those.
DESCRIPTIONS_ALLOWED = {
    "Machine type, for example a3-ultragpu-8g.": "the field of Google Cloud",
    "Instance type, for example p5en.48xlarge.": "the field of Amazon EC2",
    "Name of the cloud's reservation to consume.": "capacity that was bought from a cloud, no admission",
}
# A description begins with its noun: kubectl explain prints it below the field's name.
_OPENING = re.compile(r"(What|Which|Whether|How|Who|Whom|Where|When|Why|It|They|Its|Their)\b")

_MESSAGE_WORD = re.compile("|".join(rf"\b(?:{word})\b" for word in MESSAGE_WORDS), re.IGNORECASE)
# A question word begins no sentence of a reference: the noun it is about does, or "Return" and that noun.
_NO_NOUN = re.compile(r"(?:What|Which|Whether|Why|How|Where|When|Who|Whoever)\b|Return (?:what|which|why|who|where)\b")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# kubecel speaks of CEL, and the package builder of archives: neither knows a thing of the glossary.
_MESSAGE_ROOMS = ("lib/modelplane", "lib/modelplane_cli", "functions/modelplane_functions")
# The names of the engines' flags, which are theirs.
_NO_MESSAGES = "lib/modelplane/render/flags/"


class Class(NamedTuple):
    """A class and its module."""

    name: str
    module: str


def _modules(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    for room in rooms:
        for path in sorted((REPOSITORY / room).rglob("*.py")):
            yield str(path.relative_to(REPOSITORY)), ast.parse(path.read_text(encoding="utf-8"))


def _classes(*rooms: str) -> Iterator[Class]:
    for module, tree in _modules(*rooms):
        yield from (Class(node.name, module) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def _sentences(tree: ast.Module) -> Iterator[str]:
    """Yield string literals of more than one word that are no docstrings; of an f-string its literal parts."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            text = " ".join(node.value.split())
            if " " in node.value.strip():
                yield text


def _descriptions(node: object) -> Iterator[str]:
    """Yield the descriptions of a definition, and the messages of its rules."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("description", "message") and isinstance(value, str):
                yield " ".join(value.split())
            else:
                yield from _descriptions(value)
    elif isinstance(node, list):
        for value in node:
            yield from _descriptions(value)


def _definitions() -> Iterator[tuple[str, str]]:
    for path in sorted((REPOSITORY / "apis").glob("*/definition.yaml")):
        for text in _descriptions(yaml.safe_load(path.read_text(encoding="utf-8"))):
            yield str(path.relative_to(REPOSITORY)), text


def _wrong_openings(where: str, text: str) -> list[str]:
    return [f"{where}: {text}: begin with the noun"] if _OPENING.match(text) else []


def _public_docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of the module, of its public classes and functions, and of its attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text is not None and not getattr(node, "name", "").startswith("_"):
                yield text
            # A literal below an assignment describes the attribute.
            yield from (
                str(below.value.value)
                for above, below in pairwise(node.body)
                if isinstance(above, ast.Assign | ast.AnnAssign)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            )


def _wrong_classes(classes: Iterator[Class]) -> list[str]:
    return [
        f"{one.module}: {one.name}: say {CLASS_WORDS[part]}"
        for one in classes
        if one not in CLASSES_ALLOWED
        for part in _PART.findall(one.name)
        if part in CLASS_WORDS
    ]


def _wrong_words(module: str, text: str) -> list[str]:
    found = []
    for match in _MESSAGE_WORD.finditer(text):
        around = text[max(0, match.start() - 30) : match.end() + 30]
        if not any(where == module and words in around for where, words in MESSAGES_ALLOWED):
            word = next(
                word for pattern, word in MESSAGE_WORDS.items() if re.fullmatch(pattern, match[0], re.IGNORECASE)
            )
            found.append(f"{module}: ...{around}...: say {word}")
    return found


def test_class_names_use_the_words_of_the_glossary() -> None:
    assert _wrong_classes(_classes("lib", "functions")) == []


def test_messages_use_the_words_of_the_glossary() -> None:
    assert [
        wrong
        for module, tree in _modules(*_MESSAGE_ROOMS)
        if not module.startswith(_NO_MESSAGES)
        for text in _sentences(tree)
        for wrong in _wrong_words(module, text)
    ] == []


def test_descriptions_of_the_api_use_the_words_of_the_glossary() -> None:
    assert [
        wrong
        for where, text in _definitions()
        if text not in DESCRIPTIONS_ALLOWED
        for wrong in _wrong_words(where, text)
    ] == []


def test_descriptions_of_the_api_begin_with_their_noun() -> None:
    assert [wrong for where, text in _definitions() for wrong in _wrong_openings(where, text)] == []


def test_public_docstrings_begin_with_their_noun() -> None:
    assert [
        f"{module}: {text.splitlines()[0]}"
        for module, tree in _modules("lib", "functions", "schemas")
        for text in _public_docstrings(tree)
        if _NO_NOUN.match(text)
    ] == []


def test_no_class_name_stands_in_two_modules_of_placement_and_devices() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for one in _classes("lib/modelplane/placement", "lib/modelplane/devices"):
        modules[one.name].append(one.module)
    assert {name: where for name, where in modules.items() if len(where) > 1} == {}


def test_every_exception_is_needed() -> None:
    classes = set(_classes("lib", "functions"))
    texts = {module: " ".join(_sentences(tree)) for module, tree in _modules(*_MESSAGE_ROOMS)}
    described = {text for _, text in _definitions()}
    assert [one for one in CLASSES_ALLOWED if one not in classes] == []
    assert [one for one in DESCRIPTIONS_ALLOWED if one not in described] == []
    assert [one for one in MESSAGES_ALLOWED if one[1] not in texts.get(one[0], "")] == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        pytest.param("class GpuPool: ...", ["x.py: GpuPool: say device"], id="a-part-of-a-name"),
        pytest.param("class _Seat: ...", ["x.py: _Seat: say replica"], id="a-private-name"),
        pytest.param("class Rolling(Allotment): ...", [], id="only-whole-parts"),
    ],
)
def test_a_class_with_another_word_is_found(source: str, wrong: list[str]) -> None:
    names = (Class(node.name, "x.py") for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    assert _wrong_classes(names) == wrong


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param('"""No machine."""\nx = 1', [], id="a-docstring-is-no-message"),
        pytest.param('raise Bug(f"{n} Machines are full")', ["node"], id="the-literal-part-of-an-f-string"),
        pytest.param('x = "machine"', [], id="a-key-of-one-word"),
        pytest.param('x = "the job runs on a GPU pool"', ["replica", "pool"], id="each-word"),
    ],
)
def test_a_message_with_another_word_is_found(source: str, words: list[str]) -> None:
    found = [wrong for text in _sentences(ast.parse(source)) for wrong in _wrong_words("x.py", text)]
    assert [wrong.rpartition("say ")[2] for wrong in found] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("description: The slot it runs in.", ["device or node"], id="a-description"),
        pytest.param("rules: [{message: the machine is full}]", ["node"], id="the-message-of-a-rule"),
        pytest.param("machine: {description: A node.}", [], id="the-name-of-a-field"),
        pytest.param("description: Where it runs.", ["begin with the noun"], id="an-opening-without-a-noun"),
        pytest.param("description: {type: string, description: What is said.}", ["begin with the noun"], id="nested"),
        pytest.param("description: Whereabouts of the replica.", [], id="only-whole-words"),
    ],
)
def test_a_description_with_another_word_is_found(text: str, words: list[str]) -> None:
    found = [
        wrong
        for said in _descriptions(yaml.safe_load(text))
        for wrong in (*_wrong_words("x.yaml", said), *_wrong_openings("x.yaml", said))
    ]
    assert [wrong.rpartition(": ")[2].removeprefix("say ") for wrong in found] == words


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param('"""What is placed."""', True, id="a-module"),
        pytest.param('class A:\n    """Whether it fits."""', True, id="a-class"),
        pytest.param('def f():\n    """Return what is left."""', True, id="a-function"),
        pytest.param('LIMIT = 3\n"""How many are shown."""', True, id="an-attribute"),
        pytest.param('def _f():\n    """What is left."""', False, id="a-private-function"),
        pytest.param('def f():\n    """Return whether it fits."""', False, id="return-whether"),
        pytest.param('def f():\n    """Whatever the order."""', False, id="only-whole-words"),
    ],
)
def test_a_docstring_that_begins_with_a_question_word_is_found(source: str, *, found: bool) -> None:
    assert any(_NO_NOUN.match(text) for text in _public_docstrings(ast.parse(source))) is found
