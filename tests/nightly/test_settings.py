"""A night under settings that nobody knows, and under those of files that people have."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tests.cli.running import DATA, Warehouse

FIELD = DATA / "field"
UNKNOWN = "SELECT severity, subject FROM finding_current WHERE finding = 'super-users-unknown'"


@pytest.fixture
def night(_session, tmp_path, monkeypatch):
    """Do a night on one of the inputs, and ask afterwards."""
    for name in ("ACLKIT_NO_SUPER_USERS", "ACLKIT_ALLOW_EVERYONE"):
        monkeypatch.delenv(name)
    warehouse = Warehouse(tmp_path / "w")

    def run(folder, *options, file=None, code=0):
        config = () if file is None else ("--server-properties", FIELD / folder / file)
        source = f"acls-list:{FIELD / folder / 'acls.txt'}"
        return warehouse.run("run", "--source", source, *config, *options, code=code)

    def why(principal, resource="topic:ledger"):
        words = ("why", principal, "READ", resource, "--format", "json")
        return json.loads(warehouse.run(*words).stdout)

    return SimpleNamespace(run=run, why=why, warehouse=warehouse)


def notes_of(warehouse):
    return warehouse.published().runs[-1].notes


def test_unknown_super_users_are_a_finding_until_they_are_known(night):
    night.run("05-super-comma", code=1)
    (found,) = night.warehouse.sql(UNKNOWN)
    assert found == {"severity": "high", "subject": "super.users"}
    run = night.warehouse.published().runs[-1]
    assert run.status == "complete"
    assert any("allow.everyone.if.no.acl.found is unknown" in note for note in run.notes)
    assert night.warehouse.sql("SELECT super_users, allow_everyone FROM setting") == [
        {"super_users": "", "allow_everyone": ""}
    ]
    assert "Super users are unknown" in night.why("User:admin")["notes"][-1]
    # A quiet night has it too, and it can be accepted.
    result = night.run("05-super-comma", code=1)
    assert "Nothing new since the previous run" in result.stdout
    assert night.warehouse.sql(UNKNOWN) == [found]
    mutes = night.warehouse.path.parent / "mutes.toml"
    mutes.write_text(
        '[[mute]]\nfinding = "super-users-unknown"\nowner = "me"\nreason = "hidden"\n'
        "until = 2999-01-01\n"
    )
    night.run("05-super-comma", "--mutes", mutes)
    # Nothing is decided otherwise once it is known that there are none; the finding goes.
    result = night.run("05-super-comma", "--no-super-users", "--no-allow-everyone")
    assert night.warehouse.sql(UNKNOWN) == []
    assert not any("unknown" in note for note in night.why("User:admin")["notes"])
    assert night.warehouse.sql("SELECT count(*) AS n FROM access_change") == [{"n": "0"}]
    past = night.warehouse.sql(
        "SELECT super_users, allow_everyone FROM setting ORDER BY since_time"
    )
    assert past[-1] == {"super_users": "[]", "allow_everyone": "false"}


def test_materialize_has_the_finding_too(night):
    night.warehouse.replay(f"acls-list:{FIELD / '05-super-comma' / 'acls.txt'}")
    result = night.warehouse.run("materialize")
    assert "finding (high) super-users-unknown" in result.stderr
    result = night.warehouse.run("materialize", "--super-users", "")
    assert "super-users-unknown" not in result.stderr


def test_super_users_with_a_comma_are_one_and_a_person_is_told(night):
    result = night.run("05-super-comma", file="server.properties")
    assert "'User:admin,User:deployer' is one super user" in result.stdout
    for principal in ("User:admin", "User:deployer"):
        answer = night.why(principal)
        assert answer["decision"] == "DENIED"
        assert any("'User:admin,User:deployer'" in note for note in answer["notes"])
    assert night.why("User:admin,User:deployer")["rule"] == "SuperUser"


def test_super_users_that_are_nearly_a_subject_are_denied_and_seen(night):
    result = night.run("06-super-subject", file="server.properties")
    assert "has blanks in its name" in result.stdout
    for principal, user in (
        ("User:CN=platform-ops,OU=core,O=Example,C=DE", "'User:CN=platform-ops'"),
        ("User:CN=broker,O=Example,C=DE", "'User:CN=broker, O=Example, C=DE'"),
    ):
        answer = night.why(principal)
        assert answer["decision"] == "DENIED"
        assert any(user in note for note in answer["notes"])


def test_a_compose_file_says_who_is_a_super_user_and_what_the_default_is(night):
    # Exit code 1: User:ANONYMOUS is a super user.
    night.run("08-no-authorizer", file="docker-compose.yml", code=1)
    assert night.why("User:ANONYMOUS")["rule"] == "SuperUser"
    assert night.why("User:admin")["rule"] == "SuperUser"
    assert night.why("User:else", "topic:free")["rule"] == "DefaultAllow"
    assert night.why("User:else")["decision"] == "DENIED"
    assert night.warehouse.sql(UNKNOWN) == []


RULE = r"ssl.principal.mapping.rules=RULE:.*CN[\s]?=[\s]?([a-zA-Z0-9.]*)?.*/$1/"
BUILDER = ("--principal-builder", "aclkit.api:X500Builder")
SUBJECTS = ("--principals", FIELD / "10-mapping-rule" / "subjects.csv", *BUILDER)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), {"User:r", "User:kafka", "User:ales"}),
        (("--principal-builder-properties", RULE), {"User:sr", "User:kafka", "User:sales"}),
    ],
)
def test_mapping_rules_of_a_file_have_javas_escapes_and_typed_ones_have_none(night, options, names):
    night.run("10-mapping-rule", *SUBJECTS, *options, file="server.properties")
    found = night.warehouse.sql("SELECT principal FROM principal WHERE NOT is_any_other")
    assert {row["principal"] for row in found} == names
