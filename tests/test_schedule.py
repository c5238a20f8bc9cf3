"""The examples of conf/: each can be read, and calls commands and options that exist."""

from __future__ import annotations

import ast
import configparser
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from aclkit.cli import cli
from aclkit.cli.nightly import policies_of, report_formats
from aclkit.errors import UsageError
from aclkit.runtime.connections import MOST
from tests.documents import CommandLine, commands

ROOT = Path(__file__).parent.parent
SCHEDULE = ROOT / "conf" / "schedule"
RUN = commands(cli)["run"]


def called(line: str) -> CommandLine:
    """Read what stands behind the program in a line that starts aclkit."""
    words = shlex.split(line)
    at = next(n for n, word in enumerate(words) if word.endswith(".venv/bin/aclkit"))
    return CommandLine(tuple(words[at + 1 :]))


WATCH = SCHEDULE / "systemd" / "aclkit-watch.service"
"""What goes on for days needs no timer."""


SERVE = SCHEDULE / "systemd" / "aclkit-serve.service"


def services():
    return sorted((SCHEDULE / "systemd").glob("*.service"))


def units():
    return sorted({*services()} - {WATCH, SERVE})


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


@pytest.mark.parametrize("path", units(), ids=lambda path: path.name)
def test_systemd_calls_a_command_that_exists_and_has_its_timer(path):
    service = unit(path)["Service"]
    assert service["Type"] == "oneshot"
    assert called(service["ExecStart"]).problem(cli) is None
    timer = unit(path.with_suffix(".timer"))
    assert timer["Timer"]["OnCalendar"]
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_systemd_keeps_the_watcher_alive_and_lets_it_end():
    service = unit(WATCH)["Service"]
    line = called(service["ExecStart"])
    assert (line.words[0], line.problem(cli)) == ("watch", None)
    assert (service["Restart"], service["SuccessExitStatus"]) == ("always", "143")
    assert unit(WATCH)["Install"]["WantedBy"] == "multi-user.target"


def test_systemd_serves_a_warehouse_that_the_unit_cannot_write_with_a_token_from_a_file():
    service = unit(SERVE)["Service"]
    line = called(service["ExecStart"])
    assert (line.problem(cli), line.words[:3]) == (
        None, ("--warehouse", "/var/lib/aclkit/warehouse", "serve"),
    )  # fmt: skip
    assert "--token-file" in line.words
    assert "ReadWritePaths" not in service


CONFINED = {
    "NoNewPrivileges": "true",
    "ProtectSystem": "strict",
    "ProtectHome": "true",
    "PrivateTmp": "true",
    "PrivateDevices": "true",
    "CapabilityBoundingSet": "",
    "RestrictAddressFamilies": "AF_UNIX AF_INET AF_INET6",
}
"""What each unit has: no other user's files, no rights of root's, no other kind of socket."""


@pytest.mark.parametrize("path", services(), ids=lambda path: path.name)
def test_a_unit_has_no_more_than_it_needs(path):
    service = unit(path)["Service"]
    assert {name: service.get(name) for name in CONFINED} == CONFINED
    assert service["SystemCallFilter"].startswith("@system-service landlock_create_ruleset ")
    assert int(service["MemoryMax"].removesuffix("G")) >= 4
    # A server of strangers' connections takes a quarter of them: runtime/connections.py.
    assert int(service["LimitNOFILE"]) >= 4 * MOST


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
@pytest.mark.parametrize("path", services(), ids=lambda path: path.name)
def test_systemd_finds_no_mistake_in_a_unit(path, tmp_path):
    text = path.read_text(encoding="utf-8").replace("/opt/aclkit/.venv/bin/aclkit", "/bin/true")
    (tmp_path / path.name).write_text(text, encoding="utf-8")
    verify = ["systemd-analyze", "verify", "--man=no", str(tmp_path / path.name)]
    found = subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False)
    assert path.name not in found.stdout + found.stderr


def pods(value: object) -> Iterator[dict[str, object]]:
    """Yield each pod, and what the Spark operator makes one of, of a document."""
    if isinstance(value, dict):
        if "containers" in value or "cores" in value:
            yield value
        for inner in value.values():
            yield from pods(inner)


@pytest.mark.parametrize(
    "path", sorted((SCHEDULE / "kubernetes").glob("*.yaml")), ids=lambda path: path.name
)
def test_each_pod_of_kubernetes_has_no_rights_that_it_does_not_use(path):
    documents = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    found = [pod for document in documents for pod in pods(document)]
    assert found
    for pod in found:
        of_pod = pod.get("podSecurityContext", pod.get("securityContext"))
        assert of_pod["runAsNonRoot"]
        assert of_pod["seccompProfile"] == {"type": "RuntimeDefault"}
        for one in pod.get("containers", [pod]):
            assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert not one["securityContext"]["allowPrivilegeEscalation"]
        # Spark's driver starts its executors.
        assert "cores" in pod or pod["automountServiceAccountToken"] is False


def test_cron_lines_have_five_times_a_user_and_a_command_that_exists():
    lines = (SCHEDULE / "cron" / "aclkit").read_text(encoding="utf-8").splitlines()
    jobs = [line for line in lines if line[:1].isdigit()]
    assert len(jobs) == 2
    for job in jobs:
        *times, user, command = job.split(maxsplit=6)
        assert all(set(time) <= set("0123456789*") for time in times)
        assert user == "aclkit"
        assert "%" not in command, "cron takes % for a line break"
        assert called(command).problem(cli) is None


