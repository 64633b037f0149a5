"""The arguments and the help of `modelplane cel`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments

VERSIONS = ("1.34", "1.35", "1.36", "1.37")

_EPILOG = """\
examples:
  modelplane cel 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0' --class examples/classes
      evaluate it against every device of every InferenceClass; an "80 GB" GPU publishes less than 80Gi
  kubectl get resourceslices -o yaml | modelplane cel 'device.attributes["gpu.nvidia.com"].type == "gpu"' --device -
      evaluate it against the devices that drivers publish
  modelplane cel --batch cases.json -o json
      evaluate expressions on one device: {"driver": ..., "device": {...}, "cases": [{"id": ..., "expression": ...}]}

A run-time error is not "no match": on a cluster it ends the scheduling of the pod. The command also reports that the
API server would refuse an expression (for example because its worst case is too expensive), even if it matches.

exit codes: 0 a device matches, 1 no device matches, 2 the expression or the input is invalid
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("cel", "Evaluate a device selector against devices.", _EPILOG)
    made.add_argument("expression", metavar="EXPRESSION", nargs="?", help="the selector")
    made.add_argument(
        "--device", metavar="FILE", help="ResourceSlices, or one device with its driver; - for standard input"
    )
    made.add_argument("--class", metavar="FILE", dest="classes", help="InferenceClasses; a file, a directory or -")
    made.add_argument("--batch", metavar="FILE", help="a JSON file with many expressions, see below")
    made.add_argument("-o", "--output", choices=("text", "yaml", "json"), default="text", help="default: text")
    made.add_argument(
        "--kubernetes",
        choices=VERSIONS,
        default="1.36",
        help="the Kubernetes version whose rules apply (default: 1.36)",
    )
    return made
