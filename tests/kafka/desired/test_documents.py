"""Paths → documents: a stranger's links and file names lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.kafka.desired import documents, model
from aclkit.kafka.desired.documents import read_documents
from aclkit.runtime.safe_read import read_file
from tests.on_disk import on_disk

SECRET = "machine git.example.com password TOPSECRET"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A branch's files, with a token in its .git, and a file of the runner's beside it."""
    folder = tmp_path / "checkout"
    for name in ("users", "ci", ".git", "..2026"):
        (folder / name).mkdir(parents=True)
    (folder / "users" / "a.yaml").write_text("a: 1", encoding="utf-8")
    (folder / "ci" / "b.yaml").write_text("b: 1", encoding="utf-8")
    (folder / ".git" / "config").write_text(SECRET, encoding="utf-8")
    (folder / "..2026" / "c.yaml").write_text("c: 1", encoding="utf-8")
    (tmp_path / "netrc").write_text(SECRET, encoding="utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.yaml").write_text(SECRET, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def texts(*paths):
    found = read_documents(paths, lambda path: read_file(path, 1_000))
    return [document.text for document, _ in found]


LINKS = {
    "users/x.yaml": "../../netrc",
    "users/y.yaml": "../.git/config",
    "users/z.yaml": "../ci/b.yaml",
    "users/absolute.yaml": "/proc/self/environ",
    "x.yaml": ".git/config",
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("how", ["folder", "glob", "file", "absolute"])
def test_a_link_out_of_what_was_named_is_refused(checkout, link, how):
    (checkout / link).symlink_to(LINKS[link])
    folder = str(Path(link).parent)
    named = {
        "folder": folder,
        "glob": f"{folder}/*.yaml",
        "file": link,
        "absolute": checkout / link,
    }
    with pytest.raises(UsageError, match="symbolic link") as refused:
        texts(str(named[how]))
    assert "TOPSECRET" not in str(refused.value)


@pytest.mark.parametrize("target", ["../other", ".git", "/"])
@pytest.mark.parametrize("how", ["linked", "linked/*", "linked/x.yaml", "linked/*.yaml"])
def test_a_linked_folder_is_no_way_out_of_the_current_one(checkout, target, how):
    (checkout / "linked").symlink_to(target)
    (checkout / ".git" / "x.yaml").write_text(SECRET, encoding="utf-8")
    with pytest.raises(UsageError, match=r"symbolic link|no file has such a name"):
        texts(how)


def test_a_linked_folder_under_a_glob_is_no_way_out(checkout):
    (checkout / "users" / "linked").symlink_to("../../other")
    with pytest.raises(UsageError, match="symbolic link"):
        texts("users/*/x.yaml")


def test_links_within_what_was_named_are_followed(checkout, tmp_path):
    (checkout / "..data").symlink_to("..2026")
    (checkout / "c.yaml").symlink_to("..data/c.yaml")  # as Kubernetes mounts a ConfigMap
    (checkout / "d.yaml").symlink_to("users/a.yaml")
    assert texts("c.yaml", "d.yaml") == ["c: 1", "a: 1"]
    assert sorted(texts(".")) == ["a: 1", "a: 1", "b: 1", "c: 1"]
    (tmp_path / "way").symlink_to(checkout)  # a link of the user's own on the way
    assert texts(str(tmp_path / "way" / "users")) == ["a: 1"]


def test_what_a_shell_opened_is_read_wherever_it_lies(tmp_path):
    (tmp_path / "f.yaml").write_text("f: 1", encoding="utf-8")
    with (tmp_path / "f.yaml").open() as opened:
        assert texts(f"/dev/fd/{opened.fileno()}") == ["f: 1"]


@pytest.mark.parametrize("pattern", ["*" * 60 + "x", "users/**.yaml", "/**a"])
def test_a_glob_that_is_none_is_refused(checkout, pattern):
    with pytest.raises(UsageError, match="between slashes only"):
        texts(pattern)


@pytest.mark.parametrize("name", [".acls.yaml", ".yaml", ".x.yml", ".x.json"])
def test_a_hidden_file_that_kubectl_applies_is_read_with_its_folder(checkout, name):
    (checkout / "users" / name).write_text("h: 1", encoding="utf-8")
    assert texts("users") == ["h: 1", "a: 1"]


@pytest.mark.parametrize("name", [".x.tf", ".x.yaml.swp", ".terraform.lock.hcl", ".d/x.yaml"])
def test_other_hidden_files_are_no_part_of_a_folder(checkout, name):
    (checkout / "users" / name).parent.mkdir(exist_ok=True)
    (checkout / "users" / name).write_text("h: 1", encoding="utf-8")
    assert texts("users") == ["a: 1"]


def test_a_hidden_file_that_is_named_is_read(checkout):
    (checkout / ".acls.yaml").write_text("h: 1", encoding="utf-8")
    assert texts(".acls.yaml") == ["h: 1"]


@pytest.mark.parametrize("name", ["a\n::error::b.yaml", "a\r\n/merge.yaml", "a\u2028b.yaml"])
def test_a_file_name_of_several_lines_is_refused_and_shown_in_one(checkout, name):
    if on_disk(name) != name:
        pytest.skip("no file has this name in an ASCII locale")
    (checkout / name.replace("/", "_")).write_text("a: 1", encoding="utf-8")
    with pytest.raises(UsageError, match="of one line") as refused:
        texts(".")
    assert len(str(refused.value).splitlines()) == 1


def test_files_that_are_too_large_together_are_refused(checkout, monkeypatch):
    monkeypatch.setattr(documents, "LARGEST_OF_ALL", 8)
    assert texts("users", "ci") == ["a: 1", "b: 1"]
    (checkout / "users" / "c.yaml").write_text("c", encoding="utf-8")
    with pytest.raises(UsageError, match="All files together: expected"):
        texts("users", "ci")


@pytest.mark.parametrize("text", ["[1,2,3]", '{"a": [{}]}', "{}{}{}{}", " \n[1,2,3]", "1 [1,2,3]"])
def test_json_of_too_many_values_is_refused_before_it_is_read(monkeypatch, text):
    monkeypatch.setattr(model, "MOST_VALUES", 2)
    with pytest.raises(DataError, match=r"f: it has more than 2 values\. Split it"):
        _ = model.Document("f", text).values
