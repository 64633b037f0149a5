"""The flags that Dynamo's workers add to those of their engines, read from the source in the wheel ai-dynamo.

    python -m pip download --no-deps --dest DIR ai-dynamo==1.6.1
    python -m tests.support.dynamo_flags DIR/ai_dynamo-1.6.1-py3-none-any.whl

writes `RECORDED`. The source is parsed and not run, because it imports the engines.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded" / "dynamo_flags.json"
RUNTIME = "runtime"
ROLES = "roles"
_CONSTANTS = "dynamo/common/constants.py"
_FILES = {
    RUNTIME: "dynamo/common/configuration/groups/runtime_args.py",
    **{worker: f"dynamo/{worker}/backend_args.py" for worker in ("vllm", "sglang", "trtllm")},
}
_FLAG = re.compile(r"--[a-z0-9][-a-z0-9]*\Z")


def recorded() -> dict[str, list[str]]:
    """Return the flags of the runtime, which every worker takes, those of each worker, and the roles of a worker."""
    found: dict[str, list[str]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def flags(source: str) -> list[str]:
    """Return the flags that the calls in a source declare, sorted."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [one.value for call in calls for one in call.keywords if one.arg in ("flag_name", "obsolete_flag")]
    values = [*named, *(one for call in calls for one in call.args)]
    texts = (one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return sorted({text for text in texts if _FLAG.match(text)})


def roles(source: str) -> list[str]:
    """Return the values of the enumeration of roles."""
    classes = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.ClassDef))
    (found,) = (one for one in classes if one.name == "DisaggregationMode")
    values = (one.value for one in found.body if isinstance(one, ast.Assign))
    return sorted(str(one.value) for one in values if isinstance(one, ast.Constant))


def main() -> None:
    """Write what the wheel that is named declares."""
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        found = {name: flags(wheel.read(path).decode()) for name, path in _FILES.items()}
        found[ROLES] = roles(wheel.read(_CONSTANTS).decode())
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
