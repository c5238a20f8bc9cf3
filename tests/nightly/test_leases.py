"""A night that knows until when ACLs are needed; the day passes on nights without news too."""

from __future__ import annotations

import json

import pytest

from tests.nightly.both_ways import refuse_spark
from tests.nightly.test_nightly import Nights, add

NEVER = ("--fail-on", "never")
HEAD = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host,until\n"
KINDS = ["grant-ended", "grant-ends-soon", "lease-without-acl"]


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch):
    refuse_spark(monkeypatch)


@pytest.fixture
def nights(tmp_path):
    made = Nights(tmp_path)
    made.lines += [add(0, "User:ann", "pay.in"), add(1, "User:bob", "pay.in")]
    return made


@pytest.fixture
def leases(tmp_path):
    """Write the file of leases; return the options that name it."""

    def write(until, principal="User:bob"):
        path = tmp_path / "leases.toml"
        path.write_text(
            f'[[lease]]\nprincipal = "{principal}"\nuntil = {until}\nowner = "eve"\n',
            encoding="utf-8",
        )
        return ("--leases", str(path), *NEVER)

    return write


def run(nights, *options, code=0):
    result = nights.run(options=options)
    assert result.exit_code == code, result.output
    return result


def found(nights):
    rows = nights.sql("SELECT finding, message FROM finding_current ORDER BY ALL")
    return [(row["finding"], row["message"]) for row in rows if row["finding"] in KINDS]


def ends(nights):
    return nights.sql("SELECT until_time::VARCHAR AS until, owner FROM acl_lease ORDER BY ALL")


def test_an_end_passes_on_a_night_without_news_and_goes_with_its_lease(nights, leases):
    run(nights, *leases("2999-12-31"))
    assert found(nights) == []
    assert ends(nights) == [{"until": "3000-01-01 00:00:00", "owner": "eve"}]
    run(nights, *leases("2026-01-31"))
    ((kind, message),) = found(nights)
    assert kind == "grant-ended"
    assert message == (
        "ALLOW READ on topic pay.in for User:bob from any host was needed until 2026-01-31. "
        "Its owner is eve."
    )
    assert ends(nights) == [{"until": "2026-02-01 00:00:00", "owner": "eve"}]
    assert json.loads(nights.call("show", "User:bob", "-o", "json").stdout)["acls"][0][
        "until"
    ].startswith("2026-02-01T00:00:00")
    assert ", needed until 2026-01-31" in nights.call("show", "User:bob").stdout
    run(nights, *NEVER)
    assert found(nights) == []
    assert ends(nights) == []


def test_a_grant_that_should_have_ended_fails_the_run(nights, leases):
    run(nights, *leases("2026-01-31")[:2], code=1)


def test_a_quiet_night_writes_no_ends_again(nights, leases):
    run(nights, *leases("2999-12-31"))
    before = nights.folder / "warehouse" / "acl_lease" / "_delta_log"
    versions = sorted(path.name for path in before.glob("*.json"))
    run(nights, *leases("2999-12-31"))
    assert sorted(path.name for path in before.glob("*.json")) == versions


def test_a_run_without_ends_makes_no_table_of_them(nights):
    run(nights, *NEVER)
    assert not (nights.folder / "warehouse" / "acl_lease").exists()


def test_the_end_of_a_file_of_desired_state_is_that_of_the_acl_in_force(nights, tmp_path):
    files = tmp_path / "acls.csv"
    files.write_text(
        f"{HEAD}User:ann,Topic,LITERAL,pay.in,Read,Allow,*,2026-01-31\n"
        "User:bob,Topic,LITERAL,pay.in,Read,Allow,*,\n"
    )
    run(nights, "--desired", str(files), "--scope", "all", *NEVER)
    ((kind, message),) = found(nights)
    assert kind == "grant-ended"
    assert "User:ann" in message


def test_a_lease_with_a_mistake_in_its_name_is_told(nights, leases):
    run(nights, *leases("2999-12-31", "User:bbo"))
    ((kind, message),) = found(nights)
    assert kind == "lease-without-acl"
    assert message == "No ALLOW in force fits the lease until 2999-12-31: principal User:bbo."


def test_a_file_of_leases_that_is_wrong_ends_the_command_before_it_reads_the_log(nights, leases):
    told = run(nights, *leases("2026-01-31T18:00:00"), code=2)
    assert "until: expected a day such as 2026-12-31" in told.output
    assert not (nights.folder / "warehouse").exists()


def test_a_mistake_in_a_file_leaves_the_ends_that_were_read_before(nights, tmp_path):
    files = tmp_path / "acls.csv"
    ann = "User:ann,Topic,LITERAL,pay.in,Read,Allow,*,2026-01-31\n"
    bob = "User:bob,Topic,LITERAL,pay.in,Read,Allow,*,"
    options = ("--desired", str(files), "--scope", "all", *NEVER)
    files.write_text(f"{HEAD}{ann}{bob}2999-12-31\n", encoding="utf-8")
    run(nights, *options)
    before = ends(nights)
    files.write_text(f"{HEAD}{ann}{bob}soon\n", encoding="utf-8")
    run(nights, *options)
    assert [kind for kind, _ in found(nights)] == ["grant-ended"]
    assert ends(nights) == before
