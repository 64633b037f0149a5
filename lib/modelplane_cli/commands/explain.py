"""`modelplane explain`: the reasons of one object.

Of a replica or deployment these are its placement, its alternatives, and a change that makes one more replica fit. Of
a service, an endpoint or a cluster they are its state and what stands under it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from dataclasses import replace

from modelplane import names
from modelplane.api import inference_cluster, replica_endpoint
from modelplane.errors import InvalidInput, ModelplaneError
from modelplane_cli import exits
from modelplane_cli.checks import advice
from modelplane_cli.commands import arguments, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import explanation_text, inspection_text, manifests, notes, problem_lines, screen
from modelplane_cli.planning import (
    amendments,
    corrections,
    decision,
    explanation,
    inspection,
    inspection_json,
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
_KINDS = {
    "md": DEPLOYMENT,
    "modeldeployment": DEPLOYMENT,
    "modeldeployments": DEPLOYMENT,
    "mr": _REPLICA,
    "modelreplica": _REPLICA,
    "modelreplicas": _REPLICA,
} | {word: kind for kind in inspection.KINDS for word in (inspection.SHORT[kind], kind.lower(), f"{kind.lower()}s")}

_EPILOG = """\
examples:
  modelplane explain examples/quickstart md/qwen3-8b -n ml-team
      show where each replica is placed and why, and the verdict of every cluster over one more
  modelplane explain examples/quickstart mr/qwen3-8b-0 -n ml-team
      show the same for one replica: where else it fits, and why not on the other clusters
  modelplane explain --context prod ms/chat -n ml-team
      show why a URL is down: its groups, its endpoints, and what each stands on
  modelplane explain --context prod ic/eks-eu
      show what is wrong with a cluster: conditions, pools, and the replicas it refuses or cannot run
  kubectl get modelplane,objects -A -o yaml | modelplane explain - md/llama-405b -n ml-team
      show why it is pending on a live control plane, and what would change that
  modelplane explain fleet/ md/llama-405b -n ml-team -o json
      print the explanation as JSON

The closest miss is not a guess: the change is made, and the matcher is asked again. Where moving other replicas would
make room, the smallest set of moves is named first, made on a copy one after the other; `modelplane simulate
--defragment` makes them for everything that is missing.

exit codes: 0 it is placed (ms, me, ic: it is as wanted), 1 it is not (all), 2 bad input, 3 a bug
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "explain",
        "Show why a replica is placed where it is and not elsewhere, why a service does not answer, or what is wrong "
        "with a cluster.",
        _EPILOG,
    )
    sources.add(made)
    made.add_argument("subject", metavar="KIND/NAME", help="md/NAME, mr/NAME, ms/NAME, me/NAME or ic/NAME")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    made.add_argument("-n", "--namespace", help="of the subject, and of documents that name none (default: default)")
    return made


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane explain`."""
    options = parser().parse_args(list(arguments))
    stage = Stage.empty()
    try:
        _named(options.subject)  # before anything is read: where it is left out a path stands in its place
    except InvalidInput as error:
        print(f"modelplane explain: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    given, namespace = sources.read(options), options.namespace or "default"
    checked = stage.checked(given, namespace)
    if checked is None:
        return exits.BAD_INPUT
    objects = checked.objects
    rehearsal = stage.rehearsal(objects)
    act = stage.settle(rehearsal)
    try:
        key = _subject(act.world.store, options.subject, options.namespace)
    except InvalidInput as error:
        print(f"modelplane explain: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    if key.kind in inspection.KINDS:
        # A rehearsal always succeeds where the control plane may not, for example without its function.
        as_written = inspection.stuck(offline.unsettled(objects, stage.kinds), key)
        state = inspection.with_causes(inspection.of(act.world, key), as_written)
        if options.output == "text":
            sys.stdout.write(inspection_text.text(state, screen.of(sys.stdout)))
        else:
            sys.stdout.write(manifests.answer(inspection_json.encode(state), options.output))
        sys.stdout.flush()
        return _ended(act.world, is_fine=state.is_as_wanted)
    written = amendments.written(given.documents, namespace, objects)
    try:
        found = _corrected(rehearsal, _answer(act.world.store, key, written), written)
        found = explanation.with_moves(found, act.world.store)
        answer = workload_notes.told(found, act.world.store)
    except ModelplaneError as error:
        print(f"{key}: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    _show(answer, options.output)
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


def _named(text: str) -> tuple[str, str]:
    """Return the kind and the name that are meant. Raises: InvalidInput for a text of another form."""
    word, slash, name = text.partition("/")
    kind = _KINDS.get(word.lower().partition(".")[0])
    if kind is None or not slash or not name:
        asked = "write md/NAME, mr/NAME, ms/NAME, me/NAME or ic/NAME after the paths, for example md/qwen3-8b"
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


def _show(answer: Answer, output: str) -> None:
    if output == "text":
        sys.stdout.write(explanation_text.text(answer, screen.of(sys.stdout)))
    else:
        sys.stdout.write(manifests.answer(explanation.encode(answer), output))
    sys.stdout.flush()
