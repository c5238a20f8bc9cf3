"""What the page answers in a browser: who can access what, why, and at which address."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from aclkit.audit.reports.render import write_reports
from aclkit.model.acl import ANY_OTHER
from aclkit.warehouse.duck import connect
from tests.audit.reports.asking import EVERYONE, NAMES, ROWS, STATUS, TITLE, ask, choose, go, saved
from tests.audit.reports.made import HOSTILE, explorer, gathered, report
from tests.audit.reports.pages import company, small_report
from tests.questions.query import small_warehouse as small


def test_who_can_touch_a_topic_has_one_row_per_principal_what_is_grave_first(services):
    go(services, "#resource=topic:team-07.stream-0000.v1")
    assert services.js(TITLE) == "Who can access topic:team-07.stream-0000.v1"
    rows = services.js(ROWS)
    who = [row[0] for row in rows]
    assert len(who) == len(set(who))
    own = ["User:svc-07-worker-00007", "User:svc-07-worker-00037"]
    assert [row for row in rows if row[0] in own] == [[name, "WRITE DESCRIBE READ"] for name in own]
    assert who[:2] == own
    assert {row[1] for row in rows[2:]} <= {"DESCRIBE READ", "from 10.0.0.0: DESCRIBE READ"}


def test_what_everyone_has_is_one_line_that_names_who_has_not(services):
    go(services, "#resource=topic:team-07.stream-0000.v1")
    lacks = services.js("document.querySelector('#answer .everyone > span').textContent")
    assert services.js(EVERYONE).startswith("Everyone hasDESCRIBE_CONFIGS")
    assert lacks == "These have less: User:svc-29-worker-00029"
    assert not [row for row in services.js(ROWS) if "DESCRIBE_CONFIGS" in row[1]]
    assert "more have only the access that everyone has" in services.js(STATUS)


def test_a_question_may_be_asked_in_words(services):
    ask(services, "Who can WRITE team-07")
    assert services.js(TITLE) == "Who can access topic:team-07.stream-0000.v1"
    assert {row[1] for row in services.js(ROWS)} == {"WRITE"}
    ask(services, "what can svc-07-worker-00007")
    assert services.js(TITLE) == "What User:svc-07-worker-00007 can access"
    ask(services, "who can administer")
    assert services.js(ROWS) == []
    ask(services, "svc-07-worker-00007 team-07")
    assert services.js(TITLE) == "User:svc-07-worker-00007 on topic:team-07.stream-0000.v1"


def test_several_resources_are_counted_and_a_chip_leads_to_them(services):
    ask(services, "stream-0000")
    rows = services.js(ROWS)
    assert rows[0][1].startswith("WRITE × 1 DESCRIBE × 4 READ × 4")
    services.js("document.querySelector('#answer tbody .chip').click()")
    services.wait_for(f"{TITLE}.startsWith('What ')")
    assert {row[1] for row in services.js(ROWS)} == {"WRITE"}


def test_a_name_that_nobody_knows_is_answered_with_the_nearest_ones(services):
    for place in ("#q=tem-07", "#resource=topic:tem-07.stream-0000.v1"):
        go(services, place)
        assert services.js(TITLE) == "No such name"
        assert services.js("document.querySelector('#answer table')") is None
        assert services.js(NAMES)[0] == "topic:team-07.stream-0000.v1"
    services.js("document.querySelector('#answer .named a').click()")
    services.wait_for(f"{TITLE} === 'Who can access topic:team-07.stream-0000.v1'")


def test_an_operation_with_letters_in_the_wrong_order_is_offered_as_meant(services):
    ask(services, "wirte team-07")
    assert services.js(TITLE) == "No such name"
    assert "team-07 WRITE" in services.js(NAMES)


@pytest.mark.parametrize("place", ["operation=FETCH", "host=1.2.3.4", "decision=x", "prefix=zz."])
def test_an_address_that_asks_for_something_unknown_is_no_fact_either(services, place):
    go(services, f"#resource=topic:team-07.stream-0000.v1&{place}")
    assert services.js(TITLE) == "No such name"
    assert services.js("document.querySelectorAll('#answer table').length") == 0


def test_a_word_that_is_near_to_nothing_is_still_no_fact(made):
    ask(made, "zzzzzzzzzzzzzzz")
    assert made.js(TITLE) == "No such name"
    assert made.js(NAMES) == []


def test_filters_for_operation_host_and_decision_work_together(made):
    go(made, "#principal=User:0003&decision=both")
    chips = {row[0]: row[1] for row in made.js(ROWS)}["topic:a.0007"]
    assert chips.startswith("from any but 10.0.0.1: READ")
    assert "no WRITE" in chips
    assert "from 10.0.0.1: no READ" in chips
    choose(made, "ask-host", "10.0.0.1")
    choose(made, "ask-operation", "READ")
    choose(made, "ask-decision", "DENIED")
    assert {row[1] for row in made.js(ROWS)} == {"no READ"}
    made.wait_for("location.hash.includes('host=10.0.0.1')")
    choose(made, "ask-decision", "")
    assert made.js(ROWS) == []


def test_why_names_the_deciding_acl_and_all_others(made):
    browser = made
    go(browser, "#resource=topic:a.0007")
    browser.js(
        "[...document.querySelectorAll('#answer tbody tr')].find(row => "
        "row.cells[0].textContent === 'User:0000').querySelector('.chip').focus()"
    )
    browser.press("Enter")
    browser.wait_for(f"{TITLE} === 'User:0000 on topic:a.0007'")
    assert browser.js("document.activeElement.tagName") == "H3"
    acl = "ALLOW READ on topic a.* (prefix) for User:7 from any host"
    assert browser.js(ROWS) == [
        ["READ", "ALLOWED", "any but 10.0.0.1", acl],
        ["READ", "DENIED", "10.0.0.1", acl],
    ]
    assert "decides READ" in browser.js("document.querySelector('#answer .evidence').textContent")
    browser.js("document.querySelector('#answer tbody a').click()")
    browser.wait_for(f"{TITLE} === 'What this ACL decides'")
    said = browser.js("[...document.querySelectorAll('#answer .facts dd')].map(e => e.textContent)")
    assert said == [
        "id-7", "7", "2026-11-21 02:00:03 UTC", "TOPIC", "a.", "PREFIXED", "User:7", "*", "READ",
        "ALLOW",
    ]  # fmt: skip


def test_what_is_not_decided_is_unknown(browser, pages):
    some = explorer(2, 2)
    holes = (tuple(ruling for ruling in some.rulings[0] if ruling[0] != "WRITE"), *some.rulings[1:])
    path = pages("holes", report(explorer=replace(some, rulings=holes)))
    browser.open(path, place="#principal=User:0000&resource=topic:a.0000")
    assert ["WRITE", "UNKNOWN", "any", "not decided"] in browser.js(ROWS)
    browser.open(path, place="#principal=User:0000")
    assert "not every operation is decided" in browser.js(
        "document.querySelector('#answer .limit').textContent"
    )


@pytest.mark.parametrize(
    ("place", "title"),
    [
        ("#principal=User:0003", "What User:0003 can access"),
        ("#resource=topic:a.0007", "Who can access topic:a.0007"),
        ("#principal=User:0003&resource=topic:a.0007", "User:0003 on topic:a.0007"),
        ("#acl=id-2&decision=both", "What this ACL decides"),
        ("#prefix=a.", "Who can access topics with the prefix a."),
        ("#q=0007", "Who can access topic:a.0007"),
        ("#principal=%zz", None),
    ],
)
def test_every_answer_has_an_address(browser, pages, place, title):
    browser.open(pages("made", small_report()), place=place)
    assert browser.js("document.querySelector('#answer h3')?.textContent ?? null") == title
    assert browser.console == []


def test_the_way_back_leads_through_the_answers(made):
    # A history that is full, after many tests, loses the steps of scripts first.
    made.send("Page.resetNavigationHistory")
    go(made, "#principal=User:0003")
    go(made, "#resource=topic:a.0007")
    made.js("history.back()")
    made.wait_for(f"{TITLE} === 'What User:0003 can access'")
    assert made.js("document.getElementById('ask-words').value") == "User:0003"
    made.js("history.back()")
    made.wait_for("!document.getElementById('answer').checkVisibility()")


def test_a_name_of_any_letters_has_an_address(browser, pages):
    strange = (HOSTILE, "User:\ud800x", "User:%41&q=b#c=d e+f", "User:名前")
    decided = replace(explorer(4, 2), principals=tuple((name, 0, False) for name in strange))
    browser.open(pages("strange", report(explorer=decided)))
    ask(browser, "a.0000")
    links = browser.js("[...document.querySelectorAll('#answer tbody th a')].map(a => a.hash)")
    assert len(set(links)) == 4
    for link in links:
        go(browser, link)
        assert browser.js(TITLE).startswith("What ")
    assert browser.console == []


def test_tables_are_sorted_by_any_column(services):
    go(services, "#q=stream-0000")
    press = "document.querySelectorAll('#answer .sort')[{}].click()"
    services.js(press.format(0))
    people = [row[0] for row in services.js(ROWS)]
    assert people == sorted(people)
    services.js(press.format(0))
    assert services.js("document.querySelector('#answer th').ariaSort") == "descending"
    assert services.js(ROWS)[0][0] > people[0]
    services.js(press.format(2))
    numbers = [int(row[2]) for row in services.js(ROWS)]
    assert numbers == sorted(numbers)
    assert services.js("document.querySelectorAll('#answer [aria-sort]').length") == 1


def test_the_view_is_saved_as_csv_in_which_no_cell_is_a_formula(browser, pages):
    formula = replace(explorer(2, 1), principals=(('=1+1;@x"', 0, False), ("User:b", 0, False)))
    path = pages("formula", report(explorer=formula, status="incomplete"))
    browser.open(path, place="#q=READ")
    name, text = saved(browser, "#answer .csv")
    assert name == "who-can-incomplete.csv"
    first, *rows = text.removeprefix("\ufeff").splitlines()
    assert first == '"principal","can"'
    assert '"\'=1+1;\'@x""","READ from any but 10.0.0.1"' in rows


