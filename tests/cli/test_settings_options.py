"""The options that say how ACLs are read."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest
from click.testing import CliRunner

from aclkit.cli.settings_options import (
    follows_brokers,
    given_settings,
    own_semantics,
    reading_of,
    settings_options,
)
from aclkit.model.semantics import KAFKA, KIP_1042


def read(*arguments):
    """Return what the options come to for a cluster that never had a GLOB, what was given on its
    own, and what follows brokers.
    """
    found = []

    @click.command()
    @settings_options
    def command(**chosen):
        taken = reading_of(chosen).taken(has_glob=False)
        found.append((taken, own_semantics(chosen), follows_brokers(chosen)))

    outcome = CliRunner().invoke(command, arguments)
    assert outcome.exit_code == 0, outcome.output
    return found[0]


def test_a_preset_is_as_it_was_where_nothing_is_said_of_ranges():
    assert read("--semantics", "kip-1042") == (KIP_1042, {}, True)
    assert read("--semantics", "kafka") == (KAFKA, {}, True)


def test_by_itself_acls_are_read_as_brokers_do():
    assert read() == read("--semantics", "auto") == (KAFKA, {}, True)


@pytest.mark.parametrize(("said", "decides"), [("on", True), ("off", False)])
def test_that_ranges_decide_can_be_said(said, decides):
    found = read("--semantics", "kafka", "--cidr-hosts", said)
    assert found == (replace(KAFKA, cidr_hosts=decides), {"cidr_hosts": decides}, False)


def test_auto_gives_nothing_but_follows_the_brokers():
    assert read("--semantics", "kafka", "--cidr-hosts", "auto") == (KAFKA, {}, True)


def given(*arguments, said=None, code=0):
    """Return what the options come to, beside what a settings file says; or what went wrong."""
    found = []

    @click.command(context_settings={"default_map": said})
    @settings_options
    def command(**chosen):
        found.append(given_settings(chosen))

    outcome = CliRunner().invoke(command, arguments)
    assert (outcome.exit_code == 0) == (code == 0), outcome.output
    return found[0] if found else outcome.exception


USERS = {"super_users": "User:a"}
NONE = {"no_super_users": True}


@pytest.mark.parametrize(
    ("arguments", "said", "users"),
    [
        ((), None, None),
        (("--super-users", ""), None, set()),
        (("--no-super-users",), None, set()),
        ((), NONE, set()),
        ((), {"super_users": ""}, set()),
        (("--super-users", "User:b"), None, {"User:b"}),
        (("--no-super-users",), USERS, set()),
        (("--super-users", "User:b"), NONE, {"User:b"}),
        (("--no-super-users", "--super-users", ""), None, set()),
    ],
)
def test_no_super_users_is_told_from_nothing_said_and_the_command_line_wins(arguments, said, users):
    assert given(*arguments, said=said).super_users == users


def test_super_users_and_none_in_one_place_are_refused():
    error = given("--super-users", "User:b", "--no-super-users", code=2)
    assert "not both" in str(error)
    assert "not both" in str(given(said=USERS | NONE, code=2))


def test_options_win_over_a_brokers_file(tmp_path):
    (tmp_path / "f").write_text(
        "super.users=User:a\nssl.principal.mapping.rules=DEFAULT\n", encoding="utf-8"
    )
    file = ("--server-properties", str(tmp_path / "f"))
    assert "allows everything" in str(given(*file, "--super-users", "User:b", code=3))
    found = given(*file, "--super-users", "User:b", "--no-allow-everyone")
    assert (found.super_users, found.allow_everyone) == ({"User:b"}, False)
    assert found.mapping_rules == "DEFAULT"
