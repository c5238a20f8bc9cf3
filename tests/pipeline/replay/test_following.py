"""A log that is followed: no change of it is missed, and nothing is read twice."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.facts import FACT, RANGE, RECORD
from aclkit.pipeline.replay import following
from aclkit.pipeline.replay.following import ContentFollower, FileContent, Following, LogFollower
from aclkit.pipeline.replay.intake import Source, look_at
from aclkit.pipeline.sources.items import metadata_log_items
from aclkit.pipeline.sources.metadata_log import list_metadata_log
from aclkit.pipeline.sources.readers import read_item
from tests.pipeline.sources.growing_log import GrowingLog, numbered
from tests.pipeline.sources.log_bytes import NO_OP, acl_record, batch, flipped


class Reader:
    """Follows a log and keeps what a run would have read of it: offset → (epoch, ACL)."""

    def __init__(self, log):
        self.log, self.known, self.wholes, self.tails = log, {}, 0, 0
        self.follower = LogFollower(str(log.folder))

    def poll(self):
        news = self.follower.look()
        if news is None:
            return None
        if news.tail is None:
            self.wholes += 1
            self.follower.begin(list_metadata_log(str(self.log.folder)))
            self.take(self.read_whole())
        else:
            self.tails += 1
            self.take(news.tail)
        self.follower.end()
        return news

    def take(self, rows):
        """A range that is read again in a higher epoch withdraws what followed its beginning."""
        for row in rows:
            if row.kind == RANGE and row.fact == RECORD:
                above = [
                    o for o, (epoch, _) in self.known.items()
                    if o >= row.from_offset and epoch < row.epoch
                ]  # fmt: skip
                for offset in above:
                    del self.known[offset]
        for row in rows:
            if row.kind == FACT and row.fact == RECORD:
                self.known[row.log_offset] = (row.epoch, row.acl_id)

    def read_whole(self):
        items = metadata_log_items(str(self.log.folder))
        return [row for item in items for row in read_item(item)]

    def truth(self):
        rows = [row for row in self.read_whole() if row.kind == FACT]
        return {row.log_offset: (row.epoch, row.acl_id) for row in rows}

    def restart(self):
        """End, and go on from what was noted, if anything was."""
        state = self.follower.state()
        self.follower = LogFollower(str(self.log.folder))
        if state is not None:
            assert self.follower.resume(json.loads(json.dumps(state)))


@pytest.fixture
def log(tmp_path):
    return GrowingLog(tmp_path / "__cluster_metadata-0")


@pytest.fixture
def reader(log):
    log.add()
    reader = Reader(log)
    reader.poll()
    assert (reader.wholes, reader.poll()) == (1, None)
    return reader


def test_idle_records_are_no_news(log, reader):
    log.idle(50)
    assert reader.poll() is None
    assert reader.follower.offset == log.end


def test_a_new_acl_is_read_with_all_offsets_since_the_last_run(log, reader):
    start = log.end
    log.idle(3)
    assert reader.poll() is None
    made = log.add()
    tail = reader.poll().tail
    assert [row.acl_id for row in tail if row.kind == FACT] == [made.acl_id]
    (read,) = [(row.from_offset, row.to_offset) for row in tail if row.kind == RANGE]
    assert read == (start, log.end)
    assert reader.poll() is None


def test_what_no_run_has_published_is_found_again(log, reader):
    first, second = log.add(), None
    assert reader.follower.look().tail
    second = log.add()
    ids = [row.acl_id for row in reader.poll().tail if row.kind == FACT]
    assert ids == [first.acl_id, second.acl_id]


@pytest.mark.parametrize("free", [0, 10, 5_000, 100_000])
def test_a_segment_that_was_allocated_beforehand_does_not_grow_and_is_read_all_the_same(
    log, reader, free
):
    log.append(NO_OP, free=free)
    assert reader.poll() is None
    log.add(free=max(0, free - 200))
    assert reader.poll().tail
    assert reader.known == reader.truth()


def test_a_segment_is_read_to_its_end_before_the_next_one(log, reader):
    log.add()
    log.roll()
    log.add()
    log.roll()
    assert reader.poll().tail
    assert (reader.wholes, reader.known) == (1, reader.truth())


def test_old_segments_may_go(log, reader):
    log.roll()
    log.add()
    reader.poll()
    log.clean()
    assert reader.poll() is None


def test_a_log_that_was_cut_and_goes_on_in_a_higher_epoch_is_read_as_a_whole(log, reader):
    log.add()
    reader.poll()
    log.cut(1)
    log.add()
    assert reader.poll().tail is None
    assert reader.known == reader.truth()


def test_a_log_that_was_cut_behind_an_empty_segment_is_not_taken_for_the_same(log, reader):
    log.add()
    log.roll()
    reader.poll()
    assert reader.poll() is None
    base = log.bases[-1]
    log.cut(1)
    log.idle()
    log.roll()
    assert log.bases[-1] == base
    assert reader.poll().tail is None
    assert reader.known == reader.truth()


def test_the_end_of_a_log_is_that_of_its_last_batch_whatever_is_empty_after_it(log, reader):
    log.roll()
    reader.follower.begin(list_metadata_log(str(log.folder)))
    reader.follower.end()
    assert (reader.follower.offset, reader.poll()) == (log.end, None)
    log.add()
    assert reader.poll().tail


def test_an_epoch_without_the_record_of_its_leader_is_left_to_a_whole_reading(log, reader):
    log.epoch += 1
    log.add()
    assert reader.poll().tail is None


def test_a_batch_that_is_being_written_is_waited_for(log, reader):
    log.add()
    log.tear(80)
    assert reader.poll() is None
    assert reader.poll() is None
    log.mend()
    assert reader.poll().tail


def test_bytes_that_are_not_there_yet_are_waited_for_once_and_then_are_damage(log, reader):
    log.add()
    path = log.path(0)
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, len(whole) - 3))
    assert reader.poll() is None
    news = reader.poll()
    assert news.tail is None
    assert "holds no batch" in news.why
    assert reader.poll() is None, "a whole reading has met it"
    path.write_bytes(whole)
    assert reader.poll() is not None


def test_damage_between_sound_batches_is_left_to_a_whole_reading(log, reader):
    log.add()
    log.add()
    path = log.path(0)
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, len(whole) - 200))
    assert reader.poll().tail is None


def test_a_snapshot_of_what_is_known_is_no_news_and_one_ahead_of_the_log_is(log, reader):
    (log.folder / f"{log.end:020}-0000000001.checkpoint").write_bytes(batch(0, NO_OP))
    assert reader.poll() is None
    (log.folder / f"{log.end + 50:020}-0000000001.checkpoint").write_bytes(batch(0, NO_OP))
    assert reader.poll().tail is None
    assert reader.poll() is None, "a whole reading has met it"


def test_a_record_of_an_unknown_type_is_a_reject_at_its_byte_of_the_file(log, reader):
    size = log.path(0).stat().st_size
    log.append(bytes([1, 120, 0, 0]))
    (reject,) = [row for row in reader.poll().tail if row.kind == "reject"]
    assert reject.position == size
    assert reject in [row for row in reader.read_whole() if row.kind == "reject"]


def test_a_later_process_goes_on_where_an_earlier_one_ended(log, reader):
    log.idle(5)
    reader.poll()
    reader.restart()
    log.add()
    assert reader.poll().tail
    assert (reader.wholes, reader.known) == (1, reader.truth())


def test_what_is_not_published_is_not_noted(log, reader):
    log.add()
    reader.follower.look()
    assert reader.follower.state() is None


def test_a_state_of_another_kind_is_refused():
    assert not LogFollower("x").resume({"place": {"segment": "x"}, "ranges": []})
    assert not LogFollower("x").resume({})


def test_a_batch_that_is_larger_than_a_part_is_read(log, reader):
    log.append(*[acl_record(numbered(number + 10_000)) for number in range(2_000)])
    assert len([row for row in reader.poll().tail if row.kind == FACT]) == 2_000


STEPS = st.lists(
    st.one_of(
        st.sampled_from(["poll", "restart", "add", "idle", "roll", "clean", "mend", "forget"]),
        st.tuples(st.just("cut"), st.integers(1, 4)),
        st.tuples(st.just("tear"), st.integers(0, 120)),
        st.tuples(st.just("add"), st.integers(0, 300)),
    ),
    max_size=30,
)


@given(steps=STEPS)
@settings(max_examples=150, deadline=None)
def test_whatever_happens_to_a_log_what_was_read_of_it_is_what_it_holds(steps):
    with tempfile.TemporaryDirectory() as folder:
        log = GrowingLog(Path(folder) / "__cluster_metadata-0")
        reader = Reader(log)
        for step in steps:
            name, *how = (step,) if isinstance(step, str) else step
            if name == "forget":  # a run that failed
                reader.follower.look()
            else:
                getattr(reader if name in ("poll", "restart") else log, name)(*how)
        log.mend()
        log.add()
        reader.poll()
        assert reader.poll() is None
        known = {o: fact for o, fact in reader.known.items() if o >= log.bases[0]}
        assert known == reader.truth()


def test_a_file_is_read_again_only_where_its_look_has_changed(tmp_path, monkeypatch):
    path = tmp_path / "acls.txt"
    path.write_text("one", encoding="utf-8")
    old = path.stat().st_mtime - 60
    os.utime(path, (old, old))
    follower = ContentFollower("the file", FileContent(str(path)))
    assert follower.look().why == "the file has changed"
    follower.begin()
    follower.end()
    monkeypatch.setattr(following, "open_stream", None)
    assert follower.look() is None


def test_a_file_that_was_just_written_is_compared_by_its_bytes(tmp_path):
    path = tmp_path / "acls.txt"
    path.write_text("one", encoding="utf-8")
    follower = ContentFollower("the file", FileContent(str(path)))
    follower.look()
    follower.end()
    look = path.stat()
    path.write_text("two", encoding="utf-8")
    os.utime(path, ns=(look.st_atime_ns, look.st_mtime_ns))
    assert follower.look() is not None


def test_a_file_that_goes_is_news_and_no_error(tmp_path):
    path = tmp_path / "mutes.toml"
    path.write_text("", encoding="utf-8")
    follower = ContentFollower("the file", FileContent(str(path)))
    follower.look()
    follower.end()
    path.unlink()
    assert follower.look() is not None


def test_a_file_of_an_option_makes_the_sources_be_read_as_a_whole(log, tmp_path):
    log.add()
    mutes = tmp_path / "mutes.toml"
    mutes.write_text("", encoding="utf-8")
    both = Following(looked(log), [str(mutes)])
    both.begin(lambda: looked(log))
    both.end()
    assert both.look() is None
    state = both.state()
    log.add()
    assert both.look().tail
    mutes.write_text("# changed", encoding="utf-8")
    assert both.look().tail is None
    later = Following(looked(log), [str(mutes)])
    assert not later.resume(state), "the file has changed since"


def looked(log):
    return look_at([Source("metadata-log", str(log.folder))])


def test_the_place_is_the_end_of_the_files_that_were_listed(log):
    log.add()
    both = Following(looked(log))

    def listing_just_before_the_log_rolls():
        intake = looked(log)
        log.roll()
        log.add()
        return intake

    intake = both.begin(listing_just_before_the_log_rolls)
    both.end()
    assert len(intake.items) == 1
    (new,) = [row.acl_id for row in both.look().tail if row.kind == FACT]
    assert new == numbered(2).acl_id


def test_of_several_logs_each_place_is_of_its_own_listing(log, tmp_path):
    other = GrowingLog(tmp_path / "other" / "__cluster_metadata-0")
    sources = [Source("metadata-log", str(each.folder)) for each in (log, other)]
    both = Following(look_at(sources))

    def listing():
        intake = look_at(sources)
        other.roll()
        other.add()
        return intake

    log.add()
    other.add()
    both.begin(listing)
    both.end()
    found = [row for row in both.look().tail if row.kind == FACT]
    assert [(row.source, row.acl_id) for row in found] == [
        (str(other.path(other.bases[-1])), numbered(2).acl_id)
    ]


def test_a_run_that_listed_again_leaves_no_place(log):
    log.add()
    one = Following(looked(log))
    one.begin(lambda: looked(log))
    one.end(is_listed_again=True)
    assert (one.state(), one.look().tail) == (None, None)


def test_a_log_of_which_a_file_goes_before_its_end_is_found_has_no_place(log):
    log.add()
    log.roll()
    one = Following(looked(log))

    def listing():
        intake = looked(log)
        log.path(log.bases[-1]).unlink()
        return intake

    one.begin(listing)
    one.end()
    assert one.look().tail is None


def test_a_content_is_noted_before_the_source_is_read(tmp_path):
    text = tmp_path / "acls.txt"
    text.write_text(
        f"Current ACLs for resource `{PATTERN}`:\n\t{ENTRY.format('bob')}\n", encoding="utf-8"
    )
    source = [Source("acls-list", str(text))]
    one = Following(look_at(source))

    def reading_just_before_it_is_written():
        intake = look_at(source)
        text.write_text(
            text.read_text(encoding="utf-8") + f"\t{ENTRY.format('eve')}\n", encoding="utf-8"
        )
        return intake

    one.begin(reading_just_before_it_is_written)
    one.end()
    assert "has changed" in one.look().why


PATTERN = "ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)"
ENTRY = "(principal=User:{}, host=*, operation=READ, permissionType=ALLOW)"
