"""The help of `modelplane serve` is written apart from the server, which is slow to load; it has its options."""

from __future__ import annotations

import argparse

import click

from modelplane_cli.parsers import serve
from modelplane_functions.__main__ import command

SERVER = {one.name: one for one in command.params if isinstance(one, click.Option)}


def _described() -> dict[str, argparse.Action]:
    """Return each described option by the name that the server has for it."""
    actions = [one for one in serve.parser()._actions if one.dest != "help"]
    by_flags = {frozenset(one.opts): name for name, one in SERVER.items()}
    return {by_flags[frozenset(one.option_strings)]: one for one in actions}


def test_it_has_each_option_of_the_server_and_no_other() -> None:
    assert set(_described()) == set(SERVER)


def test_it_has_the_defaults_of_the_server() -> None:
    """A default that is counted (the workers) or stands for none is told in words."""
    told = {name: one.default for name, one in _described().items() if one.default not in (None, False)}
    assert told == {name: SERVER[name].default for name in ("address", "max_recv_message_size")}


def test_it_names_the_environment_variables_of_the_server() -> None:
    for name, action in _described().items():
        variables = SERVER[name].envvar
        named = ", ".join([variables] if isinstance(variables, str) else variables or ())
        assert str(action.help).endswith(f"[{named}]"), name


def test_flags_take_a_value_where_the_server_wants_one() -> None:
    assert {name for name, one in _described().items() if one.nargs == 0} == {
        name for name, one in SERVER.items() if one.is_flag
    }
