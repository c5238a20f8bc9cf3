"""What --warehouse says, and who reads there."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.warehouse.place import Place
from aclkit.warehouse.storage import LocalStorage
from aclkit.warehouse.uri_files import UriFiles


def test_a_path_is_a_folder_of_this_machine_whatever_it_holds(tmp_path):
    place = Place(f"{tmp_path}/a://b c%20d")
    assert not place.is_uri
    assert place.folder == tmp_path / "a:" / "b c%20d"
    assert isinstance(place.files, LocalStorage)


def test_a_file_uri_is_read_by_all_and_written_by_spark(tmp_path):
    place = Place(f"file://{tmp_path}/a%20b/")
    assert place.is_uri
    assert str(place) == f"file://{tmp_path}/a%20b"
    assert place.folder == tmp_path / "a b"
    assert isinstance(Place(tmp_path.as_uri()).files, UriFiles)


def test_a_bucket_has_no_folder_and_the_refusal_names_spark():
    place = Place("s3a://bucket/acls/")
    assert place.of_table("finding") == "s3a://bucket/acls/finding"
    with pytest.raises(UsageError, match=r"acls is not on a local disk.* --engine spark"):
        _ = place.folder
