"""Files of controllers → requests that change ACLs, heartbeats, and what was not read."""

from __future__ import annotations

import gzip

from aclkit.questions.by_whom.match import ADDED, REMOVED
from aclkit.questions.by_whom.read_log import read_controller_log
from tests.questions.usage.pasts import LOG

SECOND = 1_000_000


def line(seconds, request="CreateAcls", who="User:a", verb="Allowed", operation="ALTER"):
    return (
        f"[1970-01-01 00:00:{seconds:02d},000] DEBUG Principal = {who} is {verb} operation = "
        f"{operation} from host = 10.0.0.9 on resource = Cluster:LITERAL:kafka-cluster for "
        f"request = {request} with resourceRefCount = 1 based on rule SuperUser "
        "(kafka.authorizer.logger)\n"
    )


def read(tmp_path, *lines, zone="UTC"):
    path = tmp_path / "kafka-authorizer.log"
    path.write_text("".join(lines), encoding="utf-8")
    return read_controller_log([str(path)], zone)


def test_a_real_log_has_two_creates_a_delete_and_a_heartbeat_every_2_seconds():
    log = read_controller_log([str(LOG)], "UTC")
    assert [sent.change for sent in log.requests] == [ADDED, REMOVED, ADDED]
    assert {(sent.principal, sent.host) for sent in log.requests} == {("User:admin", "127.0.0.1")}
    pauses = [b - a for a, b in zip(log.heartbeats, log.heartbeats[1:], strict=False)]
    assert max(pauses) < 2.1 * SECOND
    assert len(log.doubts) == 2


def test_what_is_denied_or_another_request_changes_no_acl(tmp_path):
    log = read(
        tmp_path,
        line(1, verb="Denied"),
        line(2, "DescribeAcls", operation="DESCRIBE"),
        line(3, "BrokerHeartbeat", verb="Denied", operation="CLUSTER_ACTION"),
    )
    assert (log.requests, log.heartbeats) == ([], [])


def test_times_are_of_the_zone(tmp_path):
    log = read(tmp_path, line(3), zone="-01:00")
    assert log.requests[0].first == (3_600 + 3) * SECOND


def test_gzipped_files_of_several_controllers_are_read_together(tmp_path):
    paths = []
    for number in (1, 2):
        path = tmp_path / f"{number}.gz"
        path.write_bytes(gzip.compress(line(number, who=f"User:{number}").encode()))
        paths.append(str(path))
    log = read_controller_log(paths, "UTC")
    assert [sent.principal for sent in log.requests] == ["User:1", "User:2"]
    assert log.files == 2


def test_a_request_that_cannot_be_read_is_a_doubt_at_its_time(tmp_path):
    unread = line(3).replace("resourceRefCount", "count")
    assert (3 * SECOND, 4 * SECOND) in read(tmp_path, unread, line(4)).doubts
    assert (3 * SECOND, 7 * SECOND) in read(tmp_path, unread).doubts


def test_a_request_without_a_time_is_a_doubt_between_its_neighbours(tmp_path):
    bare = line(3).partition("DEBUG ")[2]
    log = read(tmp_path, line(2, "BrokerHeartbeat"), bare, line(5, "BrokerHeartbeat"))
    assert (2 * SECOND, 5 * SECOND) in log.doubts
    assert not log.requests


def test_a_principal_that_imitates_a_line_is_a_doubt(tmp_path):
    feigned = line(0, who="User:admin").partition("Principal = ")[2].rpartition(" based on")[0]
    log = read(tmp_path, line(1), line(3, who=feigned), line(9))
    assert {sent.first for sent in log.requests} == {1 * SECOND, 9 * SECOND}
    assert (3 * SECOND, 9 * SECOND) in log.doubts


def test_a_principal_with_a_line_break_is_read_or_a_doubt_never_another_one(tmp_path):
    log = read(tmp_path, line(1), line(3, who="User:a\nb"), line(9))
    is_doubt = any(first <= 3 * SECOND <= last for first, last in log.doubts)
    assert is_doubt or "User:a\nb" in [sent.principal for sent in log.requests]


def test_lines_can_be_lost_where_a_file_begins_or_ends(tmp_path):
    log = read(tmp_path, line(1), line(2), line(3))
    assert log.doubts == [(1 * SECOND, 1 * SECOND), (3 * SECOND, 3 * SECOND)]


def test_a_damaged_archive_is_read_up_to_the_damage(tmp_path):
    path = tmp_path / "a.gz"
    whole = gzip.compress("".join(line(n % 60, who=f"User:{n}") for n in range(500)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    assert 0 < len(read_controller_log([str(path)], "UTC").requests) < 500
