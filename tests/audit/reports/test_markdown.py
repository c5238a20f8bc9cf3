"""The morning page: golden, capped, and safe from hostile names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aclkit.answer.markdown import MOST_ROWS, escape_markdown
from aclkit.audit.reports.data import ReportedChange
from aclkit.audit.reports.summary_page import render_summary
from aclkit.model.findings import SEVERITIES, Finding
from tests.audit.reports.made import BROKEN, CHANGE, KEPT, SUMMARY, UNPROVEN
from tests.factories import acl

QUIET = replace(SUMMARY, notes=(), exit_code=0)
EVIL = (
    "a|b\n# c\r\n- d `e` <script>x</script> [l](http://h.example) &amp; _i_ **b** \u202e\u2028\\|"
)
UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*[|`\[\]*_]")


def finding(number=0, *, severity="high", subject=None):
    return Finding(
        finding="public-access" if severity == "high" else "redundant-acl",
        severity=severity,
        subject=str(acl(f"t{number:03}", principal="User:*")) if subject is None else subject,
        message="Everyone has READ.",
        fix="Name who needs it.",
        acl_ids=(f"id-{number}",),
    )


def change(who="User:a", **fields):
    defaults = {"resource": "topic:orders", "gained": 2, "lost": 0, "cause": "acl"}
    return ReportedChange(who=who, **(defaults | fields))


@given(st.text() | st.text("a\\|`<>[]()&*_~\n\r\x85\u2028 -+=.1#:/"))
@example(EVIL)
@example("\\](")
@example("- a")
@example("1. a")
def test_an_escaped_text_has_no_line_break_and_no_mark_that_acts(text):
    escaped = escape_markdown(text)
    assert len(escaped.splitlines()) <= 1
    assert not UNESCAPED.search(escaped)
    assert not set("<>") & set(escaped)
    assert "](" not in escaped
    assert not re.match(r"\s|[-+=#]|\d+[.)]", escaped)


def test_a_bare_address_is_no_link():
    """GitHub makes links of http:// and of www. without any mark."""
    assert escape_markdown("www.h.example http://h.example") == (
        "www\\.h.example http\\://h.example"
    )


def test_a_plain_name_is_left_readable():
    assert escape_markdown("(principal=User:a, host=10.0.0.1)") == (
        "(principal=User:a, host=10.0.0.1)"
    )


def test_the_page_of_an_eventful_night(golden):
    summary = replace(
        QUIET,
        status="incomplete",
        exit_code=3,
        rows_decided=278_000,
        notes=("high watermark not given: all complete batches count", EVIL),
        findings=(
            finding(1),
            finding(2, severity="low"),
            replace(finding(3), message=EVIL),
        ),
        changes=(
            change(gained=1200, cause_offsets=(901, 907)),
            change("every principal without an ACL of its own", lost=3, gained=0),
            change(EVIL, resource=f"group:{EVIL}", cause="inventory"),
        ),
        access_changes=3,
    )
    golden("nightly-summary.md", render_summary(summary))


def test_a_quiet_night_says_so_first():
    lines = render_summary(QUIET).splitlines()
    assert lines[2] == "**Nothing to do: no findings. No access changed. Exit code 0.**"


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_finding_that_the_exit_code_hides_is_still_to_do(severity):
    reason = "no finding that reaches --fail-on is outside the baseline"
    told = replace(QUIET, findings=(finding(severity=severity),), exit_code=0, exit_reason=reason)
    page = render_summary(told)
    assert "Nothing to do" not in page
    assert page.splitlines()[2] == (
        f"**Action needed: 1 {severity} finding. No access changed. "
        "Exit code 0: no finding that reaches --fail-on is outside the baseline.**"
    )


@pytest.mark.parametrize(
    ("known", "headline"),
    [
        (8, "No new findings, 8 known. No access changed."),
        (0, "Action needed: 8 new findings (8 high). No access changed."),
        (6, "Action needed: 2 new findings (2 high), 6 known. No access changed."),
        (None, "Action needed: 8 high findings. No access changed."),
    ],
)
def test_the_headline_tells_new_findings_from_known_ones(known, headline):
    found = tuple(finding(number) for number in range(8))
    before = None if known is None else frozenset(each.fingerprint for each in found[:known])
    told = replace(QUIET, findings=found, exit_code=None, known_before=before)
    assert render_summary(told).splitlines()[2] == f"**{headline}**"


def test_known_findings_call_for_no_action_and_what_else_is_wrong_does():
    found = (finding(1),)
    known = frozenset({found[0].fingerprint})
    told = replace(QUIET, findings=found, exit_code=None, known_before=known, status="incomplete")
    assert render_summary(told).splitlines()[2] == (
        "**Action needed: the run is incomplete, no new findings, 1 known. No access changed.**"
    )


def test_to_do_names_each_remedy_once_with_the_worst_first():
    findings = [finding(n, severity="low") for n in range(3)] + [finding(9)]
    page = render_summary(replace(QUIET, findings=tuple(findings), exit_code=1))
    assert to_do(page) == [
        "- 1 × high public-access: Name who needs it.",
        "- 3 × low redundant-acl: Name who needs it.",
    ]


def test_a_run_that_is_incomplete_is_to_do_though_it_was_accepted():
    page = render_summary(replace(QUIET, status="incomplete", exit_code=0))
    assert page.splitlines()[2].startswith("**Action needed: the run is incomplete, ")
    assert "see the notes" in to_do(page)[0]