def test_the_graph_joins_who_through_which_acl_to_what(browser, pages):
    browser.open(pages("company", report(explorer=company())),
                 place="#resource=topic:team-07.stream-0000.v1&operation=WRITE")  # fmt: skip
    browser.js("document.querySelector('.graph-of').open = true")
    browser.wait_for("document.querySelector('svg.graph') !== null")
    nodes = browser.js("[...document.querySelectorAll('svg.graph text')].map(t => t.textContent)")
    assert nodes == [
        "User:svc-07-worker-00007", "User:svc-07-worker-00037",
        "ALLOW WRITE on topic team-07.* (prefix) for User:svc-07-worker-00…",
        "ALLOW WRITE on topic team-07.* (prefix) for User:svc-07-worker-00…",
        "topic:team-07.stream-0000.v1",
    ]  # fmt: skip
    paths = "[...document.querySelectorAll('svg.graph path')].map(p => p.getAttribute('class'))"
    assert browser.js(paths) == ["write"] * 4
    browser.js(
        "document.querySelector('svg.graph a')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    browser.wait_for(f"{TITLE} === 'What User:svc-07-worker-00007 can access'")


def test_a_graph_says_what_it_leaves_out(services):
    go(services, "#q=stream-0000")
    services.js("document.querySelector('.graph-of').open = true")
    services.wait_for("document.querySelector('.graph-of p') !== null")
    said = services.js("document.querySelector('.graph-of p').textContent")
    assert "Left out: " in said
    assert "more principals" in said


def test_the_page_gives_the_answers_of_who_can(browser, warehouse, tmp_path):
    (path,) = write_reports(gathered(warehouse), tmp_path, ["html"])
    browser.open(Path(path))
    for host in small.HOSTS:
        with closing(connect(warehouse)) as connection:
            rows = connection.execute(
                "SELECT principal, CASE resource_type WHEN 'CLUSTER' THEN 'cluster' ELSE "
                "lower(resource_type) || ':' || resource_name END, operation, decision "
                "FROM explain WHERE cluster_id = ? AND host = ?",
                [small.CLUSTER, host],
            ).fetchall()
        shown = []
        for who in dict.fromkeys(row[0] for row in rows):
            place = browser.js(f"'#principal=' + encodeURIComponent({who!r})")
            go(
                browser,
                f"{place}&decision=both&host={host.replace('<', '%3C').replace('>', '%3E')}",
            )
            for resource, chips in browser.js(ROWS):
                for chip in chips.replace("no ", "no-").split():
                    decision = "DENIED" if chip.startswith("no-") else "ALLOWED"
                    shown.append((who, resource, chip.removeprefix("no-"), decision))
        assert sorted(shown) == sorted(rows)
    assert browser.console == []


def test_what_everyone_has_and_the_rows_together_are_all_that_is_allowed(
    browser, warehouse, tmp_path
):
    (path,) = write_reports(gathered(warehouse), tmp_path, ["html"])
    browser.open(Path(path))
    with closing(connect(warehouse)) as connection:
        rows = connection.execute(
            "SELECT principal, operation FROM explain WHERE cluster_id = ? AND host = ? "
            "AND resource_type = 'GROUP' AND resource_name = 'g1' AND decision = 'ALLOWED'",
            [small.CLUSTER, ANY_OTHER],
        ).fetchall()
    go(browser, "#resource=group:g1&host=%3Cany-other%3E")
    chips = "[...document.querySelectorAll('#answer .everyone .chip')].map(c => c.textContent)"
    shared = browser.js(chips)
    shown = {
        (who.removesuffix(" super user"), operation)
        for who, said in browser.js(ROWS)
        for operation in said.split()
    }
    everyone = {(who, operation) for who in {who for who, _ in rows} for operation in shared}
    assert shared == ["DESCRIBE", "READ"]
    assert shown | everyone == set(rows)
