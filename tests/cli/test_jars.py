"""Which jars the command fetches, and where they are looked for."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from aclkit.cli import cli, maintain
from aclkit.kafka.verify.jars import JARS_OF, NEWEST
from aclkit.runtime.jars import S3
from aclkit.runtime.spark_release import delta_jars

DELTA = delta_jars()


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """What is asked of the network, which is not asked."""
    asked = []

    def fetch(wanted, folder, say):
        asked.append((wanted, folder))
        return (tmp_path / "a.jar",)

    monkeypatch.setattr(maintain, "fetch_jars", fetch)
    return asked


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), [DELTA]),
        (("delta", "s3"), [DELTA, S3]),
        (("kafka",), [JARS_OF[NEWEST]]),
        (("kafka:4.3.1",), [JARS_OF["4.3.1"]]),
    ],
)
def test_names_say_which_and_without_one_they_are_deltas(fetched, words, wanted, tmp_path):
    result = CliRunner().invoke(cli, ["jars", *words])
    assert result.exit_code == 0, result.stderr
    assert fetched == [(each, None) for each in wanted]
    assert result.stderr.splitlines() == [f"{each.name} are in {tmp_path}." for each in wanted]


def test_they_can_be_put_elsewhere(fetched, tmp_path):
    CliRunner().invoke(cli, ["jars", "s3", "--folder", str(tmp_path)])
    assert fetched == [(S3, tmp_path)]


def test_a_name_of_no_jars_is_refused(fetched):
    result = CliRunner().invoke(cli, ["jars", "typo"])
    assert (result.exit_code, fetched) == (2, [])


def test_jars_of_s3_lie_beside_deltas_or_where_the_user_says(tmp_path):
    assert S3.folder({"ACLKIT_JARS": str(tmp_path / "a")}) == tmp_path / "s3-jars"
    assert S3.folder({"ACLKIT_S3_JARS": str(tmp_path)}) == tmp_path


def test_the_whole_sdk_is_not_among_them():
    assert not [name for name in S3.digests if "bundle" in name]
    assert "software.amazon.awssdk:bundle" in S3.foreign.split(",")
