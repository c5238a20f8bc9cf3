"""aclkit run with policies and reports: exit codes, the page, and the files that are listed."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession

from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, Nights, acl_id

pytestmark = pytest.mark.usefixtures("spark")
BREAKS = '[[never]]\nname="ann stays out"\nprincipals="User:ann"\nresources="topic:pay.*"\n'


@pytest.fixture(scope="module")
def nights(_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    nights = Nights(tmp_path_factory.mktemp("policies"))
    assert nights.run(*FIRST_NIGHT, options=("--fail-on", "never")).exit_code == 0
    return nights


def written(result):
    return [line.removeprefix("wrote ") for line in result.stderr.splitlines()
            if line.startswith("wrote ")]  # fmt: skip


@pytest.mark.slow
def test_a_night_ends_with_its_policies_and_lists_every_file(nights):
    baseline, assertions = nights.folder / "baseline.json", nights.folder / "a.toml"
    assert nights.call("audit", "--write-baseline", str(baseline)).exit_code == 0
    assertions.write_text(BREAKS, encoding="utf-8")
    page, reports = nights.folder / "night.md", nights.folder / "reports"
    options = (
        "--baseline", str(baseline), "--fail-on", "info", "--report", str(page),
        "--report-dir", str(reports), "--report-formats", "html,json,junit",
    )  # fmt: skip
    idle = nights.run(options=options)
    assert idle.exit_code == 0, idle.output
    assert "Findings compared with the baseline" in idle.stdout
    failed = nights.run(options=(*options, "--assertions", str(assertions)))
    assert failed.exit_code == 1, failed.output
    names = ["report.html", "report.json", "report.junit.xml"]
    assert written(failed) == [str(page), *(str(reports / name) for name in names)]
    assert all((reports / name).stat().st_size for name in names)
    assert "ann stays out" in failed.stdout
    assert "ann stays out" in (reports / "report.junit.xml").read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") == failed.stdout


@pytest.mark.slow
def test_the_page_names_the_acl_behind_each_change_with_its_offset_and_time(nights):
    result = nights.run(*SECOND_NIGHT, options=("--fail-on", "never"))
    assert result.exit_code == 0, result.output
    (line,) = [row for row in result.stdout.splitlines()
               if row.startswith("| User:ann | topic:pay.in |")]  # fmt: skip
    assert "removed" in line
    assert "offset 8 at 2026-11-21" in line
    rows = [
        json.loads(row) for row in nights.call("changes", "--format", "jsonl").stdout.splitlines()
    ]
    ann = [row for row in rows if row["who"] == "User:ann" and row["resource"] == "topic:pay.in"]
    assert {(row["acl_change"], row["offset"], row["acl_id"]) for row in ann} == {
        ("added", 7, acl_id(7)), ("removed", 8, acl_id(2)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("option", "text"),
    [("--assertions", "[[nevr]]"), ("--baseline", "{}"), ("--mutes", "[[mute]]\nx=1")],
)
def test_a_malformed_policy_ends_with_exit_code_2_before_anything_is_done(nights, option, text):
    file = nights.folder / "bad"
    file.write_text(text, encoding="utf-8")
    runs = nights.sql("SELECT count(*) AS runs FROM job_run")
    result = nights.run(options=(option, str(file)))
    assert result.exit_code == 2
    assert str(file) in result.stderr
    assert "Starting Spark" not in result.stderr
    assert nights.sql("SELECT count(*) AS runs FROM job_run") == runs
