"""Stand-ins for packages that an engine imports before it can read its arguments: torch, transformers and the like.

Any name of a stand-in is a class that does nothing. The engine's own modules and what decides how arguments are read
(argparse, pydantic, msgspec) are always the real ones.
"""

from __future__ import annotations

import abc
import importlib.abc
import importlib.machinery
import sys
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic_core import core_schema

REAL = frozenset(
    {"pydantic", "pydantic_core", "typing_extensions", "annotated_types", "typing_inspection", "msgspec", "yaml"}
)
# An engine asks for these to learn what machine it is on; there is none of them.
_NOWHERE = frozenset({"libtpu", "amdsmi", "vllm_xpu_kernels", "torch_xla", "torch_npu", "pynvml", "org"})
_ABSENT = frozenset({"npu", "xpu", "hpu", "musa"})
_ARITHMETIC = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "pow"),
    *("rpow", "and", "rand", "xor", "lshift", "rshift"),
)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _kept(self: Any, other: Any) -> Any:
    return other if isinstance(other, str) else self


class _Kind(abc.ABCMeta):
    """The class of a stand-in: it can be subclassed, called, indexed, compared and named in an annotation."""

    def __getattr__(cls, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(name)
        return _made(name)

    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        return core_schema.any_schema()

    def __or__(cls, other: Any) -> Any:
        return typing.Union[cls, other]  # noqa: UP007 - a stand-in has no operator of its own

    def __ror__(cls, other: Any) -> Any:
        return typing.Union[other, cls]  # noqa: UP007 - as above

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __contains__(cls, _: object) -> bool:
        return False

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __setitem__(cls, _: object, __: object) -> None:
        return None

    def __int__(cls) -> int:
        return 0

    def __index__(cls) -> int:
        return 0

    def __float__(cls) -> float:
        return 0.0

    def __lt__(cls, _: object) -> bool:
        return False

    def __le__(cls, _: object) -> bool:
        return True

    def __gt__(cls, _: object) -> bool:
        return False

    def __ge__(cls, _: object) -> bool:
        return True


def _attribute(_: Any, name: str) -> Any:
    if _is_special(name):
        raise AttributeError(name)
    return _made(name)


def _called(_: Any, *args: Any, **settings: Any) -> Any:
    # A decorator leaves what it decorates.
    return args[0] if len(args) == 1 and not settings and callable(args[0]) else _made("result")()


_BODY: dict[str, Any] = {
    "__init__": lambda *_, **__: None,
    "__getattr__": _attribute,
    "__call__": _called,
    "__enter__": lambda self: self,
    "__exit__": lambda *_: None,
    "__lt__": lambda *_: False,
    "__le__": lambda *_: True,
    "__gt__": lambda *_: False,
    "__ge__": lambda *_: True,
    "__iter__": lambda _: iter(()),
    "__getitem__": lambda self, _: self,
    "__setitem__": lambda *_: None,
    "__class_getitem__": classmethod(lambda cls, _: cls),
    "__len__": lambda _: 0,
    "__contains__": lambda *_: False,
    "__int__": lambda _: 0,
    "__index__": lambda _: 0,
    "__float__": lambda _: 0.0,
    "__or__": lambda self, _: self,
    "__ror__": lambda self, _: self,
    "__init_subclass__": classmethod(lambda *_, **__: None),
    **{f"__{name}__": _kept for name in _ARITHMETIC},
}
for _name in _ARITHMETIC:
    setattr(_Kind, f"__{_name}__", _kept)


def _made(name: str) -> Any:
    return _Kind(name, (object,), dict(_BODY))


class Module(types.ModuleType):
    """A module in which every name is a stand-in, save those that are set."""

    def __getattr__(self, name: str) -> Any:
        if _is_special(name) or name in _ABSENT:
            raise AttributeError(name)
        value = _made(name)
        value.__module__ = self.__name__
        setattr(self, name, value)
        return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The finder of every module that is neither real nor of the standard library; `covered` is stood in for, too."""

    def __init__(self, real: frozenset[str], covered: Sequence[str]) -> None:
        self._real = real | REAL | _NOWHERE | sys.stdlib_module_names
        self._covered = tuple(covered)

    def find_spec(self, name: str, _: object = None, __: object = None) -> importlib.machinery.ModuleSpec | None:
        """Return the place of a stand-in, None for what is to be found as usual."""
        is_covered = any(name == one or name.startswith(f"{one}.") for one in self._covered)
        if not is_covered and name.partition(".")[0] in self._real:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return the module."""
        made = Module(spec.name)
        made.__path__ = []
        made.__dict__["__version__"] = "2.9.0"
        return made

    def exec_module(self, _: types.ModuleType) -> None:
        """Leave the module as it was made."""


def install(engine: str, folder: str, covered: Sequence[str], settings: Callable[[], None]) -> None:
    """Make the engine importable from a folder, without the start of its package, and the rest by stand-ins."""
    sys.path.insert(0, folder)
    sys.meta_path.insert(0, Finder(frozenset({engine}), covered))
    package = Module(engine)
    package.__path__ = [f"{folder}/{engine}"]
    package.__dict__["__version__"] = "0"
    sys.modules[engine] = package
    settings()
