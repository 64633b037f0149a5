"""The arguments and the help of `modelplane class`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments, sources

ACTIONS = ("from-cluster",)

_EPILOG = """\
examples:
  modelplane class from-cluster --context gke-us > gke-us.yaml
      write InferenceClasses, and an InferenceCluster with its pools, for the GPU cluster of a kubeconfig context
  kubectl get resourceslices,deviceclasses,nodes -o yaml | modelplane class from-cluster - --cluster gke-us
      the same from documents: files, folders or standard input
  modelplane class from-cluster --context gke-us fleet/
      use the InferenceClasses of fleet/ again where they describe the nodes, and report those that lie
  modelplane class from-cluster --context gke-us --by-place
      list GPUs and network cards by PCIe root or NUMA node, for constraints.matchAttribute

The context is that of a cluster with devices, not of the control plane; ResourceSlices, DeviceClasses and Nodes are
read there and nothing else. Documents go to standard output; what was found, and one line for each thing that could not
be expressed, go to standard error. An attribute that differs between equal devices is left out, so that no class
promises what half of its nodes do not have.

exit codes: 0 written, 1 no devices were found, or a class of the documents lies, 2 bad input, 3 internal error
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("class", "Write the InferenceClasses and pools of a cluster that exists.", _EPILOG)
    made.add_argument("action", metavar="from-cluster", choices=ACTIONS, help="describe a cluster by what is there")
    sources.add(made, "live cluster with devices")
    made.add_argument(
        "--cluster", metavar="NAME", help="name of the InferenceCluster (default: from the context, else cluster)"
    )
    made.add_argument(
        "--by-place", action="store_true", help="list devices by PCIe root and NUMA node where drivers share these"
    )
    made.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="default: yaml")
    return made
