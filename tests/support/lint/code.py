"""Modules read as symbols, and what each symbol uses, without importing any of them.

A symbol is a function, class, constant or member of a class. A use is a dotted name that the module's imports and
definitions give (`modelplane.names.label`), or the name of an attribute of something whose class is not known here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.lint import reading
from tests.support.lint.reading import Function, Reader, Uses

_FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Symbol:
    """A function, class or constant of a module, or a member of a class.

    `owner` is the dotted name of a member's class; `bases` and `type_of` are dotted names, the latter of the classes
    that a field, property or function yields. `is_optional`: a field of a frozen
    dataclass that has a default.
    """

    name: str
    kind: str
    path: Path
    line: int
    owner: str | None = None
    uses: Uses = field(default_factory=Uses)
    bases: tuple[str, ...] = ()
    is_optional: bool = False
    type_of: tuple[str, ...] = ()


@dataclass(slots=True)
class Module:
    """A parsed module.

    `runs` is what its import runs; `script` is what only its run as a program adds; `imports` are dotted names.
    """

    name: str
    path: Path
    bindings: dict[str, str] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    runs: Uses = field(default_factory=Uses)
    script: Uses = field(default_factory=Uses)


def read(path: Path, name: str) -> Module:
    """Return the module of a file. Raises: SyntaxError."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    module = Module(name, path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module.imports.update(dotted for _, dotted in reading.imported(node, package))
    for statement in _flat(tree.body):
        module.bindings.update(_bound_by(statement, name, package))
    for statement in _flat(tree.body):
        _Definitions(module, package).add(statement)
    return module


def _flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements of a module with those inside its conditions; the main block stays whole."""
    for statement in body:
        if isinstance(statement, ast.If) and not _is_main(statement):
            yield ast.Expr(statement.test)
            yield from _flat([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            handlers = [one for handler in statement.handlers for one in handler.body]
            yield from _flat([*statement.body, *handlers, *statement.orelse, *statement.finalbody])
        else:
            yield statement


def _is_main(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test))


def _bound_by(statement: ast.stmt, module: str, package: str) -> dict[str, str]:
    """Return the names that a statement of a module binds, and what they stand for."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return reading.bindings_of(statement, package)
    if isinstance(statement, (*_FUNCTION, ast.ClassDef)):
        return {statement.name: f"{module}.{statement.name}"}
    return {name: f"{module}.{name}" for name in reading.stored(statement)} if _defines(statement) else {}


def _defines(statement: ast.stmt) -> bool:
    """Whether an assignment does nothing but define names."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) or (
        hasattr(ast, "TypeAlias") and isinstance(statement, getattr(ast, "TypeAlias", ()))
    ):
        targets = [statement.target if isinstance(statement, ast.AnnAssign) else ast.Name("_")]
    return bool(targets) and all(isinstance(one, ast.Name | ast.Tuple) for one in targets)


@dataclass(slots=True)
class _Definitions:
    """Adds the symbols of statements to a module."""

    module: Module
    package: str

    def add(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return
        if isinstance(statement, _FUNCTION):
            self._function(statement)
        elif isinstance(statement, ast.ClassDef):
            self._class(statement)
        elif _defines(statement):
            uses = self._reader().read([statement]).uses
            for name in sorted(reading.stored(statement) - {"__all__"}):
                self._put(name, "constant", statement, uses=uses)
        else:
            into = self.module.script if isinstance(statement, ast.If) else self.module.runs
            Reader(self.module.bindings, self.package, into).read([statement])

    def _reader(self) -> Reader:
        return Reader(self.module.bindings, self.package)

    def _put(self, name: str, kind: str, node: ast.stmt, *, uses: Uses, owner: str | None = None) -> Symbol:
        dotted = f"{owner or self.module.name}.{name}"
        symbol = Symbol(dotted, kind, self.module.path, node.lineno, owner, uses)
        self.module.symbols[dotted] = symbol
        return symbol

    def _function(self, node: Function, owner: str | None = None) -> None:
        reader = self._reader()
        if owner and node.args.args:
            reader.local[node.args.args[0].arg] = (owner,)
        reader.read([node])
        kind = "method" if owner else "function"
        symbol = self._put(node.name, kind, node, uses=reader.uses, owner=owner)
        symbol.type_of = reading.classes(node.returns, self.module.bindings)
        self._registered(symbol, node)

    def _class(self, node: ast.ClassDef) -> None:
        reader = self._reader()
        reader.read([*node.decorator_list, *node.bases, *(word.value for word in node.keywords)])
        symbol = self._put(node.name, "class", node, uses=reader.uses)
        symbol.bases = tuple(name for base in node.bases for name in reading.classes(base, self.module.bindings))
        self._registered(symbol, node)
        for statement in node.body:
            if isinstance(statement, _FUNCTION):
                self._function(statement, symbol.name)
                continue
            reader.read([statement])
            if _defines(statement):
                for name in sorted(reading.stored(statement)):
                    member = self._put(name, "member", statement, uses=Uses(), owner=symbol.name)
                    if isinstance(statement, ast.AnnAssign):
                        member.is_optional = _is_frozen(node) and _has_default(statement)
                        member.type_of = reading.classes(statement.annotation, self.module.bindings)

    def _registered(self, symbol: Symbol, node: Function | ast.ClassDef) -> None:
        """Count a decorator of ours as a use by whoever imports the module: it may keep what it is given."""
        uses = Uses()
        Reader(self.module.bindings, self.package, uses).read(node.decorator_list)
        top = self.module.name.split(".")[0]
        if any(name.split(".")[0] == top and symbol.owner is None for name in uses.dotted):
            self.module.runs.dotted.add(symbol.name)


def _is_frozen(node: ast.ClassDef) -> bool:
    """Whether a class is a dataclass whose fields have the values that it was made with."""
    words = [word for one in node.decorator_list if isinstance(one, ast.Call) for word in one.keywords]
    return any(word.arg == "frozen" and ast.literal_eval(word.value) is True for word in words)


def _has_default(statement: ast.AnnAssign) -> bool:
    """Whether a field may be left out when an object is made, and may be given; a memory is no part of the value."""
    if isinstance(statement.value, ast.Call):
        words = {word.arg: word.value for word in statement.value.keywords}
        is_memory = not {"init", "compare"}.isdisjoint(words)
        return not is_memory and not {"default", "default_factory"}.isdisjoint(words)
    annotation = ast.dump(statement.annotation)
    return statement.value is not None and "ClassVar" not in annotation and "InitVar" not in annotation