def test_airflow_is_python_and_calls_commands_that_exist():
    text = (SCHEDULE / "airflow" / "aclkit_nightly.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    values = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = [
        "".join(
            part.value if isinstance(part, ast.Constant) else values[part.value.id]
            for part in keyword.value.values
        )
        for keyword in ast.walk(tree)
        if isinstance(keyword, ast.keyword) and keyword.arg == "bash_command"
    ]
    lines = [called(line) for line in found]
    assert [line.words[0] for line in lines] == ["run", "maintain"]
    assert [line.problem(cli) for line in lines] == [None, None]


def of_job(file: str, arguments: list[str]) -> CommandLine:
    assert (ROOT / "jobs" / Path(file).name).is_file()
    assert Path(file).name == "nightly_audit.py"
    return CommandLine(("run", *arguments))


def test_kubernetes_submits_a_job_that_exists_with_options_that_exist():
    path = SCHEDULE / "kubernetes" / "scheduled-spark-application.yaml"
    (document,) = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    assert document["kind"] == "ScheduledSparkApplication"
    assert document["spec"]["concurrencyPolicy"] == "Forbid"
    template = document["spec"]["template"]
    line = of_job(template["mainApplicationFile"], template["arguments"])
    assert line.problem(cli) is None
    volumes = {volume["name"] for volume in template["volumes"]}
    mounted = {m["name"] for part in ("driver", "executor") for m in template[part]["volumeMounts"]}
    assert mounted <= volumes
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {each.name: each.specifier for each in map(Requirement, project["dependencies"])}
    assert wanted["pyspark"].contains(template["sparkVersion"])


def test_kubernetes_without_spark_runs_as_nobody_what_its_settings_name():
    path = SCHEDULE / "kubernetes" / "cronjob.yaml"
    settings, _, job = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert CommandLine(tuple(container["args"])).problem(cli) is None
    assert pod["securityContext"]["runAsUser"] == 65534
    assert container["securityContext"]["readOnlyRootFilesystem"]
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounted.keys() == {volume["name"] for volume in pod["volumes"]}
    text = settings["data"]["nightly.toml"]
    assert container["args"][-1] == f"{mounted['config']}/nightly.toml"
    config = tomllib.loads(text)
    known = {param.name for param in RUN.params} | {"warehouse", "cluster"}
    assert {*config["run"], *(key for key in config if key != "run")} <= known
    assert config["warehouse"].startswith(mounted["warehouse"] + "/")
    assert config["run"]["command_config"].startswith(mounted["secret"] + "/")


def test_kubernetes_runs_one_watcher_that_may_write_to_its_warehouse_alone():
    path = SCHEDULE / "kubernetes" / "watch-deployment.yaml"
    (document,) = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    spec = document["spec"]
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert CommandLine(tuple(container["args"])).problem(cli) is None
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    probe = " ".join(container["readinessProbe"]["exec"]["command"])
    assert container["args"][-1] in probe


def test_databricks_calls_a_command_of_the_wheel_with_options_that_exist():
    text = (SCHEDULE / "databricks" / "databricks.yml").read_text(encoding="utf-8")
    assert text.startswith("# Not tried on Databricks")
    job = yaml.safe_load(text)["resources"]["jobs"]["aclkit_nightly"]
    assert job["max_concurrent_runs"] == 1
    (task,) = job["tasks"]
    wheel = task["python_wheel_task"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert wheel["package_name"] == project["name"]
    assert wheel["entry_point"] in project["scripts"]
    assert CommandLine(tuple(wheel["parameters"])).problem(cli) is None
    clusters = {cluster["job_cluster_key"] for cluster in job["job_clusters"]}
    assert task["job_cluster_key"] in clusters


def config() -> dict[str, object]:
    return tomllib.loads((ROOT / "conf" / "nightly.toml").read_text(encoding="utf-8"))


def test_nightly_toml_names_files_that_exist_and_policies_that_can_be_read(monkeypatch):
    monkeypatch.chdir(ROOT)
    run = config()["run"]
    for source in run["source"]:
        assert Path(source.partition(":")[2]).exists()
    read = policies_of({"baseline": None, "mutes": None, **run})
    assert read.assertions
    assert "html" in report_formats(run["report_formats"])


def test_what_nightly_toml_leaves_open_are_options_of_run():
    known = {param.name for param in RUN.params} | {"warehouse", "cluster"}
    text = (ROOT / "conf" / "nightly.toml").read_text(encoding="utf-8")
    open_keys = [
        line.removeprefix("# ").partition(" = ")[0]
        for line in text.splitlines()
        if line.startswith("# ") and " = " in line and not line.startswith("#   ")
    ]
    assert {"baseline", "mutes", "alert_webhook_file", "alert_style", "alert_on"} <= set(open_keys)
    assert set(open_keys) <= known
    set_keys = {*config()["run"], *(key for key in config() if key != "run")}
    assert set_keys <= known


@pytest.mark.parametrize("text", ["", "pdf", "html,pdf"])
def test_report_formats_that_do_not_exist_are_refused(text):
    with pytest.raises(UsageError, match="Unknown --report-formats"):
        report_formats(text)
