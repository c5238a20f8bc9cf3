"""Sources, named files and reports at URIs of a bucket."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.errors import SurroundingsError, UsageError
from aclkit.pipeline.replay.intake import imprint_of, look_at, parse_source
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.sources import files
from aclkit.runtime.atomic_file import open_atomically, write_atomically
from tests.cli.running import KRAFT, SEGMENT
from tests.object_store.copies import put_file, put_folder

OPTIONS = ReplayOptions()


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_files_of_a_bucket_are_listed_and_read_under_every_name_of_s3(bucket, scheme):
    put_folder(KRAFT, bucket, "log")
    folder = f"{scheme}://{bucket.name}/log"
    found = files.list_files(folder)
    assert found == [f"{folder}/{name}" for name in sorted(path.name for path in KRAFT.iterdir())]
    assert files.read_bytes(f"{folder}/{SEGMENT}") == (KRAFT / SEGMENT).read_bytes()
    assert files.is_directory(folder)
    with pytest.raises(UsageError, match="the file or directory does not exist"):
        files.is_directory(f"{scheme}://{bucket.name}/nowhere")


def test_a_log_of_a_bucket_is_found_as_that_of_a_folder(bucket):
    uri = put_folder(KRAFT, bucket, "log")
    here = look_at([parse_source(f"metadata-log:{KRAFT}")])
    there = look_at([parse_source(f"metadata-log:{uri}")])
    assert [item.path.removeprefix(uri) for item in there.items] == [
        item.path.removeprefix(str(KRAFT)) for item in here.items
    ]
    assert there.cluster_ids == here.cluster_ids


def test_the_imprint_of_a_log_in_a_bucket_follows_every_byte(bucket, tmp_path):
    folder = tmp_path / "log"
    shutil.copytree(KRAFT, folder)
    uri = put_folder(folder, bucket, "log")

    def taken():
        found = imprint_of(look_at([parse_source(f"metadata-log:{uri}")]), OPTIONS)
        assert found is not None
        return found

    before = taken()
    assert taken() == before
    assert before.holds()
    data = bytearray((folder / SEGMENT).read_bytes())
    data[40_000] ^= 1
    (folder / SEGMENT).write_bytes(data)
    put_file(folder / SEGMENT, bucket, f"log/{SEGMENT}")
    assert taken().digest != before.digest
    (folder / SEGMENT).write_bytes(data + b"\0")
    put_file(folder / SEGMENT, bucket, f"log/{SEGMENT}")
    assert not before.holds()


def test_a_listing_of_a_bucket_is_a_side_of_a_proof(bucket, tmp_path):
    listing = tmp_path / "acls.txt"
    listing.write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=a, "
        "patternType=LITERAL)`: \n \t(principal=User:u, host=*, operation=READ, "
        "permissionType=ALLOW)\n"
    )
    uri = put_file(listing, bucket, "acls.txt")
    told = CliRunner().invoke(cli, ["diff", str(listing), uri, "--fail-on", "any"])
    assert told.exit_code == 0, told.output
    assert "Proven for every name" in told.stdout


@pytest.mark.parametrize("text", ["", "new\r\n", "é" * 100_000])
def test_what_is_written_to_a_uri_is_one_object_with_these_very_bytes(bucket, text):
    uri = f"{bucket.uri}/reports/a b.txt"
    write_atomically(uri, "old")
    write_atomically(uri, text)
    assert set(bucket.keys()) == {"reports/a b.txt"}
    from obstore.store import from_url

    assert bytes(from_url(f"{bucket.uri}/reports").get("a b.txt").bytes()) == text.encode()


def test_what_failed_half_way_leaves_what_was_there(bucket):
    uri = f"{bucket.uri}/report.txt"
    write_atomically(uri, "old")
    with pytest.raises(ZeroDivisionError), open_atomically(uri) as file:
        file.write(str(1 / 0))
    assert files.read_bytes(uri) == b"old"


@pytest.mark.parametrize(
    ("uri", "error", "says"),
    [
        ("nowhere://x/report.txt", UsageError, "expected a path, or a URI of s3a, gs or abfss"),
        ("s3a://bucket", UsageError, "expected a path after the bucket's name"),
        ("s3a://bucket/folder/", UsageError, "expected a path after the bucket's name"),
    ],
)
def test_a_uri_that_cannot_be_written_is_told(uri, error, says):
    with pytest.raises(error, match=says):
        write_atomically(uri, "x")


def test_a_report_that_the_store_refuses_is_told_in_one_line(bucket):
    bucket.store.fail("deny", "PUT", "*report.txt")
    with pytest.raises((OSError, SurroundingsError)) as told:
        write_atomically(f"{bucket.uri}/report.txt", "x")
    assert "report.txt" in str(told.value)
    assert "\n" not in str(told.value)
