"""Baseline and mutes: which findings are new, known, fixed or muted, and what fails."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.findings.baseline import (
    BaselineEntry,
    Mute,
    classify,
    fails,
    parse_baseline,
    parse_mutes,
    render_baseline,
)
from aclkit.errors import UsageError
from aclkit.model.findings import SEVERITIES, Finding

TODAY = date(2026, 11, 21)
MUTE = '[[mute]]\nfinding="k"\nowner="ops"\nreason="r"\nuntil='


def found(subject="s", finding="k", severity="high"):
    return Finding(finding=finding, severity=severity, subject=subject, message="m", fix="f")


def known(*findings):
    return parse_baseline(render_baseline(findings, "c", {}), "b.json")


def mute(until, **fields):
    whom = fields or {"finding": "k"}
    return Mute(**{"fingerprint": None, "finding": None, "subject": None, **whom},
                until=until, owner="ops", reason="r")  # fmt: skip


def states(findings, baseline=None, mutes=()):
    return [
        (item.state, item.fingerprint) for item in classify(findings, baseline or {}, mutes, TODAY)
    ]


def test_a_finding_of_the_baseline_is_known_and_another_one_is_new():
    one, other = found("a"), found("b")
    assert states([one, other], known(one)) == [
        ("known", one.fingerprint), ("new", other.fingerprint),
    ]  # fmt: skip


def test_what_the_run_no_longer_finds_is_fixed():
    gone = found("gone")
    (item,) = classify([], known(gone), [], TODAY)
    assert (item.state, item.finding, item.known.subject) == ("fixed", None, "gone")
    assert not fails([item], SEVERITIES)


def test_a_mute_holds_through_its_last_day():
    assert states([found()], mutes=[mute(TODAY)])[0][0] == "muted"
    assert states([found()], mutes=[mute(date(2026, 11, 20))])[0][0] == "new"


def test_an_expired_mute_fails_whatever_the_severity_and_the_baseline():
    one = found(severity="info")
    judged = classify([one], known(one), [mute(date(2026, 11, 20))], TODAY)
    assert (judged[0].state, judged[0].is_expired) == ("known", True)
    assert fails(judged, ())


def test_an_expired_mute_on_what_is_fixed_does_not_fail():
    judged = classify([], known(found()), [mute(date(2026, 1, 1))], TODAY)
    assert not fails(judged, SEVERITIES)


def test_of_two_mutes_the_one_that_holds_longer_counts():
    mutes = [mute(date(2026, 1, 1)), mute(date(2027, 1, 1))]
    assert states([found()], mutes=mutes)[0][0] == "muted"


def test_only_new_findings_of_a_severity_fail():
    low = found(severity="low")
    assert not fails(classify([low], {}, [], TODAY), ("high", "medium"))
    assert fails(classify([low], {}, [], TODAY), SEVERITIES)
    assert not fails(classify([low], known(low), [], TODAY), SEVERITIES)


@pytest.mark.parametrize(
    ("fields", "is_covered"),
    [
        ({"finding": "k"}, True),
        ({"finding": "other"}, False),
        ({"finding": "k", "subject": "pay*"}, True),
        ({"finding": "k", "subject": "pay"}, False),
        ({"fingerprint": found("pay.in").fingerprint}, True),
        ({"fingerprint": "0"}, False),
    ],
)
def test_a_mute_names_a_finding_by_fingerprint_or_by_kind_and_subject(fields, is_covered):
    assert mute(TODAY, **fields).covers(found("pay.in")) is is_covered


FINDINGS = st.lists(
    st.builds(found, st.sampled_from("abc"), st.sampled_from("kl"), st.sampled_from(SEVERITIES)),
    max_size=5,
)


@given(FINDINGS, FINDINGS)
def test_every_finding_has_one_state_and_every_baseline_entry_is_present_or_fixed(now, then):
    baseline = known(*then)
    judged = classify(now, baseline, [], TODAY)
    assert {item.finding for item in judged if item.finding} == set(now)
    names = {f.fingerprint for f in now}
    assert {i.fingerprint for i in judged if i.state == "fixed"} == baseline.keys() - names
    assert all(item.state == "known" for item in judged if item.finding and item.known)


def test_a_baseline_is_read_as_it_was_written_whatever_the_subject():
    one = found('a"\n\u2028é')
    text = render_baseline([one], 'c"', {one.fingerprint: datetime(2026, 1, 2, tzinfo=UTC)})
    assert "2026-01-02T00:00:00+00:00" in text
    assert parse_baseline(text, "b") == {
        one.fingerprint: BaselineEntry(
            fingerprint=one.fingerprint, finding="k", severity="high", subject=one.subject
        )
    }


ENTRY = (
    '{"aclkit_baseline": 1, "findings": [{"fingerprint": "f", "finding": "k", "severity": "low", '
    '"subject": "s"}]}'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "b.json:1: not valid JSON"),
        ("[]", "expected a baseline as aclkit audit --write-baseline makes it"),
        ('{"findings": []}', "expected a baseline as"),
        ('{"aclkit_baseline": 2, "findings": []}', "expected a baseline of version 1, found 2"),
        ('{"aclkit_baseline": 1, "findings": [{}]}', "fingerprint"),
        ("null", "expected a baseline as aclkit audit --write-baseline makes it"),
        ('{"aclkit_baseline": true, "findings": []}', "expected a baseline as"),
        ("[" * 100_000, "b.json: not valid JSON: "),
        (f'{{"aclkit_baseline": {"9" * 5_000}}}', "b.json: not valid JSON: "),
        (
            ENTRY[:-1] + ', "findings": []}',
            "not valid JSON: the key 'findings' occurs twice in one object",
        ),
        (
            ENTRY.replace('"f"', '"\\ud800"'),
            "not valid JSON: a text contains half a surrogate pair",
        ),
        (ENTRY.replace('"f"', "null"), "b.json: finding 1: fingerprint: expected a text, found N"),
        (ENTRY.replace("low", "bad"), "b.json: finding 1: severity: expected high, medium, low, i"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(text, message):
    with pytest.raises(UsageError, match=r".*") as error:
        parse_baseline(text, "b.json")
    assert message in str(error.value)


def test_mutes_name_who_answers_until_when_and_why():
    (one,) = parse_mutes(MUTE + "2026-12-31", "m.toml")
    assert (one.owner, one.reason, one.until) == ("ops", "r", date(2026, 12, 31))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[mute]", "m.toml: not valid TOML"),
        ("a=" + "[" * 5_000, "m.toml: not valid TOML: nested too deeply"),
        ("x=1", "m.toml: unknown x, expected [[mute]]"),
        ('"a\\nb"=1', "m.toml: unknown 'a\\nb', expected [[mute]]"),
        (MUTE + '2026-12-31\n"a\\nb"=1', "unknown 'a\\nb', expected some of"),
        ("[[mute]]\nuntil=" + "9" * 5_000, "m.toml: not valid TOML: a number does not fit"),
        ("[[mute]]\nuntil" + ".a" * 2_000 + "=1", "m.toml: not valid TOML: a key has more than 16"),
        ("[mute]\nx=1", "expected tables [[mute]]"),
        (MUTE + '"2026-12-31"', "[[mute]] 1: until: expected a day such as 2026-12-31"),
        (MUTE + "2026-12-31\nwho=1", "unknown who"),
        (MUTE.replace("owner", "subject") + "2026-12-31", "expected owner: who answers"),
        (MUTE.replace('"r"', '" "') + "2026-12-31", "reason: expected a text"),
        (MUTE + '2026-12-31\nfingerprint="f"', "expected either fingerprint or finding"),
        (MUTE.replace("finding", "subject") + "2026-12-31", "expected either fingerprint or"),
    ],
)
def test_a_file_of_mutes_that_makes_no_sense_is_refused(text, message):
    with pytest.raises(UsageError, match=r".*") as error:
        parse_mutes(text, "m.toml")
    assert message in str(error.value)
