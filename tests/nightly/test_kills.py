"""Runs killed at one commit after the other, on fresh tables and on old ones.

After each kill readers see what was published before, and the run that is
started again ends in the tables of one that nobody disturbed.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from contextlib import ExitStack
from subprocess import PIPE

import pytest

from aclkit.runtime import fail_points
from aclkit.warehouse.maintenance import PRUNED
from aclkit.warehouse.schemas import TABLES
from tests.cli.running import Warehouse
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, Nights
from tests.warehouse.aging import Killed, age, be_older_aclkit, kill_at

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.slow, pytest.mark.timeout(3_000)]

COMPARED = tuple(name for name in TABLES if name != "job_run")
QUESTION = ("who-can", "ANY", "topic:pay.in", "--all", "--format", "csv")
NEVER_FAIL = ("--fail-on", "never")


@pytest.fixture(scope="module", params=[0, 40], ids=lambda days: f"{days}-days-old")
def night(_session, tmp_path_factory, request):
    """A warehouse one night old, of this aclkit or, where it is aged, of an older one."""
    nights = Nights(tmp_path_factory.mktemp("night"))
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            be_older_aclkit(patch)
        # So that the next night writes its checkpoints too: every tenth version of a table has one.
        for lines in (FIRST_NIGHT, *([line] for line in SECOND_NIGHT[:1])):
            assert nights.run(*lines, options=NEVER_FAIL).exit_code == 0
    age(nights.folder / "warehouse", request.param)
    return nights


def copy(nights, folder):
    """Copy a warehouse and what its next night reads."""
    shutil.copytree(nights.folder, folder)
    other = Nights(folder)
    other.lines = list(nights.lines)
    return other


def seen(nights):
    return Warehouse(nights.folder / "warehouse").tables(COMPARED)


def answers(nights):
    here = nights.call(*QUESTION)
    assert here.exit_code == 0, here.output
    return here.stdout


def commits_of(nights, work):
    """Do the work undisturbed, and count its commits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fail_points, "_commits", counter := itertools.count(1))
        result = work(nights)
        assert result.exit_code == 0, result.output
        return next(counter) - 1


def kill_and_start_again(nights, tmp_path, work, kills):
    """Kill the work at commits spread over all of it, and start it again each time."""
    done = copy(nights, tmp_path / "undisturbed")
    commits = commits_of(done, work)
    before, after, answer = seen(nights), seen(done), answers(nights)
    assert before != after or answer == answers(done)
    points = sorted({1 + n * (commits - 1) // (kills - 1) for n in range(kills)})
    for point in points:
        killed = copy(nights, tmp_path / f"commit-{point}")
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, f"commit-{point}")
            with pytest.raises(Killed):
                work(killed)
        now = seen(killed)
        assert now in (before, after), f"commit {point} of {commits}"
        assert (now == after) == (point == commits) or before == after
        assert answers(killed) in (answer, answers(done))
        # Behind its last commit the work is done: to start it again is another run of it.
        if point < commits:
            result = work(killed)
            assert result.exit_code == 0, result.output
            assert seen(killed) == after, f"commit {point} of {commits}"
        shutil.rmtree(killed.folder)
    return len(points)


def test_a_night_killed_at_any_commit(night, tmp_path):
    def work(nights):
        nights.lines = [*FIRST_NIGHT, *SECOND_NIGHT]
        return nights.run(options=NEVER_FAIL)

    assert kill_and_start_again(night, tmp_path, work, 12) == 12


def test_maintenance_killed_at_any_commit(night, tmp_path):
    def work(nights):
        return nights.call("maintain", "--keep-days", "0", "--keep-runs", "1")

    assert kill_and_start_again(night, tmp_path, work, 6) == 6


def test_maintenance_killed_while_it_removes_files(night, tmp_path):
    killed = copy(night, tmp_path / "removing")
    # The run that decided and the one before it stay, however old: of three, one goes.
    assert killed.run(*SECOND_NIGHT[1:], options=NEVER_FAIL).exit_code == 0
    answer, before = answers(killed), seen(killed)
    command = ("maintain", "--keep-days", "0", "--keep-runs", "1")
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, "while-removing")
        with pytest.raises(Killed):
            killed.call(*command)
    assert answers(killed) == answer
    assert killed.call(*command).exit_code == 0
    assert answers(killed) == answer
    after = seen(killed)
    assert {name: after[name] for name in before if name not in PRUNED} == {
        name: before[name] for name in before if name not in PRUNED
    }


def test_usage_killed_at_any_commit(night, tmp_path):
    log = tmp_path / "authorizer.log"
    log.write_text(LINE, encoding="utf-8")

    def work(nights):
        return nights.call("usage", "--authorizer-log", str(log))

    assert kill_and_start_again(night, tmp_path, work, 6) >= 4


def test_two_runs_at_once_follow_one_another(night, tmp_path):
    both, one = copy(night, tmp_path / "both"), copy(night, tmp_path / "one")
    source = both.folder / "records.jsonl"
    source.write_text("\n".join([*FIRST_NIGHT, *SECOND_NIGHT]) + "\n", encoding="utf-8")
    command = [
        *(sys.executable, "-c", "from aclkit.cli import cli; cli()"),
        *("--warehouse", str(both.folder / "warehouse"), "run"),
        *("--source", f"records:{source}", "--lock-timeout", "600", *NEVER_FAIL),
    ]
    with ExitStack() as stack:
        runs = [stack.enter_context(subprocess.Popen(command, stderr=PIPE, stdout=PIPE))
                for _ in range(2)]  # fmt: skip
        told = [run.communicate(timeout=1_200) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], told
    one.lines = [*FIRST_NIGHT, *SECOND_NIGHT]
    assert one.run(options=NEVER_FAIL).exit_code == 0
    assert seen(both) == seen(one)
    assert answers(both) == answers(one)
    numbers = [run.run_number for run in Warehouse(both.folder / "warehouse").published().runs]
    assert numbers == list(range(len(numbers)))


def test_assert_writes_nothing(night, tmp_path):
    policy = tmp_path / "assertions.toml"
    policy.write_text('[[never]]\nname = "eve"\nprincipals = ["User:eve"]\n', encoding="utf-8")
    root = night.folder / "warehouse"
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    result = night.call("assert", str(policy))
    assert result.exit_code in (0, 1), result.output
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


LINE = (
    "[2026-11-21 09:20:00,000] DEBUG Principal = User:bob is Allowed operation = READ from host = "
    "10.0.0.1 on resource = Topic:LITERAL:pay.in for request = Fetch with resourceRefCount = 1 "
    "based on rule MatchingAcl(acl=StandardAcl(resourceType=TOPIC, resourceName=pay.in, "
    "patternType=LITERAL, principal=User:bob, host=*, operation=READ, permissionType=ALLOW)) "
    "(kafka.authorizer.logger)\n"
)
