"""The arguments and the help of `modelplane schema`."""

from __future__ import annotations

import argparse
from pathlib import Path

from modelplane_cli.parsers import arguments

_EPILOG = """\
examples:
  modelplane schema ModelDeployment
      print the fields of a kind with their descriptions; md, modeldeployments and ModelDeployment are the same
  modelplane schema
      print one schema for all kinds; a document is validated by the schema of its kind, other objects are ignored
  modelplane schema --directory .schemas
      write a file for each kind, and modelplane.json for all kinds. An editor with yaml-language-server then checks and
      completes each document that has the line
        # yaml-language-server: $schema=.schemas/modelplane.json
      and kubeconform reads them with
        -schema-location '.schemas/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
  modelplane schema --output plan
      print the schema of the answer of `modelplane plan -o json`

JSON Schema cannot express the CEL rules of the API server. The descriptions contain them, and `modelplane validate`
checks them.

exit codes: 0 success, 2 unknown kind or command
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser(
        "schema", "Print the JSON Schema of a kind, or of the answer that a command gives with -o json.", _EPILOG
    )
    made.add_argument("kind", metavar="KIND", nargs="?", help="a kind of modelplane.ai; all kinds by default")
    made.add_argument("--output", metavar="COMMAND", help="print the schema of this command's JSON answer")
    made.add_argument("--directory", metavar="DIR", type=Path, help="write the schemas of all kinds to files")
    return made
