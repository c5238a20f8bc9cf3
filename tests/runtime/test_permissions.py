"""Modes and groups of what is written."""

from __future__ import annotations

import os
import stat

import pytest

from aclkit.errors import UsageError
from aclkit.runtime.permissions import (
    current_umask,
    make_folder,
    parse_group,
    parse_mode,
    writing_as,
    writing_like,
)
from aclkit.warehouse.lock import LOCK_NAME, warehouse_lock

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to any group")


def mode(path):
    return oct(stat.S_IMODE(path.stat().st_mode))


@pytest.mark.parametrize(("text", "number"), [("0640", 0o640), ("600", 0o600), ("0664", 0o664)])
def test_a_mode_is_octal(text, number):
    assert parse_mode(text) == number


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "0o640", "689", "0666", "0750", "0440", "1640", "٦٤٠", "9" * 99]
)
def test_a_mode_that_shuts_the_owner_out_or_lets_everybody_write_is_refused(text):
    with pytest.raises(UsageError, match="expected an octal number between 0600 and 0664"):
        parse_mode(text)


def test_a_group_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="The group 'no such group' does not exist"):
        parse_group("no such group")


def test_a_group_of_others_is_refused(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="not a member of the group '54321'"):
        parse_group("54321")


@pytest.mark.parametrize(
    ("given", "umask"), [(None, 0o027), (0o600, 0o077), (0o644, 0o022), (0o660, 0o007)]
)
def test_the_umask_follows_the_mode_and_is_given_back(given, umask):
    before = current_umask()
    with writing_as(given, None):
        assert current_umask() == umask
    assert current_umask() == before


def test_new_folders_are_0750_and_old_ones_stay(tmp_path):
    tmp_path.chmod(0o777)
    with writing_as(None, None):
        make_folder(tmp_path / "a" / "b")
        make_folder(tmp_path)
    assert [mode(tmp_path / "a"), mode(tmp_path / "a/b"), mode(tmp_path)] == [
        "0o750", "0o750", "0o777",
    ]  # fmt: skip


@as_root
def test_a_new_folder_hands_its_group_on(tmp_path):
    with writing_as(None, 12345):
        make_folder(tmp_path / "a" / "b")
        (tmp_path / "a" / "b" / "c").mkdir()
        (tmp_path / "a" / "b" / "c" / "file").touch()
    made = [path.stat().st_gid for path in (tmp_path / "a").rglob("*")]
    assert made == [12345] * 3
    assert tmp_path.stat().st_gid != 12345


def test_a_new_warehouse_lets_nobody_else_in(tmp_path):
    with writing_as(None, None), warehouse_lock(str(tmp_path / "w"), 0):
        assert mode(tmp_path / "w") == "0o750"
        assert mode(tmp_path / "w" / LOCK_NAME) == "0o640"


def test_an_old_warehouse_goes_on_with_its_modes_unless_one_is_given(tmp_path):
    (tmp_path / "job_run").mkdir()
    (tmp_path / "job_run").chmod(0o755)
    with writing_as(None, None), warehouse_lock(str(tmp_path), 0):
        assert current_umask() == 0o022
    with writing_as(0o600, None), warehouse_lock(str(tmp_path), 0):
        assert current_umask() == 0o077
    with writing_as(None, None), writing_like(tmp_path / "none"):
        assert current_umask() == 0o027
