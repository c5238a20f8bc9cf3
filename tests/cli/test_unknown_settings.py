"""Where nobody knows the brokers' settings, each answer that may be wrong for it says so."""

from __future__ import annotations

import json

import pytest

from aclkit.kafka.acls.text import render_list
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.semantics import BrokerSettings
from tests.cli.running import run
from tests.questions.query import small_warehouse as small

USERS = "Super users are unknown."
EVERYONE = "allow.everyone.if.no.acl.found is unknown."
BOTH = frozenset({SUPER_USERS, ALLOW_EVERYONE})
ACLS = [acl for acl in small.ACLS if acl.resource_name != "*"]
DENIED = ("why", "User:new", "READ", "topic:payments")
NEW_ACL = ("add-acl", "--allow-principal", "User:carol", "--operation", "Read", "--topic", "orders")


FINE = '[[never]]\nname="fine"\nprincipals="User:carol"\noperations="ALTER"\nresources="cluster"\n'
SHOWN = (
    "settings super.users unknown, taken as none; "
    "allow.everyone.if.no.acl.found unknown, taken as false;"
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Ask a warehouse whose runs knew some of the settings."""

    def ask(*words, unknown=BOTH, users=frozenset(), acls=ACLS):
        place = tmp_path_factory.mktemp("unknown") / "w"
        small.build(place, acls, BrokerSettings(super_users=users, unknown=unknown))
        return run("--warehouse", place, *words)

    return ask


@pytest.mark.parametrize("more", [(), ("--format", "json"), ("--format", "csv")])
def test_a_denial_says_that_super_users_are_unknown_in_every_format(asked, more):
    result = asked(*DENIED, *more)
    said = f"{USERS} If User:new is one, this is allowed. Pass --super-users or --no-super-users"
    stream = result.stderr if "csv" in more else result.stdout
    assert said in " ".join(stream.split())
    assert EVERYONE not in result.output
    assert USERS not in asked(*DENIED, *more, unknown=frozenset()).output


def test_a_denial_where_no_acl_applies_says_that_the_default_is_unknown(asked):
    question = ("why", "User:new", "READ", "topic:far", "--format", "json")
    answer = json.loads(asked(*question, unknown=frozenset({ALLOW_EVERYONE})).stdout)
    assert answer["sentence"].endswith("from any host: no ACL applies to the resource.")
    notes = answer["notes"]
    assert any(note.startswith(f"{EVERYONE} If it is true, this is allowed.") for note in notes)
    assert not any(note.startswith(USERS) for note in notes)


def test_what_is_allowed_is_allowed_whatever_is_unknown(asked):
    result = asked("why", "User:alice", "READ", "topic:payments")
    assert result.stdout.startswith("User:alice can READ topic:payments from any host: ")
    assert "unknown" not in result.output


def test_history_says_so_of_a_denial(asked):
    known = asked("history", "User:new", "READ", "topic:payments")
    assert USERS in known.stdout
    assert EVERYONE not in known.output


def test_history_says_that_the_default_is_unknown_where_no_acl_applies_now(asked):
    assert EVERYONE in asked("history", "User:new", "READ", "topic:far").stdout


@pytest.mark.parametrize("words", [("who-can", "READ", "topic:payments"), ("what-can", "User:bob")])
def test_a_list_says_what_it_lacks_and_what_is_wrong_in_it(asked, words):
    lacks = "They can do this, too" if words[0] == "who-can" else "User:bob may be one"
    assert f"{USERS} {lacks}." in " ".join(asked(*words).stdout.split())
    denied = asked(*words, "--denied")
    assert "They are allowed what is denied here." in " ".join(denied.stdout.split())
    assert USERS in asked(*words, "--format", "csv").stderr
    rows = json.loads(asked(*words, "--all", "--format", "json").stdout)
    assert {tuple(row["unknown_settings"]) for row in rows} == {tuple(sorted(BOTH))}
    known = asked(*words, "--all", unknown=frozenset())
    assert "unknown" not in known.output


def test_a_list_is_complete_for_who_is_known_to_be_a_super_user(asked):
    result = asked("what-can", small.SUPER_USER, users=frozenset({small.SUPER_USER}))
    assert "unknown" not in result.output


def test_nobody_can_says_that_the_default_is_unknown(asked):
    question = ("who-can", "READ", "topic:far")
    result = asked(*question, unknown=frozenset({ALLOW_EVERYONE}))
    assert EVERYONE in result.stdout
    result = asked(*question, "--format", "json", unknown=frozenset({ALLOW_EVERYONE}))
    assert json.loads(result.stdout) == []
    assert EVERYONE in result.stderr


@pytest.mark.parametrize("form", ["table", "json", "markdown", "csv"])
@pytest.mark.parametrize("words", [NEW_ACL, ("add-topic", "far")])
def test_a_preview_says_so_in_every_format(asked, words, form):
    result = asked("preview", *words, "--format", form)
    stream = " ".join((result.stderr if form == "csv" else result.stdout).split())
    assert "Super users are unknown" in stream
    assert "unknown" not in asked("preview", *words, unknown=frozenset()).output


def test_a_list_by_prefix_says_so_in_every_format(asked):
    words = ("who-can", "READ", "topic", "--prefix", "ord")
    shown = " ".join(asked(*words).stdout.split())
    assert f"{USERS} They can do this, too." in shown
    assert EVERYONE in shown
    denied = " ".join(asked(*words, "--denied").stdout.split())
    assert "They are allowed what is denied here." in denied
    assert USERS in asked(*words, "--format", "csv").stderr
    result = asked(*words, "--all", "--format", "json")
    assert {tuple(row["unknown_settings"]) for row in json.loads(result.stdout)} == {
        tuple(sorted(BOTH))
    }
    assert USERS in result.stderr
    assert "unknown" not in asked(*words, "--all", unknown=frozenset()).output


def test_a_list_by_prefix_says_nothing_of_the_default_where_an_acl_reaches_every_name(asked):
    words = ("who-can", "READ", "topic", "--prefix", "pay-", "--denied")
    for name, is_said in (("pay-x", True), ("pay", False)):
        kind = "LITERAL" if is_said else "PREFIXED"
        result = asked(*words, acls=[small.acl(1, resource_name=name, pattern_type=kind)])
        assert (EVERYONE in result.output) == is_said


def test_a_list_by_prefix_in_which_nobody_is_says_so(asked):
    words = ("who-can", "READ", "topic", "--prefix", "far")
    assert f"{USERS} They can do this, too." in " ".join(asked(*words).stdout.split())
    result = asked(*words, "--format", "json")
    assert json.loads(result.stdout) == []
    assert EVERYONE in result.stderr


@pytest.mark.parametrize("form", ["table", "json", "markdown", "sarif", "csv"])
def test_a_proof_says_so_in_every_format(asked, tmp_path, form):
    (tmp_path / "p.toml").write_text(FINE, encoding="utf-8")
    words = ("prove", "never", tmp_path / "p.toml", "--format", form)
    result = asked(*words)
    stream = " ".join((result.stderr if form == "csv" else result.stdout).split())
    assert EVERYONE in stream
    assert USERS in stream
    assert SHOWN.partition(" ")[2] in stream or form == "json"
    known = asked(*words, unknown=frozenset())
    assert "unknown, taken" not in known.output
    assert "unknown." not in (known.stderr if form == "csv" else known.stdout).replace(
        "0 unknown.", ""
    )


def test_a_proof_has_the_unknown_settings_of_each_side(asked, tmp_path):
    (tmp_path / "p.toml").write_text(FINE, encoding="utf-8")
    found = json.loads(asked("prove", "never", tmp_path / "p.toml", "--format", "json").stdout)
    assert found["settings"]["a"]["unknown"] == sorted(BOTH)


def test_a_proof_takes_from_the_options_what_nobody_knew(asked, tmp_path):
    (tmp_path / "p.toml").write_text(FINE, encoding="utf-8")
    words = ("prove", "never", tmp_path / "p.toml", "--no-super-users", "--no-allow-everyone")
    result = asked(*words)
    assert "unknown, taken" not in " ".join(result.stdout.split())
    assert USERS not in result.output
    assert EVERYONE in asked(*words[:4]).stdout


def test_two_listings_are_proven_with_a_word_on_the_settings_that_nobody_gave(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("\n".join(render_list(ACLS[:2])), encoding="utf-8")
    words = ("prove", "same", tmp_path / "a", tmp_path / "b")
    result = run(*words)
    assert SHOWN in " ".join(result.stdout.split())
    assert USERS in result.stdout
    assert EVERYONE in result.stdout
    known = run(*words, "--super-users", "User:admin", "--no-allow-everyone")
    assert "settings super.users User:admin; allow.everyone.if.no.acl.found false;" in " ".join(
        known.stdout.split()
    )
    assert "unknown." not in known.output


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_assertions_that_pass_say_so(asked, tmp_path, form):
    (tmp_path / "p.toml").write_text(FINE, encoding="utf-8")
    words = ("assert", tmp_path / "p.toml", "--format", form)
    result = asked(*words)
    stream = result.stdout if form == "table" else result.stderr
    assert USERS in stream
    assert EVERYONE in stream
    if form == "json":
        (row,) = json.loads(result.stdout)
        assert row["unknown_settings"] == sorted(BOTH)
    assert "unknown." not in asked(*words, unknown=frozenset()).output


@pytest.mark.parametrize(
    ("principal", "user"),
    [
        ("User:new", "User:new,User:deployer"),
        ("User:CN=ops,OU=core,O=x", "User:CN=ops"),
        ("User:CN=b,O=x,C=DE", "User:CN=b, O=x, C=DE"),
    ],
)
def test_a_denial_names_the_super_user_that_the_principal_is_not(asked, principal, user):
    question = ("why", principal, "READ", "topic:payments")
    result = asked(*question, unknown=frozenset(), users=frozenset({user}))
    assert result.stdout.startswith(f"{principal} cannot READ topic:payments from any host: ")
    said = f"super.users has {user!r}, which is another principal: Kafka compares whole names."
    assert said in " ".join(result.stdout.split())
