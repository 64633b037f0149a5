"""The arguments and the help of `modelplane explain`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, reader, sources

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
  modelplane explain --context prod mc/llama-70b -n ml-team
      show which clusters hold the weights of a cache, and why the others do not yet
  kubectl get modelplane,objects -A -o yaml | modelplane explain - md/llama-405b -n ml-team
      show why it is pending on a live control plane, and what would change that
  modelplane explain fleet/
      list what is worth explaining: what is not placed or not as wanted, worst first
  modelplane explain fleet/ md/llama-405b -n ml-team -o json
      print the explanation as JSON

The closest miss is not a guess: the change is made, and the matcher is asked again. Where moving other replicas would
make room, the smallest set of moves is named first, made on a copy one after the other; `modelplane simulate
--defragment` makes them for everything that is missing.

exit codes: 0 it is placed (ms, me, ic, mc, or no name: all is as wanted), 1 it is not (all), 2 bad input, 3 a bug
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "explain",
        "Show why a replica is placed where it is and not elsewhere, why a service does not answer, what is wrong "
        "with a cluster, or which clusters hold the files of a cache.",
        _EPILOG,
    )
    sources.add(made)
    what = "md/NAME, mr/NAME, ms/NAME, me/NAME, ic/NAME or mc/NAME; without one, what is worth explaining is listed"
    # The paths take every word; the last of them is the subject where it reads like one.
    made.add_argument("subject", metavar="KIND/NAME", nargs="?", help=what)
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    made.add_argument("-n", "--namespace", help="of the subject, and of documents that name none (default: default)")
    reader.add(made)
    return made
