"""The arguments and the help of `modelplane simulate`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, events, sources

_EPILOG = """\
examples:
  modelplane simulate fleet/ --drain eks-eu
      a NoExecute taint drain=true: successors first, one at a time, and who has nowhere to go
  modelplane simulate fleet/ --lose eks-eu
      the cluster is gone for good: its workloads stop and its InferenceCluster is deleted
  modelplane simulate fleet/ --unreachable eks-eu --scale ml-team/qwen3-8b=6
      the cluster does not answer for a while: what runs there is held, and nothing new is placed there
  modelplane simulate fleet/ --lose-label modelplane.ai/region=eu-west-1
      a whole region at once
  modelplane simulate fleet/ --lose-nodes eks-eu/h100=2 --scale ml-team/qwen3-8b=6
      two nodes of a pool take nothing new, as a cluster with spec.observe would count them; what stands there stays
  modelplane simulate fleet/ --scale ml-team/qwen3-8b=6 --add new-model.yaml --drain gke-us
      one after the other, in the order given; --add applies on top, as kubectl apply does
  modelplane simulate live.yaml --headroom
      which clusters can be lost with everything still placed: one, any one, any two, the largest set
  modelplane simulate live.yaml --headroom --by region
      the same for each region (the label modelplane.ai/region of clusters): whether all of it can be lost, and how many
      of its clusters, whichever they are; --by class takes the clusters with nodes of a class, --by KEY another label
  modelplane simulate live.yaml --defragment
      which replicas would have to move so that what is missing fits: a table of the moves, one after the other, each
      successor placed while its predecessor stands, and what then fits. Nothing is moved by it
  modelplane simulate fleet/ --drain eks-eu --defragment
      the same after a drain

Every step runs the real functions until nothing moves any more; what they compose is assumed to come up. "Lost" are
replicas that ceased to serve before another served in their stead.

exit codes: 0 all fits and nobody's decision interrupts anything (with --headroom: any one cluster may be lost, and with
--by any one group; with --defragment: all fits after the moves),
1 something would have no place or be interrupted, or a group of a service would have no endpoint, 2 bad input, 3 a bug
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "simulate", "Show the effects of events on a fleet, step by step.", _EPILOG, allow_abbrev=False
    )
    sources.add(made)
    events.add(made)
    made.add_argument("--headroom", action="store_true", help="find the largest loss that still fits")
    made.add_argument(
        "--by",
        metavar="region|class|LABEL",
        help="groups of clusters for --headroom: by region, class, or another label",
    )
    made.add_argument(
        "--defragment", action="store_true", help="find the smallest moves of replicas by which what is missing fits"
    )
    made.add_argument("--all", action="store_true", help="also show what does not change, and every stage of a step")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    sources.add_namespace(made)
    return made
