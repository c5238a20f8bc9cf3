"""The command desired show: what the files of a team hold, in every format, without a warehouse."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from tests.cli.running import run
from tests.kafka.desired.holding import DESIRED, right_values
from tests.kafka.desired.terraform_files import acl, confluent_acl, plan, resource

COLUMNS = ["cluster_id", "acl_id", "resource_type", "resource_name", "pattern_type", "principal",
           "host", "operation", "permission_type", "file", "line", "address",
           "until"]  # fmt: skip
SEVEN = COLUMNS[2:9]
HANDED = {
    "strimzi/users.yaml": "strimzi/users.tsv",
    "by-hand/ksm.csv": "by-hand/acls.tsv",
    "by-hand/kafbat.csv": "by-hand/acls.tsv",
    "by-hand/kafbat-no-header.csv": "by-hand/acls.tsv",
    "by-hand/kafka-gitops-state.yaml": "by-hand/acls.tsv",
    "by-hand/kafka-gitops-plan.json": "by-hand/acls.tsv",
    "by-hand/jikkou.yaml": "by-hand/acls.tsv",
    "terraform/0-before.kafka-acls-list.txt": "terraform/0-before.tsv",
    "terraform/1-after.kafka-acls-list.txt": "terraform/1-after.tsv",
    "terraform/2-after.kafka-acls-list.txt": "terraform/2-after.tsv",
    "terraform/1-plan.json": "terraform/1-after.tsv",
    "terraform/2-plan.json": "terraform/2-after.tsv",
    "terraform/1-state.json": "terraform/1-after.tsv",
    "terraform/2-state.json": "terraform/2-after.tsv",
}
IS_OF_NOBODY = "User:neighbour"
"""What no file manages: only a listing holds its ACL."""


def show(*words, code=0, **more):
    words = ("desired", "show", *map(str, words))
    result = CliRunner().invoke(cli, words, **more)
    assert isinstance(result.exception, SystemExit | None), repr(result.exception)
    assert result.exit_code == code, result.output
    return result


def rows(*words, **more):
    return json.loads(show(*words, "--format", "json", **more).stdout)


def seven(found):
    return {tuple(row[name] for name in SEVEN) for row in found}


def write(folder, name, value):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


# What is shown


def test_json_has_the_columns_of_acl_current_and_where_each_acl_stands():
    (first, *_) = rows(DESIRED / "strimzi" / "users.yaml")
    assert list(first) == COLUMNS
    assert first["line"] == 9
    assert first["file"].endswith("users.yaml")
    assert first["address"] is None


def test_csv_has_the_same_rows_as_json():
    path = DESIRED / "strimzi" / "users.yaml"
    text = show(path, "--format", "csv").stdout_bytes.decode()
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    wanted = [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows(path)]
    assert found == wanted


def test_an_acl_of_a_plan_has_the_address_of_its_resource():
    found = rows(DESIRED / "terraform" / "2-plan.json")
    assert 'kafka_acl.all["baker writes"]' in {row["address"] for row in found}


@pytest.mark.parametrize("name", HANDED)
def test_each_handed_file_equals_its_table(name):
    wanted = right_values(DESIRED / HANDED[name])
    if "list.txt" not in name:
        wanted = {row for row in wanted if row[3] != IS_OF_NOBODY}
    assert seven(rows(DESIRED / name, "--allow-empty")) == wanted


def test_a_csv_without_pattern_types_holds_the_literal_ones():
    wanted = right_values(DESIRED / "by-hand" / "acls.tsv")
    found = rows(DESIRED / "by-hand" / "ksm-no-pattern-type.csv")
    assert seven(found) == {row for row in wanted if row[2] == "LITERAL"}


def test_a_plan_is_said_to_be_about_its_own_acls():
    for form in ("table", "markdown"):
        told = show(DESIRED / "terraform" / "2-plan.json", "--format", form).stdout
        assert "A plan shows the state after it, and of its own ACLs only." in told


# Paths


def test_a_dash_reads_stdin():
    text = (DESIRED / "strimzi" / "users.yaml").read_text(encoding="utf-8")
    found = rows("-", input=text)
    assert seven(found) == right_values(DESIRED / "strimzi" / "users.tsv")
    assert {row["file"] for row in found} == {"stdin"}


def test_a_folder_is_read_with_its_folders_and_other_files_are_counted():
    found = show(DESIRED / "strimzi", "--format", "json")
    assert len(json.loads(found.stdout)) == 5
    assert "acls.tsv" not in found.stderr


def test_a_glob_names_each_file_once():
    found = rows(DESIRED / "by-hand" / "k*.csv", DESIRED / "by-hand" / "ksm.csv")
    assert {Path(row["file"]).name for row in found} == {
        "kafbat.csv", "kafbat-no-header.csv", "ksm.csv", "ksm-no-pattern-type.csv",
    }  # fmt: skip
    assert sum(Path(row["file"]).name == "ksm.csv" for row in found) == 6


def test_several_files_are_one_state_in_their_order():
    one, other = DESIRED / "strimzi" / "users.yaml", DESIRED / "by-hand" / "ksm.csv"
    found = rows(other, one)
    assert [row["file"] for row in found][:: len(found) - 1] == [str(other), str(one)]


def test_a_path_that_does_not_exist_is_a_usage_error():
    assert "no-such-file" in show("no-such-file", code=2).stderr


# Options


def test_from_sets_the_format():
    text = (DESIRED / "by-hand" / "ksm.csv").read_text(encoding="utf-8")
    assert len(rows("-", "--from", "csv", input=text)) == 6
    assert (
        "it does not look like KafkaUser resources"
        in show("-", "--from", "strimzi", input=text, code=3).stderr
    )


def test_an_unknown_format_is_a_usage_error_that_lists_all():
    told = show(DESIRED / "by-hand" / "ksm.csv", "--from", "toml", code=2).stderr
    assert "toml" in told
    for name in ("terraform-plan", "strimzi", "csv", "jikkou", "acls-list"):
        assert name in told


def two_clusters(folder):
    return write(
        folder,
        "plan.json",
        plan(
            resource("confluent_kafka_acl.a", "create", None, confluent_acl("a", cluster="lkc-1"),
                     kind="confluent_kafka_acl"),
            resource("confluent_kafka_acl.b", "create", None, confluent_acl("b", cluster="lkc-2"),
                     kind="confluent_kafka_acl"),
        ),
    )  # fmt: skip


def test_files_of_several_clusters_end_with_2_and_list_them(tmp_path):
    told = show(two_clusters(tmp_path), code=2).stderr
    assert "lkc-1" in told
    assert "lkc-2" in told
    assert "--of-cluster" in told


def test_of_cluster_chooses_one(tmp_path):
    (found,) = rows(two_clusters(tmp_path), "--of-cluster", "lkc-2")
    assert (found["resource_name"], found["cluster_id"]) == ("b", "lkc-2")


def test_a_cluster_of_no_file_is_a_usage_error(tmp_path):
    told = show(two_clusters(tmp_path), "--of-cluster", "lkc-3", code=2).stderr
    assert "'lkc-3'" in told
    assert "lkc-1 and lkc-2" in told


OTHER_KIND = {"address": "aiven_kafka_acl.x", "mode": "managed", "type": "aiven_kafka_acl",
              "name": "x", "provider_name": "registry.terraform.io/aiven/aiven",
              "change": {"actions": ["create"], "before": None, "after": {}}}  # fmt: skip


def test_a_kind_that_is_not_read_is_counted_and_refused_by_strict(tmp_path):
    path = write(
        tmp_path, "p.json", plan(resource("kafka_acl.a", "create", None, acl()), OTHER_KIND)
    )
    assert "1 aiven_kafka_acl" in show(path).stdout
    told = show(path, "--strict", code=3).stderr
    assert "1 aiven_kafka_acl" in told
    assert "p.json" in told


def test_a_file_without_acls_needs_allow_empty(tmp_path):
    path = write(tmp_path, "p.json", plan())
    assert "--allow-empty" in show(path, code=3).stderr
    assert "0 ACLs" in show(path, "--allow-empty").stdout


# Secrets and hostile names


def secret_plan(folder):
    return write(
        folder,
        "secret.json",
        plan(
            resource("kafka_acl.s", "create", None, acl(principal="User:t0psecret", name="hidden"),
                     after_sensitive={"acl_principal": True, "resource_name": True}),
            variables={"password": {"value": "hunter2"}},
        ),
    )  # fmt: skip


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_people_see_the_address_of_a_sensitive_field(tmp_path, form):
    told = show(secret_plan(tmp_path), "--format", form).output.replace("\\_", "_")
    assert "t0psecret" not in told
    assert "hidden" not in told
    assert "(sensitive: kafka_acl.s)" in told


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_programs_get_sensitive_fields_whole(tmp_path, form):
    told = show(secret_plan(tmp_path), "--format", form).stdout
    assert "User:t0psecret" in told
    assert "hidden" in told


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json", "jsonl"])
def test_variables_of_a_plan_are_in_no_output(tmp_path, form):
    assert "hunter2" not in show(secret_plan(tmp_path), "--format", form).output


HOSTILE = "a\x1b[31m\u202e|<img src=x>`@all\n# b"


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_a_hostile_name_does_nothing(tmp_path, form):
    path = write(tmp_path, "p.json", plan(resource("kafka_acl.s", "create", None, acl(HOSTILE))))
    told = show(path, "--format", form).output
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "\n# b" not in told
    if form == "markdown":
        assert "<img" not in told


# Without an engine

STARTED = """\
import sys
from aclkit.cli import cli
try:
    cli(sys.argv[1:])
finally:
    heavy = {"java", "pyspark", "py4j", "duckdb", "deltalake", "pyarrow", "numpy", "kafka"}
    print("LOADED", *sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize("name", ["terraform/2-plan.json", "strimzi/users.yaml", "by-hand/ksm.csv"])
def test_no_engine_is_loaded(name):
    words = [sys.executable, "-c", STARTED, "desired", "show", str(DESIRED / name)]
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=120, check=True)
    sys.stdout.write(f"desired show {name}: {time.monotonic() - begin:.2f} s, cold start\n")
    assert done.stdout.splitlines()[-1].split() == ["LOADED"]


def test_no_java_is_started(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "aclkit", "desired", "show", str(DESIRED / "terraform")],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "terraform show -json" in done.stderr


def test_a_help_of_the_group_has_show():
    assert "show" in run("desired", "--help").stdout
