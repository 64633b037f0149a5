"""The names that a piece of code reads: dotted names that its module binds, and attributes of anything else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Bindings: TypeAlias = Mapping[str, str]
_FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPE: Final = (*_FUNCTION, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
READERS: Final = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller"})
"""Functions that take the name of an attribute as text."""


@dataclass(slots=True)
class Uses:
    """The names that a piece of code reads.

    `dotted` holds names from their root on; `attributes` holds names of attributes of anything; `whole` holds the
    dotted names that stand as a value, which gives everything of an enumeration away. `given` holds, per call, what is
    called (empty where that is not known) and a keyword, a place, or "*" for whatever a mapping or sequence holds.
    """

    dotted: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    given: set[tuple[str, str]] = field(default_factory=set)


def imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    """Yield the local name and the dotted name of each import."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                yield alias.name.split(".")[0], alias.name
        return
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    source = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        yield alias.asname or alias.name, f"{source}.{alias.name}"


def bindings_of(node: ast.Import | ast.ImportFrom, package: str) -> dict[str, str]:
    pairs = imported(node, package)
    plain = isinstance(node, ast.Import)
    return {local: local if plain and dotted.startswith(f"{local}.") else dotted for local, dotted in pairs}


def stored(node: ast.AST) -> set[str]:
    """Return the names that a piece of code binds in its own scope."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store | ast.Del):
            found.add(one.id)
        elif isinstance(one, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            found.update([one.name] if one.name else [])
        elif isinstance(one, (*_FUNCTION, ast.ClassDef)) and one is not node:
            found.add(one.name)
        waiting += [child for child in ast.iter_child_nodes(one) if not isinstance(one, _SCOPE) or one is node]
    return found


def classes(annotation: ast.expr | None, bindings: Bindings) -> tuple[str, ...]:
    """Return the dotted names of the classes of an annotation (`A | None` is A); empty when one has no such name."""
    match annotation:
        case ast.Constant(value=None):
            return ()
        case ast.Constant(value=str(text)):
            return classes(ast.parse(text, mode="eval").body, bindings)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            sides = [side for side in (left, right) if not (isinstance(side, ast.Constant) and side.value is None)]
            names = [classes(side, bindings) for side in sides]
            return tuple(name for some in names for name in some) if all(names) else ()
        case ast.Name() | ast.Attribute():
            name = dotted_name(annotation, bindings)
            return (name,) if name else ()
        case ast.Subscript(value=ast.Name(id="Final" | "ClassVar"), slice=inner):
            return classes(inner, bindings)
        case ast.Subscript(value=ast.Name() | ast.Attribute() as generic):
            return classes(generic, bindings)
    return ()


def dotted_name(node: ast.expr, bindings: Bindings) -> str | None:
    """Return what a chain of names stands for, from its root on; None when its root is not bound by a module."""
    match node:
        case ast.Name(id=name):
            return bindings.get(name)
        case ast.Attribute(value=value, attr=attr):
            before = dotted_name(value, bindings)
            return f"{before}.{attr}" if before else None
    return None


class Reader(ast.NodeVisitor):
    """Collects what code uses. `local` gives the classes of names that are bound in the scopes around it."""

    def __init__(self, bindings: Bindings, package: str, uses: Uses | None = None) -> None:
        self.bindings = dict(bindings)
        self.package = package
        self.uses = Uses() if uses is None else uses
        self.local: dict[str, tuple[str, ...]] = {}

    def read(self, nodes: Iterable[ast.AST]) -> Reader:
        """Read all nodes, and return this reader."""
        for node in nodes:
            self.visit(node)
        return self

    def visit_Name(self, node: ast.Name) -> None:
        """Use what the name stands for, as a value."""
        if isinstance(node.ctx, ast.Load) and node.id not in self.local and node.id in self.bindings:
            self.uses.dotted.add(self.bindings[node.id])
            self.uses.whole.add(self.bindings[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Use an attribute: of a name that is known, of a class that is known, or of anything."""
        chain, root = _chain(node)
        if not isinstance(root, ast.Name):
            self.visit(root)
            self.uses.attributes.update(chain)
        elif root.id in self.local:
            starts = self.local[root.id]
            self.uses.dotted.update(".".join([start, *chain]) for start in starts)
            if not starts:
                self.uses.attributes.update(chain)
        elif root.id in self.bindings:
            name = ".".join([self.bindings[root.id], *chain])
            self.uses.dotted.add(name)
            self.uses.whole.add(name)
        else:
            self.uses.attributes.update(chain)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Use nothing: texts are texts, apart from annotations and `cast`, which are asked for below."""

    def visit_Call(self, node: ast.Call) -> None:
        """Use attributes that are named by text, and classes that `cast` names by text."""
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if called in READERS:
            self.uses.attributes.update(part for text in texts for part in text.split("."))
        if called == "cast" and node.args:
            self._annotation(node.args[0])
        self._gives(node, called)
        self.generic_visit(node)

    def _gives(self, node: ast.Call, called: str) -> None:
        whom = self._callee(node.func)
        places = ["*" if isinstance(one, ast.Starred) else str(place) for place, one in enumerate(node.args)]
        self.uses.given.update((whom, word) for word in [*places, *(word.arg or "*" for word in node.keywords)])
        if called not in ("isinstance", "issubclass", "cast"):
            # Whoever is handed a class may call it with anything.
            values = [*node.args, *(word.value for word in node.keywords)]
            self.uses.given.update((dotted_name(value, self.bindings) or "", "*") for value in values)

    def _callee(self, node: ast.expr) -> str:
        root = _chain(node)[1] if isinstance(node, ast.Attribute) else node
        if isinstance(root, ast.Name) and root.id in self.local:
            return next(iter(self.local[root.id]), "") if root is node else ""
        return dotted_name(node, self.bindings) or ""

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """Use the attributes that a pattern looks at."""
        self.uses.attributes.update(node.kwd_attrs)
        name = dotted_name(node.cls, self.bindings)
        if name:
            self.uses.dotted.add(name)
            self.uses.dotted.update(f"{name}.{place}" for place in range(len(node.patterns)))
        self.read([*node.patterns, *node.kwd_patterns])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Use the annotation as one: it gives no member of an enumeration away."""
        self._annotation(node.annotation)
        self.read([one for one in (node.target, node.value) if one is not None])

    def visit_FunctionDef(self, node: Function) -> None:
        """Use what the function uses, in a scope of its own."""
        arguments = node.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        given += [one for one in (arguments.vararg, arguments.kwarg) if one]
        self.read([*node.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one)])
        for one in [*(one.annotation for one in given), node.returns]:
            self._annotation(one)
        stars = {one.arg for one in (arguments.vararg, arguments.kwarg) if one}
        typed = {
            one.arg: () if one.arg in stars else classes(one.annotation, self.bindings) or self.local.get(one.arg, ())
            for one in given
        }
        assigned: set[str] = set()
        for statement in node.body:
            assigned |= stored(statement)
        self._within({**dict.fromkeys(assigned, ()), **_kept(typed, assigned)}, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the visitor's name

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Use what the lambda uses, in a scope of its own."""
        arguments = node.args
        self.read([*arguments.defaults, *(one for one in arguments.kw_defaults if one)])
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self._within({one.arg: () for one in given if one}, [node.body])

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        names = {name for part in node.generators for name in stored(part.target)}
        yielded = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._within(dict.fromkeys(names, ()), [*first.ifs, *others, *yielded])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        bound = bindings_of(node, self.package)
        self.bindings.update(bound)
        for name in bound:
            self.local.pop(name, None)

    visit_Import = visit_ImportFrom = _import  # noqa: N815 - the visitor's names

    def _within(self, names: Mapping[str, tuple[str, ...]], nodes: Iterable[ast.AST]) -> None:
        before = self.local
        self.local = {**before, **names}
        self.read(nodes)
        self.local = before

    def _annotation(self, node: ast.expr | None) -> None:
        if node is None:
            return
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
                self._annotation(ast.Name(one.value, ast.Load()))
            name = dotted_name(one, self.bindings) if isinstance(one, ast.Name | ast.Attribute) else None
            if name:
                self.uses.dotted.add(name)


def _kept(typed: Mapping[str, tuple[str, ...]], assigned: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the classes of parameters; a parameter that is assigned anew may be of another."""
    return {name: () if name in assigned else some for name, some in typed.items()}


def _chain(node: ast.Attribute) -> tuple[list[str], ast.expr]:
    """Return the names of a chain of attributes, outermost last, and what they are asked of."""
    names = [node.attr]
    value = node.value
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    return names[::-1], value
