"""Modes and groups of whole trees: what Spark, deltalake and Python write, under any umask."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections import Counter

import pytest

from tests.cli.running import SYNTHETIC, Warehouse, run

GROUP = 12345
REPLAY = ("replay", "--source", f"metadata-log:{SYNTHETIC / 'basic'}")

own_jvm = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.usefixtures("spark"),
]


def command(*arguments, umask):
    """Run aclkit in a process and a JVM of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "from aclkit.cli import cli; cli()", *map(str, arguments)],
        env={**os.environ}, umask=umask,
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def modes(folder):
    """Count kinds, modes and groups of a folder and of all that is in it."""
    found = Counter()
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        kind = "folder" if stat.S_ISDIR(status.st_mode) else "file"
        found[kind, f"{stat.S_IMODE(status.st_mode):04o}", status.st_gid] += 1
    return found


class TestNewWarehouse:
    pytestmark = own_jvm

    @pytest.mark.parametrize("umask", [0o000, 0o077])
    def test_it_is_0750_and_0640_whatever_the_umask(self, tmp_path, umask):
        command("--warehouse", tmp_path / "a" / "w", "demo", umask=umask)
        mine = os.getegid()
        assert set(modes(tmp_path / "a")) == {("folder", "0750", mine), ("file", "0640", mine)}

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to any group")
    def test_it_has_the_mode_and_the_group_that_were_asked_for(self, tmp_path):
        asked = ("--file-mode", "0660", "--file-group", GROUP)
        command("--warehouse", tmp_path / "w", *asked, *REPLAY, umask=0o022)
        wanted = {("folder", "2770", GROUP), ("file", "0660", GROUP)}
        assert set(modes(tmp_path / "w")) == wanted


class TestOldWarehouse:
    pytestmark = own_jvm

    def test_it_keeps_its_modes_and_what_is_new_has_them_too(self, tmp_path):
        warehouse = Warehouse(tmp_path / "w")
        command("--warehouse", warehouse.path, "--file-mode", "0644", *REPLAY, umask=0o077)
        before = modes(warehouse.path)
        assert {mode for _, mode, _ in before} == {"0755", "0644"}
        command("--warehouse", warehouse.path, "materialize", umask=0o077)
        after = modes(warehouse.path)
        assert after.keys() == before.keys()
        assert sum(after.values()) > sum(before.values())


@pytest.mark.usefixtures("spark")
def test_new_reports_are_0640_and_what_a_collector_reads_0644(demo_warehouse, tmp_path):
    folder = tmp_path / "reports"
    forms = [word for form in ("html", "prometheus") for word in ("--format", form)]
    run("--warehouse", demo_warehouse, "report", *forms, "--output-dir", folder)
    assert {path.name: oct(path.stat().st_mode & 0o7777) for path in folder.iterdir()} == {
        "report.html": "0o640",
        "aclkit.prom": "0o644",
    }
    assert oct(folder.stat().st_mode & 0o7777) == "0o750"

    folder.chmod(0o755)
    (folder / "report.html").chmod(0o604)
    run("--warehouse", demo_warehouse, "report", *forms, "--output-dir", folder)
    assert oct((folder / "report.html").stat().st_mode & 0o7777) == "0o604"
    assert oct(folder.stat().st_mode & 0o7777) == "0o755"

    for form, mode in (("prometheus", "0o644"), ("json", "0o640")):
        run("--warehouse", demo_warehouse, "report", "--format", form, "-o", tmp_path / form)
        assert oct((tmp_path / form).stat().st_mode & 0o7777) == mode


@pytest.mark.usefixtures("spark")
def test_exports_are_0640_unless_something_else_is_asked_for(demo_warehouse, tmp_path, monkeypatch):
    export = ("export", "acls", "--format", "csv", "--output")
    run("--warehouse", demo_warehouse, *export, tmp_path / "a")
    run("--warehouse", demo_warehouse, "--file-mode", "0600", *export, tmp_path / "b")
    assert [oct((tmp_path / name).stat().st_mode & 0o7777) for name in "ab"] == ["0o640", "0o600"]
    (tmp_path / "c.toml").write_text('file_mode = "0604"\n', encoding="utf-8")
    run("--warehouse", demo_warehouse, "--config", tmp_path / "c.toml", *export, tmp_path / "c")
    monkeypatch.setenv("ACLKIT_FILE_MODE", "0644")
    run("--warehouse", demo_warehouse, *export, tmp_path / "d", "--config", tmp_path / "c.toml")
    assert [oct((tmp_path / name).stat().st_mode & 0o7777) for name in "cd"] == ["0o604", "0o644"]
    told = run("--file-mode", "0666", "completion", "bash", code=2).stderr
    assert told == (
        "Error: Invalid file mode '0666': expected an octal number between 0600 and 0664, "
        "such as 0640\n"
    )
