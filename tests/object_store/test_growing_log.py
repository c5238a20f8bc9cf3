"""A metadata log in a bucket that grows, rolls and goes while it is read; and a listing there.

Objects are replaced whole: who copies a log into a bucket again and again puts a longer segment in
the place of the shorter one.
"""

from __future__ import annotations

import pytest

from aclkit.pipeline.replay import intake
from aclkit.pipeline.sources import files
from tests.cli.running import KRAFT, NEWEST, REPLAYED, SEGMENT, Warehouse
from tests.object_store.copies import put_file, put_folder

pytestmark = [pytest.mark.object_store, pytest.mark.timeout(300)]

LISTING = (
    "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name={}, "
    "patternType=LITERAL)`: \n \t(principal=User:u, host=*, operation=READ, "
    "permissionType=ALLOW)\n\n"
)


@pytest.fixture
def short(tmp_path):
    """The folder of a log that ends within a batch, without snapshots."""
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / SEGMENT).write_bytes((KRAFT / SEGMENT).read_bytes()[:40_000])
    return folder


@pytest.fixture
def when_listed(monkeypatch):
    """Do something once, after the files of a source were listed and before they are read."""

    def arrange(work):
        list_items, waiting = intake.items_of, [work]

        def items_of(*source):
            found = list_items(*source)
            if waiting:
                waiting.pop()()
            return found

        monkeypatch.setattr(intake, "items_of", items_of)

    return arrange


def state_of(warehouse):
    names = [name for name in REPLAYED if name not in ("acl_log", "acl_reject")]
    return {name: warehouse.table(name) for name in names}


def test_a_log_that_grows_in_a_bucket_comes_to_the_state_of_the_log_on_a_disk(
    bucket, short, tmp_path
):
    grown, here = Warehouse(tmp_path / "grown"), Warehouse(tmp_path / "here")
    uri = put_folder(short, bucket, "log")
    data = (KRAFT / SEGMENT).read_bytes()
    for size in (50_000, 60_001, len(data)):
        grown.replay(f"metadata-log:{uri}", cluster="c")
        (short / SEGMENT).write_bytes(data[:size])
        put_file(short / SEGMENT, bucket, f"log/{SEGMENT}")
    grown.replay(f"metadata-log:{uri}", cluster="c")
    here.replay(f"metadata-log:{short}", cluster="c")
    assert state_of(grown) == state_of(here)
    assert len(grown.acls()) == 627


def test_a_segment_that_is_replaced_by_a_longer_one_while_it_is_read_loses_nothing(
    bucket, short, tmp_path, when_listed
):
    warehouse = Warehouse(tmp_path / "w")
    uri = put_folder(short, bucket, "log")
    when_listed(lambda: put_file(KRAFT / SEGMENT, bucket, f"log/{SEGMENT}"))
    warehouse.replay(f"metadata-log:{uri}", cluster="c")
    assert warehouse.table("acl_reject") == []
    warehouse.replay(f"metadata-log:{uri}", cluster="c")
    assert len(warehouse.acls()) == 627


def test_an_object_that_goes_before_it_is_read_has_the_log_listed_again(
    bucket, tmp_path, when_listed
):
    from obstore.store import from_url

    warehouse = Warehouse(tmp_path / "w")
    uri = put_folder(KRAFT, bucket, "log")
    snapshots = sorted(path.name for path in KRAFT.glob("*.checkpoint"))
    when_listed(lambda: [from_url(uri).delete(name) for name in snapshots if name != NEWEST])
    warehouse.replay(f"metadata-log:{uri}", cluster="c")
    assert len(warehouse.acls()) == 627


def test_a_listing_in_a_bucket_is_a_source_and_its_replacement_is_the_next_state(bucket, tmp_path):
    warehouse = Warehouse(tmp_path / "w")
    (tmp_path / "acls.txt").write_text(LISTING.format("a") + LISTING.format("b"), encoding="utf-8")
    uri = put_file(tmp_path / "acls.txt", bucket, "acls.txt")
    warehouse.replay(f"acls-list:{uri}", cluster="c")
    assert sorted(acl[1] for acl in warehouse.acls()) == ["a", "b"]
    (tmp_path / "acls.txt").write_text(LISTING.format("b"), encoding="utf-8")
    put_file(tmp_path / "acls.txt", bucket, "acls.txt")
    warehouse.replay(f"acls-list:{uri}", cluster="c")
    assert [acl[1] for acl in warehouse.acls()] == ["b"]


def test_a_store_that_fails_while_the_log_is_read_ends_with_its_exit_code_and_changes_nothing(
    bucket, tmp_path
):
    warehouse = Warehouse(tmp_path / "w")
    uri = put_folder(KRAFT, bucket, "log")
    bucket.store.fail("deny", "GET", f"*{SEGMENT}")
    result = warehouse.replay(f"metadata-log:{uri}", cluster="c", code=4)
    assert SEGMENT in result.output
    bucket.store.reset()
    warehouse.replay(f"metadata-log:{uri}", cluster="c")
    assert len(warehouse.acls()) == 627
    assert files.is_directory(uri)
