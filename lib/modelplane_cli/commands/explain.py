"""`modelplane explain`: the reasons of one object.

Of a replica or deployment these are its placement, its alternatives, and a change that makes one more replica fit. Of
a service, an endpoint, a cluster or a cache they are its state and what stands under it.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from modelplane import names
from modelplane.api import inference_cluster, replica_endpoint
from modelplane.errors import InvalidInput, ModelplaneError
from modelplane_cli import exits, shorts
from modelplane_cli.checks import advice
from modelplane_cli.commands import answers, sources
from modelplane_cli.commands.stage import Objects, Stage
from modelplane_cli.documents import reading
from modelplane_cli.output import explanation_text, inspection_text, notes, problem_lines, situation_text
from modelplane_cli.parsers import explain as explain_parser
from modelplane_cli.planning import (
    amendments,
    corrections,
    decision,
    explanation,
    inspection,
    inspection_json,
    situation,
    workload_notes,
)
from modelplane_cli.planning.amendments import Documents
from modelplane_cli.planning.explanation import Answer
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.replicas import DEPLOYMENT, Deployment
from modelplane_cli.simulator import offline
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key, Store

_REPLICA = "ModelReplica"
_KINDS = {word: kind for short, kind in shorts.KINDS.items() for word in (short, kind.lower(), f"{kind.lower()}s")}


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane explain`."""
    options = explain_parser.parser().parse_intermixed_args(list(arguments))
    stage = Stage.empty()
    try:
        options.paths, subject = _told_apart(options.paths)  # before anything is read
    except InvalidInput as error:
        print(f"modelplane explain: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    given, namespace = sources.read(options), options.namespace or "default"
    checked = stage.checked(given, namespace)
    if checked is None:
        return exits.BAD_INPUT
    objects = checked.objects
    if subject is None:
        return _survey(stage, objects, options.namespace, options.output)
    rehearsal = stage.rehearsal(objects)
    act = stage.settle(rehearsal)
    try:
        key = _subject(act.world.store, subject, options.namespace)
    except InvalidInput as error:
        print(f"modelplane explain: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    if key.kind in inspection.KINDS:
        # A rehearsal always succeeds where the control plane may not, for example without its function.
        stuck = inspection.stuck(offline.unsettled(objects, stage.kinds), key)
        state = inspection.with_causes(inspection.of(act.world, key), stuck)
        answers.show(options.output, partial(inspection_text.text, state), partial(inspection_json.encode, state))
        return _ended(act.world, is_fine=state.is_as_wanted)
    written = amendments.written(given.documents, namespace, objects)
    try:
        found = _corrected(rehearsal, _answer(act.world.store, key, written), written)
        found = explanation.with_moves(found, act.world.store)
        answer = workload_notes.told(found, act.world.store)
    except ModelplaneError as error:
        print(f"{key}: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    answers.show(options.output, partial(explanation_text.text, answer), partial(explanation.encode, answer))
    if answer.plan.shortfall is not None and key in checked.sources:
        # A selector over the size in a product's name is the most frequent reason, and no fault of the devices.
        problem_lines.write(advice.advise(checked, key))
    return _ended(act.world, is_fine=answer.is_placed)


def _ended(world: World, *, is_fine: bool) -> int:
    notes.bugs(world)
    if world.settled.record.bugs:
        return exits.BUG
    return exits.FINE if is_fine else exits.NO


def _answer(store: Store, key: Key, documents: Documents) -> Answer:
    if key.kind == DEPLOYMENT:
        decided = decision.of(store, Deployment(key.namespace, key.name))
        return explanation.deployment(decision.widened(store, decided), documents)
    owner = str((((store.get(key) or {}).get("spec") or {}).get("deploymentRef") or {}).get("name") or "")
    deployment = Deployment(key.namespace, owner)
    if store.get(deployment.key) is None:
        raise InvalidInput(f"its ModelDeployment {deployment} is not among the documents; give it too")
    decided = decision.of(store, deployment)
    return explanation.replica(decision.widened(store, decided), key.name, documents)


def _corrected(rehearsal: Rehearsal, answer: Answer, documents: Documents) -> Answer:
    """Return the answer with a correction of a name where no change is known, or only of a label that nobody has."""
    deployment = Deployment(answer.namespace, answer.name)
    is_strange = answer.plan.shortfall is not None and corrections.is_strange(rehearsal.store, deployment)
    if answer.about or not (answer.helpless or is_strange):
        return answer
    found = corrections.of(rehearsal, deployment, documents)
    return answer if found is None else replace(answer, closest=found[0], amendment=found[1])


def _survey(stage: Stage, objects: Objects, namespace: str | None, output: str) -> int:
    """Print what is worth explaining: as the control plane wrote it, or as a rehearsal finds it where nobody did."""
    is_written = situation.has_status(objects, stage.kinds)
    world = offline.unsettled(objects, stage.kinds) if is_written else stage.settle(stage.rehearsal(objects)).world
    found = situation.of(world, namespace)
    answers.show(output, partial(situation_text.text, found), partial(situation.encode, found))
    return _ended(world, is_fine=found.is_as_wanted)


def _told_apart(words: list[str]) -> tuple[list[str], str | None]:
    """Return the paths and the subject, None where the last word is a path, too. Raises: InvalidInput if it is neither.

    A file `md/NAME` is given as `./md/NAME`.
    """
    if not words or words[-1] == reading.STDIN:
        return words, None
    try:
        _named(words[-1])
    except InvalidInput as error:
        if os.path.exists(words[-1]):
            return words, None
        raise InvalidInput(f"{error}; there is no such file either") from None
    return words[:-1], words[-1]


def _named(text: str) -> tuple[str, str]:
    """Return the kind and the name that are meant. Raises: InvalidInput for a text of another form."""
    word, slash, name = text.partition("/")
    kind = _KINDS.get(word.lower().partition(".")[0])
    if kind is None or not slash or not name:
        asked = "write md/NAME, mr/NAME, ms/NAME, me/NAME, ic/NAME or mc/NAME after the paths, for example md/qwen3-8b"
        raise InvalidInput(f"{text} is not a KIND/NAME: {asked}")
    return kind, name


def _subject(store: Store, text: str, namespace: str | None) -> Key:
    """Return the one object that is meant. Raises: InvalidInput when there is none, or more than one."""
    kind, name = _named(text)
    every = store.of_kind(names.GROUP, kind)
    # A cluster has no namespace, whichever is given for the other documents.
    found = [key for key in every if key.name == name and (not key.namespace or namespace in (None, key.namespace))]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidInput(f"{kind} {name} is in several namespaces, choose one with -n: {_listed(found)}")
    close = difflib.get_close_matches(name, [key.name for key in every], n=1)
    near = [key for key in every if key.name in (name, *close)]
    hint = f"did you mean {_listed(near)}?" if near else f"there are {_listed(every)}" if every else "there is none"
    where = f" in namespace {namespace}" if namespace and kind != inference_cluster.KIND else ""
    of_replica = Key(names.GROUP, _REPLICA, namespace or "default", name)
    if kind == replica_endpoint.KIND and store.get(of_replica) is not None:
        hint = f"a replica has one while it serves: explain mr/{name}"
    raise InvalidInput(f"no {kind} {name}{where}; {hint}")


def _listed(keys: Sequence[Key]) -> str:
    return ", ".join(names.qualified(key.namespace, key.name) if key.namespace else key.name for key in keys[:10])