def test_missing_answers_are_to_do():
    page = render_summary(replace(QUIET, rows_decided=QUIET.rows_expected - 1))
    assert to_do(page) == ["- Find out why 1 expected decision is missing."]


def test_rejected_rows_under_strict_are_to_do():
    page = render_summary(replace(QUIET, exit_code=3))
    assert "acl\\_reject" in to_do(page)[0]


def test_an_exit_code_that_is_not_known_is_not_told():
    lines = render_summary(replace(QUIET, exit_code=None)).splitlines()
    assert lines[2] == "**Nothing to do: no findings. No access changed.**"


def test_a_broken_assertion_is_to_do_and_stands_with_its_example():
    page = render_summary(replace(QUIET, assertions=(KEPT, BROKEN), exit_code=1))
    assert page.splitlines()[2].startswith("**Action needed: 1 policy failed, no findings.")
    assert to_do(page)[0].startswith("- Fix what violates the policy ")
    section = page.partition("## Policies\n\n")[2].partition("\n\n")[0].splitlines()
    assert section[0].startswith("- FAILED: ")
    assert section[1].startswith("  - For example, ")
    assert section[2] == "- passed: no guests (It holds.)"
    assert "<img" not in page


def test_an_assertion_that_is_unknown_is_to_do_and_not_called_broken():
    page = render_summary(replace(QUIET, assertions=(KEPT, UNPROVEN), exit_code=1))
    assert page.splitlines()[2].startswith("**Action needed: 1 policy is unknown, no findings.")
    assert to_do(page) == [
        "- Policy 'no strangers' is unknown: run aclkit assert with a larger --budget."
    ]
    section = page.partition("## Policies\n\n")[2].partition("\n\n")[0].splitlines()
    assert section[0] == "- UNKNOWN: no strangers (for all possible names: unknown)"


def test_evidence_stands_with_its_finding():
    page = render_summary(replace(QUIET, findings=(replace(finding(), evidence=("a|b",)),)))
    assert "- Everyone has READ.\n  - a\\|b\n" in page


def test_a_change_says_through_which_acl_at_which_offset_and_time():
    page = render_summary(replace(QUIET, changes=(CHANGE,), access_changes=1))
    assert "| added ALLOW READ on topic " in page
    assert "offset 901 at 2026-11-21 02:00:03 UTC" in page


def test_no_more_than_fifty_things_to_do_are_printed():
    found = [replace(finding(n), fix=f"remedy {n}") for n in range(MOST_ROWS + 3)]
    page = render_summary(replace(QUIET, findings=tuple(found)))
    assert len(to_do(page)) == MOST_ROWS
    assert f"{to_do(page)[-1]}\n\n… and 3 more; " in page


def test_hostile_names_in_remedies_stay_text():
    page = render_summary(replace(QUIET, findings=(replace(finding(), finding=EVIL, fix=EVIL),)))
    assert len(to_do(page)) == 1
    assert "<" not in page


def to_do(page):
    """The lines of the section To do."""
    return page.partition("## To do\n\n")[2].partition("\n\n")[0].splitlines()


def test_hostile_names_add_no_line_to_the_page():
    def page(text):
        return render_summary(
            replace(
                QUIET,
                cluster_id=text,
                notes=(text,),
                findings=(replace(finding(), message=text),),
                changes=(change(text, resource=text, cause=text),),
                access_changes=1,
            )
        )

    evil, tame = page(EVIL), page("tame")
    assert len(evil.splitlines()) == len(tame.splitlines())
    assert "<" not in evil


@pytest.mark.parametrize(("severity", "heading"), [("high", "public"), ("low", "redundant")])
def test_no_more_than_fifty_findings_of_a_kind_are_printed(severity, heading):
    rows = tuple(finding(number, severity=severity) for number in range(MOST_ROWS + 7))
    page = render_summary(replace(QUIET, findings=rows))
    assert f"### {severity}: {heading}" in page
    assert page.count("\n- Everyone has READ.") == MOST_ROWS
    assert "\n… and 7 more; " in page


def test_a_kind_of_two_severities_is_capped_in_each():
    rows = [replace(finding(n, severity="high"), finding="k") for n in range(MOST_ROWS + 2)]
    rows += [replace(finding(n, severity="low"), finding="k") for n in range(3)]
    page = render_summary(replace(QUIET, findings=tuple(rows)))
    assert page.count("\n- Everyone has READ.") == MOST_ROWS + 3
    assert "### high: k (52)\n" in page
    assert page.count("\n… and 2 more; ") == 1
    assert page.partition("### low: k (3)\n")[2].count("\n- Everyone has READ.") == 3


def test_the_largest_changes_come_first_and_the_rest_is_counted():
    changes = tuple(change(f"User:{number}", gained=number) for number in range(MOST_ROWS + 2))
    page = render_summary(replace(QUIET, changes=changes, access_changes=len(changes)))
    assert "| User:51 |" in page
    assert "| User:1 |" not in page
    assert "\n… and 2 more; " in page


def test_changes_that_were_not_handed_over_are_counted_too():
    changes = tuple(change(f"User:{number}") for number in range(MOST_ROWS))
    page = render_summary(replace(QUIET, changes=changes, access_changes=70_000))
    assert "70,000 access changes" in page.splitlines()[2]
    assert "- access changes: 70,000\n" in page
    assert "\n69,950 more are in the table access\\_change.\n" in page
