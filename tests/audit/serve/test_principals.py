"""The pages of principals and of findings: what a row says, and where it leads."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclkit.model.findings import EVERY_NAME
from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small

ACLS = (
    *small.ACLS,
    small.acl(11, resource_name="pay", pattern_type="PREFIXED", operation="ALTER"),
)
FINDINGS = (
    {"finding": "over-broad", "severity": "medium", "subject": str(ACLS[1]), "message": "Bob has",
     "acl_ids": [ACLS[1].acl_id]},
    {"finding": "public-access", "severity": "high", "subject": "User:<b>", "message": "A <b> has",
     "acl_ids": []},
)  # fmt: skip


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    place = tmp_path_factory.mktemp("principals") / "w"
    rows = [
        {"cluster_id": small.CLUSTER, "run_id": "r", "fix": "Remove it.", "evidence": [],
         "fingerprint": f"print-{number}", "holds_for": EVERY_NAME, "first_seen": small.WHEN,
         **found}
        for number, found in enumerate(FINDINGS)
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patched:
        made = small.tables
        patched.setattr(small, "tables", lambda *asked: made(*asked) | {"finding": rows})
        small.build(place, ACLS)
    with serving(place) as stranger:
        yield stranger.enter().ask


def rows(page):
    """Return the cells of each row, by title."""
    found = re.findall(r'<tr><th scope="row".*?</tr>', page.html, re.DOTALL)
    return [
        {
            title: unescape(re.sub("<[^>]*>", "", cell)).strip()
            for title, cell in re.findall(
                r'<t[hd][^>]*data-title="([^"]*)"[^>]*>(.*?)</t[hd]>', row, re.DOTALL
            )
        }
        for row in found
    ]


def test_a_row_tells_of_a_principal_how_much_it_can_do_and_what_to_look_at(ask):
    people = {row["principal"].removesuffix(" super user"): row for row in rows(ask("/principals"))}
    assert set(people) == set(small.PRINCIPALS)
    assert people["User:bob"] == {
        "principal": "User:bob", "administer": "2", "write": "2", "read": "2", "DENY": "DENY",
        "findings": "1", "last change": "2026-11-21",
    }  # fmt: skip
    assert people["User:alice"]["DENY"] == ""
    assert people[small.SUPER_USER]["principal"] == f"{small.SUPER_USER} super user"


def test_a_name_leads_to_what_it_can_access_and_a_number_to_its_findings(ask):
    links = [
        urlsplit(unescape(link)) for link in re.findall('href="([^"]*)"', ask("/principals").html)
    ]
    bobs = {link.path for link in links if parse_qs(link.query).get("principal") == ["User:bob"]}
    assert bobs == {"/what-can", "/findings"}
    (found,) = rows(ask("/findings", principal="User:bob"))
    assert found["finding"].startswith("Bob has")


def test_only_names_that_contain_the_text_are_listed(ask):
    page = ask("/principals", words="BO")
    assert [row["principal"] for row in rows(page)] == ["User:bob"]
    assert "1 principal" in page.text


def test_a_finding_says_whom_what_and_which_access_it_is_about_and_since_when(ask):
    high, medium = rows(ask("/findings"))
    assert [medium[name] for name in ("severity", "kind", "principal", "resource", "access")] == [
        "medium", "over-broad", "User:bob", "topic pay* (prefix)", "ALLOW ALL",
    ]  # fmt: skip
    assert medium["since"] == "2026-11-21"
    assert "ALLOW ALL on topic pay* (prefix) for User:bob from any host" in medium["finding"]
    assert (high["principal"], high["resource"], high["access"]) == ("User:<b>", "", "")
