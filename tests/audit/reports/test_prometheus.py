"""The textfile: well-formed, and the numbers are those of the run."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.reports.as_prometheus import render_prometheus
from tests.audit.reports.made import BROKEN, KEPT, UNPROVEN, finding, hostile, report

LINE = re.compile(
    r'(?P<name>[a-z_]+)\{(?P<labels>[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
    r'(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*)\} (?P<value>-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)'
)


def samples(text):
    """Read the format: HELP and TYPE stand once before each metric's samples."""
    found, known = {}, []
    assert text.endswith("\n")
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# "):
            _, what, name, _ = line.split(" ", 3)
            known.append((what, name))
            continue
        match = LINE.fullmatch(line)
        assert match, line
        assert known[-2:] == [("HELP", match["name"]), ("TYPE", match["name"])]
        found[match["name"], match["labels"]] = float(match["value"])
    assert len(set(known)) == len(known)
    return found


def test_the_numbers_are_those_of_the_run():
    found = samples(render_prometheus(report(finding(), assertions=(BROKEN, KEPT, UNPROVEN))))
    cluster = 'cluster="kraft-4.1"'
    assert found["aclkit_acl_count", cluster] == 1234
    assert found["aclkit_findings", f'{cluster},severity="high"'] == 1
    assert found["aclkit_findings", f'{cluster},severity="low"'] == 0
    assert found["aclkit_run_seconds", cluster] == 75.25
    assert found["aclkit_run_age_seconds", cluster] == 24.75
    assert found["aclkit_lag_offsets", cluster] == 5
    assert found["aclkit_run_complete", cluster] == 1
    assert found["aclkit_access_moved", f'{cluster},direction="gained"'] == 4
    for state in ("holds", "broken", "unknown"):
        assert found["aclkit_assertions", f'{cluster},state="{state}"'] == 1


def test_an_incomplete_run_shows():
    made = report(status="incomplete")
    assert samples(render_prometheus(made))["aclkit_run_complete", 'cluster="kraft-4.1"'] == 0


def test_hostile_names_stay_label_values():
    assert len(samples(render_prometheus(hostile()))) > 10


@given(st.text() | st.text('a"\\\n\r{},='))
def test_any_cluster_id_is_one_label_value(name):
    made = report()
    made = replace(made, summary=replace(made.summary, cluster_id=name))
    text = render_prometheus(made)
    assert len(samples(text)) == len(samples(render_prometheus(report())))
    text.encode()
