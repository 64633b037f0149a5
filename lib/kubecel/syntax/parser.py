"""The tree of a CEL expression, with macros expanded.

Source: the grammar of cel-go v0.26.0 with the options Kubernetes sets: optional syntax on, quoted identifiers
off, 250 levels of recursion per grammar rule and over all of them. Known divergence: the parser accepts message
literals and the checker refuses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from kubecel.syntax import expansion, lexer, tree
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import Node

_LIMIT: Final = 250
_CODE_POINTS: Final = 100_000
# operator: the function it stands for, and for sums and products how tightly it binds
_RELATIONS: Final = {
    "<": "_<_", "<=": "_<=_", ">=": "_>=_", ">": "_>_", "==": "_==_", "!=": "_!=_", "in": "@in",
}  # fmt: skip
_SUMS_AND_PRODUCTS: Final = {
    "+": ("_+_", 0), "-": ("_-_", 0), "*": ("_*_", 1), "/": ("_/_", 1), "%": ("_%_", 1),
}  # fmt: skip
# An operand of one token, before a token that cannot go on with it: nearly every literal, most names. What ends a whole
# expression ends the operand too.
_WHOLE: Final = frozenset({"int", "uint", "float", "string", "bytes", "true", "false", "null", "ident"})
_ENDS: Final = frozenset({")", "]", "}", ",", ":", "end"})
_FOLLOWS: Final = frozenset({*_ENDS, "?", "&&", "||", *_RELATIONS})


def parse(text: str, macros: expansion.Table) -> Node:
    """Return the tree of `text`.

    Raises: CompileError with the place of the first fault.
    """
    if len(text) > _CODE_POINTS:
        raise CompileError(f"expression code point size exceeds limit: size: {len(text)}, limit {_CODE_POINTS}", 0)
    return _Parser(lexer.tokens(text), macros).whole()


class _Parser:
    """Recursive descent.

    Counts how deep the grammar's rules of expressions, relations, sums and members are nested, as the original's
    parser does. Every selector passes here, so the ways most taken are short: no call where a look at the next token
    decides.
    """

    def __init__(self, tokens: lexer.Tokens, macros: expansion.Table) -> None:
        self._kinds, self._texts, self._offsets = tokens
        self._at = 0
        self._macros = macros
        self._factory = expansion.Factory()
        self._id = self._factory.id
        self._may_hold_messages = "{" in self._kinds
        self._expressions = self._relations = self._sums = self._members = 0

    # --- tokens

    def _kind(self) -> str:
        return self._kinds[self._at]

    def _ahead(self, count: int) -> str:
        """Return the kind of the token `count` after this one."""
        return self._kinds[min(self._at + count, len(self._kinds) - 1)]

    def _take(self) -> int:
        """Return the place of this token among all, and go on to the next."""
        self._at += 1
        return self._at - 1

    def _want(self, kind: str) -> int:
        if self._kinds[self._at] != kind:
            raise self._unexpected(f"expecting '{kind}'")
        self._at += 1
        return self._at - 1

    def _unexpected(self, hint: str) -> CompileError:
        at = self._at
        return CompileError(f"Syntax error: mismatched input '{self._texts[at]}' {hint}", self._offsets[at])

    def _call(self, offset: int, function: str, target: Node | None, args: tuple[Node, ...]) -> Node:
        """Return the call, or what the macro of that name and shape makes of it; as deep as its parts."""
        depth = 0 if target is None else target.depth
        for arg in args:
            depth = max(depth, arg.depth)
        macro = self._macros.get((function, len(args), target is not None))
        if macro is not None:
            expanded = macro(self._factory.at(offset), target, args)
            if expanded is not None:
                expanded.depth = depth
                return expanded
        return tree.Call(self._id(), offset, depth, function, target, args)

    def _operation(self, offset: int, function: str, left: Node, right: Node) -> Node:
        """Return the call of an operator with two sides; one level deeper than these."""
        depth = max(left.depth, right.depth) + 1
        if depth > _LIMIT:
            raise _too_deep()
        return tree.Call(self._id(), offset, depth, function, None, (left, right))

    # --- rules

    def whole(self) -> Node:
        """Return the tree of all tokens."""
        node = self._expr()
        if self._kind() != "end":
            raise self._unexpected("expecting <EOF>")
        return node

    def _expr(self) -> Node:
        kinds = self._kinds
        if kinds[self._at] in _WHOLE and kinds[self._at + 1] in _ENDS and self._expressions < _LIMIT > self._relations:
            return self._alone()
        self._expressions += 1
        if self._expressions > _LIMIT:
            raise _recursion()
        node = self._or()
        if kinds[self._at] == "?":
            offset = self._offsets[self._take()]
            yes = self._or()
            self._want(":")
            no = self._expr()
            depth = max(node.depth, yes.depth, no.depth) + 1
            if depth > _LIMIT:
                raise _too_deep()
            node = tree.Call(self._id(), offset, depth, "_?_:_", None, (node, yes, no))
        self._expressions -= 1
        return node

    def _or(self) -> Node:
        node = self._and()
        return self._logic("||", "_||_", node, self._and) if self._kinds[self._at] == "||" else node

    def _and(self) -> Node:
        node = self._relation()
        return self._logic("&&", "_&&_", node, self._relation) if self._kinds[self._at] == "&&" else node

    def _logic(self, kind: str, function: str, first: Node, operand: Callable[[], Node]) -> Node:
        """Return the terms as a balanced tree of two-sided calls."""
        terms, offsets = [first], []
        while self._kinds[self._at] == kind:
            offsets.append(self._offsets[self._at])
            self._at += 1
            terms.append(operand())
        return self._balanced(function, terms, offsets, 0, len(offsets))

    def _balanced(self, function: str, terms: list[Node], offsets: list[int], low: int, high: int) -> Node:
        """Return the calls of the operators `low` to `high` (not included); half of them on each side of the root."""
        if low == high:
            return terms[low]
        middle = (low + high) // 2
        left = self._balanced(function, terms, offsets, low, middle)
        right = self._balanced(function, terms, offsets, middle + 1, high)
        depth = max(left.depth, right.depth)
        return tree.Call(self._id(), offsets[middle], depth, function, None, (left, right))

    def _relation(self) -> Node:
        self._relations += 1
        if self._relations > _LIMIT:
            raise _recursion()
        node = self._calc(0)
        while self._kinds[self._at] in _RELATIONS:
            at = self._take()
            self._relations += 1  # the right side is a relation of its own
            if self._relations > _LIMIT:
                raise _recursion()
            right = self._calc(0)
            self._relations -= 1
            node = self._operation(self._offsets[at], _RELATIONS[self._kinds[at]], node, right)
        self._relations -= 1
        return node

    def _calc(self, least: int) -> Node:
        """Return a chain of sums and products that bind at least as tightly as `least`."""
        kinds = self._kinds
        if kinds[self._at] in _WHOLE and kinds[self._at + 1] in _FOLLOWS:
            return self._alone()
        self._sums += 1
        if self._sums > _LIMIT:
            raise _recursion()
        node = self._negated() if kinds[self._at] in ("!", "-") else self._member()
        while kinds[self._at] in _SUMS_AND_PRODUCTS:
            function, strength = _SUMS_AND_PRODUCTS[kinds[self._at]]
            if strength < least:
                break
            at = self._take()
            node = self._operation(self._offsets[at], function, node, self._calc(strength + 1))
        self._sums -= 1
        return node

    def _alone(self) -> Node:
        """Return the operand that is this one token."""
        if self._sums >= _LIMIT or self._members >= _LIMIT:
            raise _recursion()
        at = self._at
        self._at = at + 1
        kind, text, offset = self._kinds[at], self._texts[at], self._offsets[at]
        if kind != "ident":
            return tree.Literal(self._id(), offset, 0, lexer.LITERALS[kind](text, "", offset))
        if text in lexer.RESERVED:
            raise CompileError(f"reserved identifier: {text}", offset)
        return tree.Ident(self._id(), offset, 0, text)

    def _negated(self) -> Node:
        """Return what stands behind any number of `!` or `-`; the sign of a number belongs to the number."""
        kind = self._kind()
        if kind == "-" and self._ahead(1) in ("int", "float"):
            return self._member()
        first = self._take()
        count = 1
        while self._kind() == kind:
            self._take()
            count += 1
        node = self._member()
        if count % 2 == 0:
            return node
        return self._call(self._offsets[first], "!_" if kind == "!" else "-_", None, (node,))

    def _member(self) -> Node:
        self._members += 1
        if self._members > _LIMIT:
            raise _recursion()
        node = self._primary()
        while (kind := self._kinds[self._at]) == "." or kind == "[":
            node = self._dotted(node) if kind == "." else self._indexed(node)
            node.depth += 1
            if node.depth > _LIMIT:
                raise _too_deep()
        self._members -= 1
        return node

    def _dotted(self, node: Node) -> Node:
        dot = self._take()
        if self._kinds[self._at] == "?":
            self._take()
            name = self._want_name()
            field = tree.Literal(self._id(), self._offsets[name], 0, self._texts[name])
            return tree.Call(self._id(), self._offsets[dot], node.depth, "_?._", None, (node, field))
        name = self._want_name()
        if self._kinds[self._at] == "(":
            opened = self._take()
            return self._call(self._offsets[opened], self._texts[name], node, self._arguments())
        return tree.Select(self._id(), self._offsets[dot], node.depth, node, self._texts[name])

    def _want_name(self) -> int:
        if self._kinds[self._at] != "ident":
            raise self._unexpected("expecting IDENTIFIER")
        self._at += 1
        return self._at - 1

    def _indexed(self, node: Node) -> Node:
        opened = self._take()
        optional = self._kinds[self._at] == "?"
        if optional:
            self._take()
        index = self._expr()
        self._want("]")
        depth = max(node.depth, index.depth)
        function = "_[?_]" if optional else "_[_]"
        return tree.Call(self._id(), self._offsets[opened], depth, function, None, (node, index))

    def _arguments(self) -> tuple[Node, ...]:
        args: list[Node] = []
        if self._kind() != ")":
            args.append(self._expr())
            while self._kind() == ",":
                self._take()
                args.append(self._expr())
        self._want(")")
        return tuple(args)

    def _primary(self) -> Node:
        kind = self._kinds[self._at]
        if kind == "ident" or (kind == "." and self._ahead(1) == "ident"):
            return self._named()
        if kind == "(":
            self._take()
            node = self._expr()
            self._want(")")
            return node
        if kind == "[":
            return self._list()
        return self._map() if kind == "{" else self._literal()

    def _named(self) -> Node:
        dot = "." if self._kinds[self._at] == "." else ""
        if dot:
            self._take()
        at = self._take()
        text, offset = self._texts[at], self._offsets[at]
        if self._may_hold_messages and self._begins_message():
            return self._message(dot + text, offset)
        if text in lexer.RESERVED:
            raise CompileError(f"reserved identifier: {text}", offset)
        if self._kinds[self._at] == "(":
            opened = self._take()
            return self._call(self._offsets[opened], dot + text, None, self._arguments())
        return tree.Ident(self._id(), offset, 0, dot + text)

    def _begins_message(self) -> bool:
        ahead = 0
        while self._ahead(ahead) == "." and self._ahead(ahead + 1) == "ident":
            ahead += 2
        return self._ahead(ahead) == "{"

    def _message(self, name: str, offset: int) -> Node:
        while self._kind() == ".":
            self._take()
            name += "." + self._texts[self._take()]
        self._take()
        while self._kind() != "}":
            if self._kind() == "?":
                self._take()
            self._want_name()
            self._want(":")
            self._expr()
            if self._kind() != ",":
                break
            self._take()
        self._want("}")
        return tree.Message(self._id(), offset, 0, name)

    def _list(self) -> Node:
        offset = self._offsets[self._take()]
        elements: list[Node] = []
        optional: set[int] = set()
        while self._kind() not in ("]", ","):
            if self._kind() == "?":
                self._take()
                optional.add(len(elements))
            elements.append(self._expr())
            if self._kind() != ",":
                break
            self._take()
            if self._kind() == ",":
                raise self._unexpected("expecting ']'")
        else:
            if not elements and self._kind() == ",":
                self._take()
        self._want("]")
        return tree.ListNode(self._id(), offset, _deepest(elements), tuple(elements), frozenset(optional))

    def _map(self) -> Node:
        offset = self._offsets[self._take()]
        entries: list[tree.Entry] = []
        if self._kind() == "," and self._ahead(1) == "}":
            self._take()
        while self._kind() != "}":
            optional = self._kind() == "?"
            if optional:
                self._take()
            key = self._expr()
            self._want(":")
            entries.append(tree.Entry(key, self._expr(), optional))
            if self._kind() != ",":
                break
            self._take()
        self._want("}")
        node = tree.MapNode(self._id(), offset, 0, tuple(entries))
        node.depth = _deepest(tree.children(node))
        return node

    def _literal(self) -> Node:
        sign = ""
        kind, offset = self._kinds[self._at], self._offsets[self._at]
        if kind == "-" and self._ahead(1) in ("int", "float"):
            self._take()
            sign = "-"
            kind = self._kind()
        reader = lexer.LITERALS.get(kind)
        if reader is None:
            raise self._unexpected("expecting an expression")
        at = self._take()
        return tree.Literal(self._id(), offset, 0, reader(self._texts[at], sign, self._offsets[at]))


def _recursion() -> CompileError:
    return CompileError(f"expression recursion limit exceeded: {_LIMIT}")


def _too_deep() -> CompileError:
    return CompileError("max recursion depth exceeded")


def _deepest(nodes: Iterable[Node]) -> int:
    return max((node.depth for node in nodes), default=0)
