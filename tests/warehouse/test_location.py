"""What --warehouse says, and where that is."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.warehouse.duck import connect
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.run import begin_run, hold, publish
from aclkit.warehouse.storage import LocalStorage
from tests.on_disk import on_disk


def test_a_path_is_a_folder_of_this_machine_whatever_it_holds(tmp_path):
    place = Location(f"{tmp_path}/a://b c%20d")
    assert not place.is_remote
    assert place.folder == tmp_path / "a:" / "b c%20d"
    assert isinstance(place.files, LocalStorage)


def test_a_file_uri_is_a_folder_of_this_machine(tmp_path):
    place = Location(f"file://{tmp_path}/a%20b/")
    assert not place.is_remote
    assert place.folder == tmp_path / "a b"
    assert isinstance(place.files, LocalStorage)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("s3a://bucket/acls/", "s3a://bucket/acls"),
        ("s3://bucket/acls", "s3a://bucket/acls"),
        ("gs://bucket/acls", "gs://bucket/acls"),
    ],
)
def test_a_bucket_is_called_as_spark_calls_it_and_has_no_folder(given, text):
    place = Location(given)
    assert place.is_remote
    assert place.of_table("finding") == f"{text}/finding"
    with pytest.raises(UsageError, match="Expected a folder of this machine"):
        _ = place.folder


@pytest.mark.parametrize("given", ["hdfs:///data/acls", "https://bucket/acls", "x://a"])
def test_what_is_no_object_store_is_refused(given):
    with pytest.raises(UsageError, match="expected a folder, or a URI of s3a, gs or abfss"):
        _ = Location(given).text


@pytest.mark.parametrize("given", ["s3a://k:hunter2@b/x", "hdfs://u:hunter2@h/x", "x://:hunter2@"])
def test_a_password_in_a_uri_is_refused_wherever_it_is_opened_and_not_shown(given):
    for asked in (Location.require_writable, lambda place: place.text, str, lambda p: p.files):
        with pytest.raises(UsageError, match="contains a password") as refused:
            asked(Location(given))
        assert "hunter2" not in str(refused.value)


def test_no_run_writes_where_conditions_are_generations(tmp_path):
    with pytest.raises(UsageError, match="does not write to gs://bucket/acls"):
        Location("gs://bucket/acls").require_writable()
    for given in ("s3a://bucket/acls", "abfss://c@a.dfs.core.windows.net/acls", str(tmp_path)):
        Location(given).require_writable()


@pytest.mark.parametrize(
    "name", ["a%41", "a%2fb", "x[1]", "x]", "a\\b", "a^b", "a|b", "a*b", "a?b", "a\nb"]
)
def test_a_folder_whose_name_engines_read_differently_is_refused_before_it_is_made(name, tmp_path):
    folder = tmp_path / name / "w"
    with pytest.raises(UsageError, match="cannot be a warehouse"), hold(str(folder), 0):
        pass
    with pytest.raises(UsageError, match="cannot be a warehouse"):
        open_warehouse(str(folder))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["100%", "a%zz", "a#b", "a b", "a'b", 'a"b', "a:b", "{1,2}", "ä", "a+&=;"]
)
def test_a_folder_of_any_other_name_can_be_written_and_read(name, tmp_path):
    folder = str(tmp_path / on_disk(name) / "w")
    for _ in range(2):
        with begin_run(None, folder, "replay", lock_timeout=0) as run:
            run.cluster_id = "c"
            run.store.replace("log_range", [("c", 0, 1, None, "record", -1)], "c")
            publish(run)
    with connect(open_warehouse(folder), sealed=True) as connection:
        assert connection.execute("SELECT count(*) FROM log_range").fetchall() == [(1,)]
