"""A CEL expression as a tree, macros expanded.

Source: the grammar of cel-go v0.26.0 with the options Kubernetes sets: optional syntax on, quoted identifiers
off, 250 levels of recursion per grammar rule and over all of them. Known divergence: message literals parse and
are refused by the checker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from modelplane.cel import expansion, lexer, tree
from modelplane.cel.errors import CompileError
from modelplane.cel.lexer import Token
from modelplane.cel.runtime import Uint
from modelplane.cel.tree import Node

_LIMIT: Final = 250
# operator: the function it stands for, and how tightly it binds within its rule
_RELATIONS: Final = {
    "<": ("_<_", 0), "<=": ("_<=_", 0), ">=": ("_>=_", 0), ">": ("_>_", 0), "==": ("_==_", 0), "!=": ("_!=_", 0),
    "in": ("@in", 0),
}  # fmt: skip
_SUMS_AND_PRODUCTS: Final = {
    "+": ("_+_", 0), "-": ("_-_", 0), "*": ("_*_", 1), "/": ("_/_", 1), "%": ("_%_", 1),
}  # fmt: skip
_CODE_POINTS: Final = 100_000
# An operand of one token, before a token that cannot go on with it: nearly every literal, most names.
_WHOLE: Final = frozenset({"int", "uint", "float", "string", "bytes", "true", "false", "null", "ident"})
_FOLLOWS: Final = frozenset({")", "]", "}", ",", ":", "?", "end", "&&", "||", *_RELATIONS})


def parse(text: str, macros: expansion.Table) -> Node:
    """Return the tree of `text`.

    Raises: CompileError with the place of the first fault.
    """
    if len(text) > _CODE_POINTS:
        raise CompileError(f"expression code point size exceeds limit: size: {len(text)}, limit {_CODE_POINTS}", 0)
    return _Parser(lexer.tokens(text), macros).whole()


class _Parser:
    """Recursive descent; `depth` counts how deep each grammar rule is nested, as the original's parser does."""

    def __init__(self, tokens: list[Token], macros: expansion.Table) -> None:
        self._tokens = tokens
        self._kinds = [token[0] for token in tokens]
        self._at = 0
        self._macros = macros
        self._factory = expansion.Factory()
        self._depths = {"expr": 0, "relation": 0, "calc": 0, "member": 0}

    # --- tokens

    def _kind(self) -> str:
        return self._kinds[self._at]

    def _ahead(self, count: int) -> str:
        """Return the kind of the token `count` after this one."""
        return self._kinds[min(self._at + count, len(self._kinds) - 1)]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _want(self, kind: str) -> Token:
        if self._kind() != kind:
            raise self._unexpected(f"expecting '{kind}'")
        return self._take()

    def _unexpected(self, hint: str) -> CompileError:
        token = self._tokens[self._at]
        return CompileError(f"Syntax error: mismatched input '{token.text}' {hint}", token.offset)

    def _deeper(self, rule: str) -> None:
        self._depths[rule] += 1
        if self._depths[rule] > _LIMIT:
            raise CompileError(f"expression recursion limit exceeded: {_LIMIT}")

    def _call(self, offset: int, function: str, target: Node | None, args: tuple[Node, ...]) -> Node:
        """Return the call, or what the macro of that name and shape makes of it; one level deeper than its parts."""
        macro = self._macros.get((function, len(args), target is not None))
        if macro is not None:
            expanded = macro(self._factory.at(offset), target, args)
            if expanded is not None:
                return self._nested(expanded, *args, *((target,) if target is not None else ()))
        depth = 0 if target is None else target.depth
        for arg in args:
            depth = max(depth, arg.depth)
        return tree.Call(self._factory.id(), offset, depth, function, target, args)

    @staticmethod
    def _nested(node: Node, *parts: Node, level: int = 0) -> Node:
        node.depth = max((part.depth for part in parts), default=0) + level
        return node

    @staticmethod
    def _level(node: Node) -> Node:
        node.depth += 1
        if node.depth > _LIMIT:
            raise CompileError("max recursion depth exceeded")
        return node

    # --- rules

    def whole(self) -> Node:
        """Return the tree of all tokens."""
        node = self._expr()
        if self._kind() != "end":
            raise self._unexpected("expecting <EOF>")
        return node

    def _expr(self) -> Node:
        self._deeper("expr")
        node = self._logic("||", "_||_", self._and)
        if self._kinds[self._at] == "?":
            offset = self._take().offset
            yes = self._logic("||", "_||_", self._and)
            self._want(":")
            no = self._expr()
            node = self._level(self._call(offset, "_?_:_", None, (node, yes, no)))
        self._depths["expr"] -= 1
        return node

    def _and(self) -> Node:
        return self._logic("&&", "_&&_", self._relation)

    def _logic(self, text: str, function: str, operand: Callable[[], Node]) -> Node:
        """Return the terms as a balanced tree of two-sided calls."""
        first = operand()
        if self._kinds[self._at] != text:
            return first
        terms, offsets = [first], []
        while self._kinds[self._at] == text:
            offsets.append(self._tokens[self._at].offset)
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
        node = tree.Call(self._factory.id(), offsets[middle], 0, function, None, (left, right))
        return self._nested(node, left, right)

    def _relation(self) -> Node:
        return self._chain("relation", _RELATIONS, self._calc)

    def _calc(self) -> Node:
        if self._kinds[self._at] in _WHOLE and self._kinds[self._at + 1] in _FOLLOWS:
            return self._alone()
        return self._chain("calc", _SUMS_AND_PRODUCTS, self._unary)

    def _alone(self) -> Node:
        """Return the operand that is this one token."""
        if self._depths["calc"] >= _LIMIT or self._depths["member"] >= _LIMIT:
            raise CompileError(f"expression recursion limit exceeded: {_LIMIT}")
        token = self._tokens[self._at]
        self._at += 1
        kind, text, offset = token
        if kind != "ident":
            return tree.Literal(self._factory.id(), offset, 0, _LITERALS[kind](token, ""))
        if text in lexer.RESERVED:
            raise CompileError(f"reserved identifier: {text}", offset)
        return tree.Ident(self._factory.id(), offset, 0, text)

    def _chain(
        self, rule: str, operators: Mapping[str, tuple[str, int]], operand: Callable[[], Node], least: int = 0
    ) -> Node:
        """Return a chain of left-associative operators that bind at least as tightly as `least`."""
        self._deeper(rule)
        node = operand()
        while True:
            found = operators.get(self._kinds[self._at])
            if found is None or found[1] < least:
                break
            function, strength = found
            offset = self._take().offset
            right = self._chain(rule, operators, operand, strength + 1)
            node = self._level(self._call(offset, function, None, (node, right)))
        self._depths[rule] -= 1
        return node

    def _unary(self) -> Node:
        kind = self._kinds[self._at]
        if kind == "!" or (kind == "-" and self._ahead(1) not in ("int", "float")):
            first = self._take()
            count = 1
            while self._kind() == kind:
                self._take()
                count += 1
            node = self._member()
            if count % 2 == 0:
                return node
            return self._call(first.offset, "!_" if kind == "!" else "-_", None, (node,))
        return self._member()

    def _member(self) -> Node:
        self._deeper("member")
        node = self._primary()
        while (kind := self._kinds[self._at]) == "." or kind == "[":
            node = self._level(self._dotted(node) if kind == "." else self._indexed(node))
        self._depths["member"] -= 1
        return node

    def _dotted(self, node: Node) -> Node:
        offset = self._take().offset
        optional = self._kinds[self._at] == "?"
        if optional:
            self._take()
        name = self._want_name()
        if not optional and self._kind() == "(":
            opened = self._take().offset
            return self._call(opened, name.text, node, self._arguments())
        if optional:
            field = tree.Literal(self._factory.id(), name.offset, 0, name.text)
            call = tree.Call(self._factory.id(), offset, 0, "_?._", None, (node, field))
            return self._nested(call, node)
        return tree.Select(self._factory.id(), offset, node.depth, node, name.text)

    def _want_name(self) -> Token:
        if self._kind() != "ident":
            raise self._unexpected("expecting IDENTIFIER")
        return self._take()

    def _indexed(self, node: Node) -> Node:
        offset = self._take().offset
        optional = self._kind() == "?"
        if optional:
            self._take()
        index = self._expr()
        self._want("]")
        return self._call(offset, "_[?_]" if optional else "_[_]", None, (node, index))

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
        if kind in _LITERALS:
            return self._literal()
        if kind == "ident" or (kind == "." and self._ahead(1) == "ident"):
            return self._named()
        if kind == "(":
            self._take()
            node = self._expr()
            self._want(")")
            return node
        if kind == "[":
            return self._list()
        if kind == "{":
            return self._map()
        return self._literal()

    def _named(self) -> Node:
        dot = "." if self._kind() == "." else ""
        if dot:
            self._take()
        token = self._take()
        if self._begins_message():
            return self._message(dot + token.text, token)
        if token.text in lexer.RESERVED:
            raise CompileError(f"reserved identifier: {token.text}", token.offset)
        if self._kind() == "(":
            offset = self._take().offset
            return self._call(offset, dot + token.text, None, self._arguments())
        return tree.Ident(self._factory.id(), token.offset, 0, dot + token.text)

    def _begins_message(self) -> bool:
        ahead = 0
        if self._kinds[self._at] not in (".", "{"):
            return False
        while self._ahead(ahead) == "." and self._ahead(ahead + 1) == "ident":
            ahead += 2
        return self._ahead(ahead) == "{"

    def _message(self, name: str, token: Token) -> Node:
        while self._kind() == ".":
            self._take()
            name += "." + self._take().text
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
        return tree.Message(self._factory.id(), token.offset, 0, name)

    def _list(self) -> Node:
        offset = self._take().offset
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
        node = tree.ListNode(self._factory.id(), offset, 0, tuple(elements), frozenset(optional))
        return self._nested(node, *elements)

    def _map(self) -> Node:
        offset = self._take().offset
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
        node = tree.MapNode(self._factory.id(), offset, 0, tuple(entries))
        return self._nested(node, *tree.children(node))

    def _literal(self) -> Node:
        sign = ""
        kind, _, offset = self._tokens[self._at]
        if kind == "-" and self._ahead(1) in ("int", "float"):
            self._take()
            sign = "-"
            kind = self._kind()
        reader = _LITERALS.get(kind)
        if reader is None:
            raise self._unexpected("expecting an expression")
        return tree.Literal(self._factory.id(), offset, 0, reader(self._take(), sign))


def _int(token: Token, sign: str) -> int:
    value = int(sign + token.text, 16 if token.text.startswith("0x") else 10)
    if not -(1 << 63) <= value < 1 << 63:
        raise CompileError("invalid int literal", token.offset)
    return value


def _uint(token: Token, _sign: str) -> Uint:
    text = token.text[:-1]
    value = int(text, 16 if text.startswith("0x") else 10)
    if value >= 1 << 64:
        raise CompileError("invalid uint literal", token.offset)
    return Uint(value)


def _float(token: Token, sign: str) -> float:
    value = float(sign + token.text)
    if value in (float("inf"), float("-inf")):
        raise CompileError("invalid double literal", token.offset)
    return value


_LITERALS: Final[Mapping[str, Callable[[Token, str], Any]]] = {
    "int": _int,
    "uint": _uint,
    "float": _float,
    "string": lambda token, _: lexer.text_of(token),
    "bytes": lambda token, _: lexer.bytes_of(token),
    "true": lambda _token, _: True,
    "false": lambda _token, _: False,
    "null": lambda _token, _: None,
}
