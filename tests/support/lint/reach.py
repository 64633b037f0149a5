"""Symbols that no entry point reaches.

The search follows names from the entry points on. A member is reached when its class is, and when reached code asks
for a member of that name: of that class, of one above or below it, or of something whose class is not known here.

Known divergences: members are told apart by name where the class of a value is not written down, so a member that
nobody reads stays unnoticed while another class has one of that name that is read. Code that writes `obj.x` counts as
reading it.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.lint import code
from tests.support.lint.code import Module, Symbol
from tests.support.lint.reading import Uses


def modules(roots: Iterable[Path]) -> dict[str, Module]:
    """Return the modules by name; `roots` are the folders that names begin in, each inside or beside the others."""
    found: dict[str, Module] = {}
    given = sorted(roots)
    for root in given:
        inside = [other for other in given if other != root and other.is_relative_to(root)]
        for path in sorted(root.rglob("*.py")):
            if any(path.is_relative_to(other) for other in inside):
                continue
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = code.read(path, name)
    return found


def unreached(known: Mapping[str, Module], entries: Sequence[str]) -> list[Symbol]:
    """Return symbols that no entry reaches, by place; a class that is not reached stands for its members.

    An entry is a dotted name of a function, of a package (what its `__init__` imports) or of a module that is run.
    Raises: KeyError for an entry that does not exist.
    """
    search = _Search(known)
    for entry in entries:
        search.enter(entry)
    search.run()
    symbols = [symbol for module in known.values() for symbol in module.symbols.values()]
    missed = [one for one in symbols if one.name not in search.reached]
    names = {one.name for one in missed}
    return sorted((one for one in missed if one.owner not in names), key=lambda one: (str(one.path), one.line))


def never_given(known: Mapping[str, Module], entries: Sequence[str]) -> list[Symbol]:
    """Return fields of reached frozen dataclasses that no reached code gives a value, so that each has its default."""
    search = _Search(known)
    for entry in entries:
        search.enter(entry)
    search.run()
    words = {word for whom, word in search.given if search.final(whom) not in search.symbols and word.isidentifier()}
    by_class: dict[str, set[str]] = defaultdict(set)
    for whom, word in search.given:
        by_class[search.final(whom)].add(word)
    found = []
    for owner in sorted(search.reached & search.members.keys()):
        fields = [one for one in search.members[owner].values() if one.kind == "member"]
        below = [name for name in search.family(owner) if name in search.reached]
        given = set().union(*(by_class[name] for name in below)) | words
        for place, one in enumerate(fields):
            short = one.name.rpartition(".")[2]
            if one.is_optional and one.name in search.reached and given.isdisjoint({short, str(place), "*"}):
                found.append(one)
    return found


@dataclass
class _Search:
    known: Mapping[str, Module]
    reached: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    waiting: list[Uses] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    asked_of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    seen: set[str] = field(default_factory=set)
    given: set[tuple[str, str]] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    handed: dict[str, list[Symbol]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.symbols = {name: one for module in self.known.values() for name, one in module.symbols.items()}
        self.members: dict[str, dict[str, Symbol]] = defaultdict(dict)
        self.named: dict[str, list[Symbol]] = defaultdict(list)
        self.below: dict[str, set[str]] = defaultdict(set)
        for one in self.symbols.values():
            if one.owner:
                short = one.name.rpartition(".")[2]
                self.members[one.owner][short] = one
                self.named[short].append(one)
            for base in one.bases:
                self.below[self.final(base)].add(one.name)

    def enter(self, entry: str) -> None:
        if entry in self.known:
            module = self.known[entry]
            self._import(entry)
            self.waiting.append(module.script)
            if module.path.name == "__init__.py":
                self.waiting.append(Uses(dotted=set(module.bindings.values())))
            return
        if self.final(entry) not in self.symbols:
            raise KeyError(entry)
        self._dotted(entry)

    def run(self) -> None:
        while self.waiting:
            uses = self.waiting.pop()
            self.given |= uses.given
            for name in sorted(uses.dotted):
                self._dotted(name)
            for name in sorted(uses.whole):
                self._whole(name)
            for name in sorted(uses.attributes):
                self._attribute(name)

    def _import(self, name: str) -> None:
        """Import a module with the packages around it, and all that it imports."""
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            one = ".".join(parts[:end])
            if one in self.known and one not in self.imported:
                self.imported.add(one)
                self.waiting.append(self.known[one].runs)
                for other in sorted(self.known[one].imports):
                    self._import(other)

    def final(self, name: str) -> str:
        """Return the name under which a symbol is defined, where modules hand it on."""
        for _ in range(10):
            module, _, rest = self._split(name)
            first, _, others = rest.partition(".")
            if module is None or not rest or f"{module.name}.{first}" in self.symbols or first not in module.bindings:
                return name
            name = ".".join([module.bindings[first], *([others] if others else [])])
        return name

    def _split(self, name: str) -> tuple[Module | None, str, str]:
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            module = self.known.get(".".join(parts[:end]))
            if module is not None:
                return module, module.name, ".".join(parts[end:])
        return None, "", name

    def _dotted(self, name: str) -> None:
        """Reach what a dotted name stands for, and what the rest of the chain asks of it."""
        if name in self.seen:
            return
        self.seen.add(name)
        name = self.final(name)
        module, _, rest = self._split(name)
        if module is None:
            return
        self._import(module.name)
        if not rest:
            return
        first, _, others = rest.partition(".")
        symbol = self.symbols.get(f"{module.name}.{first}")
        if symbol is None:
            return
        self._reach(symbol)
        if others and symbol.kind == "class":
            self._of_class(symbol.name, others)
        elif others:
            self._attributes(others)

    def _of_class(self, owner: str, chain: str) -> None:
        """Ask a class, those above and below it for a member, and its class for the rest of the chain."""
        short, _, rest = chain.partition(".")
        if short.isdecimal():
            places = [name for name, one in self.members[owner].items() if one.kind == "member"]
            short = places[int(short)] if int(short) < len(places) else short
        family = self.family(owner)
        members = [self.members[one][short] for one in family if short in self.members[one]]
        for one in family:
            self.asked_of[one].add(short)
        for member in members:
            self._member(member)
        if self._is_structural(owner) or not members:
            self._attribute(short)
        if not rest:
            return
        types = [self.final(kind) for member in members for kind in member.type_of]
        if types and all(kind in self.symbols and self.symbols[kind].kind == "class" for kind in types):
            for kind in types:
                self._of_class(kind, rest)
        else:
            self._attributes(rest)

    def family(self, owner: str) -> list[str]:
        """Return a class with those above and below it."""
        found = [owner]
        for one in found:
            symbol = self.symbols.get(one)
            above = [self.final(base) for base in symbol.bases] if symbol else []
            found += [name for name in above if name in self.symbols and name not in found]
        for one in found:
            found += [name for name in sorted(self.below[one]) if name not in found]
        return found

    def _is_structural(self, owner: str) -> bool:
        return any(base.endswith(".Protocol") for one in self.family(owner) for base in self.symbols[one].bases)

    def _attributes(self, chain: str) -> None:
        for name in chain.split("."):
            self._attribute(name)

    def _attribute(self, name: str) -> None:
        if name in self.asked:
            return
        self.asked.add(name)
        for member in self.named[name]:
            self._member(member)
        for symbol in self.handed[name]:
            self._reach(symbol)

    def _member(self, member: Symbol) -> None:
        """Reach a member that is asked for, once its class is reached."""
        if member.owner in self.reached:
            self._mark(member)

    def _reach(self, symbol: Symbol) -> None:
        if symbol.name in self.reached:
            return
        self._mark(symbol)
        if symbol.kind != "class":
            return
        for short, member in self.members[symbol.name].items():
            asked = short in self.asked or short in self.asked_of[symbol.name]
            if asked or _is_special(short) or self._overrides(symbol, short):
                self._mark(member)

    def _mark(self, symbol: Symbol) -> None:
        if symbol.name not in self.reached:
            self.reached.add(symbol.name)
            self.waiting.append(symbol.uses)

    def _whole(self, name: str) -> None:
        """Reach every member of an enumeration that stands as a value: it can be iterated, or called with a text."""
        final = self.final(name)
        if final in self.known:
            self._value(self.known[final])
        symbol = self.symbols.get(final)
        if symbol is None or symbol.kind != "class" or not self._externals(symbol) & _GIVEN_AWAY:
            return
        for member in self.members[symbol.name].values():
            if member.kind == "member":
                self._mark(member)

    def _value(self, module: Module) -> None:
        """Ask a module that stands as a value like an object: what it defines and hands on are its members."""
        if module.name in self.values:
            return
        self.values.add(module.name)
        for short, name in module.bindings.items():
            symbol = self.symbols.get(self.final(name))
            if symbol is not None:
                self.handed[short].append(symbol)
                if short in self.asked:
                    self._reach(symbol)

    def _externals(self, symbol: Symbol) -> set[str]:
        """Return the dotted names of the classes above a class that are not ours."""
        bases = {self.final(base) for one in self.family(symbol.name) for base in self.symbols[one].bases}
        return {base for base in bases if base not in self.symbols}

    def _overrides(self, symbol: Symbol, member: str) -> bool:
        """Whether a class of others, which may call it, knows a member of that name.

        A tuple's fields have places, and those of a pydantic model are its schema.
        """
        externals = self._externals(symbol)
        if "pydantic.BaseModel" in externals and self.members[symbol.name][member].kind == "member":
            return True
        return "typing.NamedTuple" in externals or any(_knows(base, member) for base in sorted(externals))


_GIVEN_AWAY = frozenset({"enum.Enum", "enum.StrEnum", "enum.IntEnum", "enum.Flag", "enum.IntFlag"})


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _knows(base: str, member: str) -> bool:
    """Whether a class of a library has a member of that name. Raises: ImportError when the library is not installed."""
    module, _, name = base.rpartition(".")
    try:
        holder = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith(str(error.name)) or "." not in module:
            raise
        return _knows_inside(base, member)
    return hasattr(getattr(holder, name, object), member)


def _knows_inside(base: str, member: str) -> bool:
    module, outer, inner = base.rsplit(".", 2)
    return hasattr(getattr(getattr(importlib.import_module(module), outer), inner), member)
