"""audit accept: a finding in force is accepted until a day, in a file that people edit too."""

from __future__ import annotations

from datetime import date

import pytest

from aclkit.audit.findings.baseline import parse_mutes
from tests.cli.test_audit import FOUND, publish

NAMED = ("--owner", "ops", "--reason", 'a "legacy" client')
FAR = ("--until", "9999-12-31")


@pytest.fixture
def accept(tmp_path):
    warehouse = publish(tmp_path / "w", FOUND)

    def run(*words, code=0):
        arguments = ["audit", "accept", *words, *NAMED, "--mutes", tmp_path / "mutes.toml"]
        return warehouse.run(*arguments, code=code)

    return run


@pytest.fixture
def file(tmp_path):
    return tmp_path / "mutes.toml"


def test_an_accepted_finding_is_read_back_as_it_was_accepted(accept, file):
    accept(FOUND[1].fingerprint, *FAR)
    (mute,) = parse_mutes(file.read_text(encoding="utf-8"), str(file))
    assert (mute.fingerprint, mute.until) == (FOUND[1].fingerprint, date(9999, 12, 31))
    assert (mute.owner, mute.reason) == ("ops", 'a "legacy" client')


def test_comments_and_other_entries_stay(accept, file):
    accept(FOUND[1].fingerprint, *FAR)
    before = "# Ask Ann.\n" + file.read_text(encoding="utf-8")
    file.write_text(before, encoding="utf-8")
    accept(FOUND[0].fingerprint, *FAR)
    text = file.read_text(encoding="utf-8")
    assert text.startswith(before)
    assert [mute.fingerprint for mute in parse_mutes(text, str(file))] == [
        FOUND[1].fingerprint, FOUND[0].fingerprint,
    ]  # fmt: skip


def test_a_fingerprint_of_no_finding_in_force_is_refused(accept, file):
    result = accept("nothing", *FAR, code=2)
    assert "No finding in force has the fingerprint 'nothing'." in result.stderr
    assert not file.exists()


def test_a_day_that_is_past_is_refused(accept, file):
    result = accept(FOUND[1].fingerprint, "--until", "2020-01-01", code=2)
    assert "--until 2020-01-01 is in the past." in result.stderr
    assert not file.exists()


def test_a_finding_is_accepted_once(accept, file):
    accept(FOUND[1].fingerprint, *FAR)
    before = file.read_text(encoding="utf-8")
    result = accept(FOUND[1].fingerprint, *FAR, code=2)
    assert f"already accepts {FOUND[1].fingerprint} until 9999-12-31." in result.stderr
    assert file.read_text(encoding="utf-8") == before
