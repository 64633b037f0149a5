"""The arguments and the help of `modelplane completion`."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import arguments

SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\
examples:
  source <(modelplane completion bash)
      complete commands, options and names in this shell; the same line in ~/.bashrc does so in each
  source <(modelplane completion zsh)
      the same for zsh, in ~/.zshrc after compinit
  modelplane completion fish | source
      the same for fish, in ~/.config/fish/config.fish

Names of objects come from the YAML files and directories that stand on the line already: after `modelplane explain
fleet/ md/` the deployments of fleet/ are proposed. Contexts come from kubectl. Where nothing is known, files are.

exit codes: 0 success, 2 bad input
"""


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.parser("completion", "Print the script that completes this command in a shell.", _EPILOG)
    made.add_argument("shell", choices=SHELLS, help="the shell")
    return made
