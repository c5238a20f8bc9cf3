"""Files of Terraform through the one reader of all formats."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.kafka.desired import hcl, terraform_files, terraform_plan
from aclkit.kafka.desired.formats import format_of
from aclkit.kafka.desired.read import Asked
from aclkit.questions.preview.desired_forms import read_wanted
from tests.kafka.desired.terraform_files import acl, document, handed, plan, resource

FORMATS = (*terraform_plan.FORMATS, *terraform_files.FORMATS, *hcl.FORMATS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_handed_plan_is_read_from_a_file(tmp_path, encoding):
    path = tmp_path / "plan"
    path.write_text(handed("2-plan.json").text, encoding=encoding)
    desired = read_wanted([str(path)], Asked())
    assert len(desired.acls) == 6


def test_all_problems_of_a_file_are_one_error(tmp_path):
    path = tmp_path / "plan.json"
    bad = (resource(f"kafka_acl.{name}", "explode", acl(), acl()) for name in "ab")
    path.write_text(document(plan(*bad)).text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_wanted([str(path)], Asked())
    assert str(error.value).count("Unknown actions 'explode'") == 2


def test_two_clusters_in_one_plan_must_be_chosen_from(tmp_path):
    path = tmp_path / "plan.json"
    blocks = [
        {"type": "kafka_acl", "name": name, "provider_config_key": key}
        for name, key in (("a", "kafka.one"), ("b", "kafka.two"))
    ]
    made = plan(
        *(resource(f"kafka_acl.{name}", "create", None, acl()) for name in "ab"),
        configuration={"root_module": {"resources": blocks}},
    )
    path.write_text(document(made).text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"kafka\.one and kafka\.two"):
        read_wanted([str(path)], Asked())
    desired = read_wanted([str(path)], Asked(cluster="kafka.two"))
    assert [each.place.address for each in desired.acls] == ["kafka_acl.b"]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("1-plan.json", "terraform-plan"),
        ("1-plan.text.txt", "terraform-plan"),
        ("1-state.json", "terraform-state"),
        ("main.tf", "terraform-hcl"),
        ("0-before.kafka-acls-list.txt", None),
        ("1-effect.tsv", None),
    ],
)
def test_content_tells_the_format(name, form):
    found = format_of(handed(name), FORMATS)
    assert (found.name if found else None) == form
