"""conf/ci: the gate is run as CI runs it; files of CI systems have only keys that these know."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from aclkit.cli import cli
from tests.documents import CommandLine

ROOT = Path(__file__).parent.parent
CI = ROOT / "conf" / "ci"
TERRAFORM = ROOT / "tests" / "data" / "desired" / "terraform"
MARKER = "<!-- aclkit preview -->"
SCRIPTS = sorted(CI.rglob("*.sh"))

WATCH = """
[[watch]]
name = "payments"
resources = ["topic:payments.*"]
"""

JAVA = """#!/bin/sh
echo "$*" >>"$JAVA_CALLS"
exit 1
"""


def user(topic):
    """A KafkaUser that no ACL of the sample names, with READ on one topic."""
    return f"""\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: newcomer
  labels: {{strimzi.io/cluster: sample}}
spec:
  authorization:
    type: simple
    acls:
      - resource: {{type: topic, name: {topic}}}
        operations: [Read]
"""


def program(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


class Gate:
    """A folder in which gate.sh runs, with a ``java`` that records each call and fails."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "bin").mkdir()
        program(folder / "bin" / "java", JAVA)
        self.calls = folder / "java-calls"
        text = f'#!/bin/sh\nexec "{sys.executable}" -m aclkit "$@"\n'
        self.aclkit = program(folder / "bin" / "aclkit", text)

    @property
    def env(self):
        kept = {key: text for key, text in os.environ.items() if not key.startswith("ACLKIT_")}
        return kept | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "JAVA_HOME": str(self.folder),
            "JAVA_CALLS": str(self.calls),
            "PYTHONPATH": str(ROOT),
        }

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def shell(self, *words, **variables):
        return subprocess.run(
            ["sh", *map(str, words)],
            cwd=self.folder,
            env=self.env | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, **variables):
        """Run the gate; print how long it took; return the exit code and stderr."""
        named = {f"GATE_{name.upper()}": str(value) for name, value in variables.items()}
        began = time.monotonic()
        done = self.shell(CI / "gate.sh", **named)
        took = time.monotonic() - began
        sys.stdout.write(f"gate.sh: {took:.2f} s, exit code {done.returncode}\n")
        assert done.stdout == ""
        assert not self.calls.exists(), "java was started"
        return done.returncode, done.stderr

    def summary(self, name="out.env"):
        return dict(line.split("=", 1) for line in self.read(name).splitlines())


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """The warehouse of the demo, made without Java."""
    place = Gate(tmp_path_factory.mktemp("demo"))
    done = place.shell(place.aclkit, "--warehouse", "w", "demo")
    assert (done.returncode, place.calls.exists()) == (0, False), done.stderr
    return place.folder / "w"


BEFORE = TERRAFORM / "1-after.kafka-acls-list.txt"


def plan(*, replaces_deny=False):
    """A plan that adds an ACL and removes one; on demand it replaces a DENY by the same."""
    content = json.loads((TERRAFORM / "2-plan.json").read_text(encoding="utf-8"))
    changes = {each["address"]: each["change"] for each in content["resource_changes"]}
    kept = changes['kafka_acl.all["baker writes"]']
    kept |= {"actions": ["no-op"], "after": kept["before"], "after_unknown": {}}
    if replaces_deny:
        changes['kafka_acl.all["nobody deletes"]']["actions"] = ["delete", "create"]
    return json.dumps(content)


def test_a_change_that_opens_a_watched_topic_is_denied(gate, warehouse):
    paths = gate.write("users.yaml", user("payments.v1.events"))
    watch = gate.write("watch.toml", WATCH)
    code, _ = gate.run(
        paths=paths, warehouse=warehouse, watch=watch, comment="out/c.md", summary_env="out.env"
    )
    marker, _, verdict = [line for line in gate.read("out/c.md").splitlines() if line][:3]
    assert (code, marker) == (1, MARKER)
    assert verdict.startswith("**Verdict: deny. ")
    assert "payments" in verdict
    assert gate.summary()["ACLKIT_VERDICT"] == "deny"


def test_a_harmless_change_goes_ahead_and_its_comment_has_no_word_fail(gate, warehouse):
    paths = gate.write("users.yaml", user("failover.events"))
    watch = gate.write("watch.toml", WATCH)
    code, _ = gate.run(paths=paths, warehouse=warehouse, watch=watch)
    comment = gate.read("aclkit-comment.md")
    assert (code, comment.startswith(MARKER)) == (0, True)
    assert "over.events" in comment
    assert "fail" not in comment.lower()


def test_a_change_that_needs_review_stops_a_strict_gate(gate, warehouse):
    paths = gate.write("users.yaml", user("orders.events"))
    code, _ = gate.run(paths=paths, warehouse=warehouse, strict="true")
    assert code == 1
    assert "Verdict: review" in gate.read("aclkit-comment.md")


def test_a_plan_that_takes_a_deny_off_for_a_time_is_denied(gate):
    paths = gate.write("plan.json", plan(replaces_deny=True))
    code, _ = gate.run(paths=paths, base=BEFORE, summary_env="out.env")
    assert code == 1
    assert gate.summary()["ACLKIT_VERDICT"] == "deny"
    assert int(gate.summary()["ACLKIT_GAPS"]) == 1
    assert "off for a time" in gate.read("aclkit-comment.md")


def test_a_gap_goes_ahead_where_the_team_allows_it(gate):
    paths = gate.write("plan.json", plan(replaces_deny=True))
    code, _ = gate.run(paths=paths, base=BEFORE, fail_on="none")
    assert code == 0


def test_sarif_is_written_on_demand_and_ends_as_the_comment_does(gate):
    paths = gate.write("plan.json", plan(replaces_deny=True))
    code, _ = gate.run(paths=paths, base=BEFORE, sarif="out/a.sarif")
    assert code == 1
    assert json.loads(gate.read("out/a.sarif"))["version"] == "2.1.0"


def test_several_paths_stand_one_a_line_and_may_have_blanks(gate, warehouse):
    first = gate.write("my users.yaml", user("orders.events"))
    second = gate.write("-x.yaml", user("orders.raw").replace("newcomer", "another"))
    code, told = gate.run(paths=f"{first}\n{second}", warehouse=warehouse)
    assert code == 0, told
    assert "User:newcomer" in gate.read("aclkit-comment.md")
    assert "User:another" in gate.read("aclkit-comment.md")


def test_values_are_no_code(gate, warehouse):
    paths = gate.write("users.yaml", user("orders.events"))
    code, _ = gate.run(paths=paths, warehouse=warehouse, scope="$(touch hit); touch hit")
    assert code == 2
    assert not (gate.folder / "hit").exists()


def test_a_change_that_cannot_be_read_has_no_verdict_but_a_comment(gate, warehouse):
    paths = gate.write("users.yaml", user("a").replace("operations:", "operation:"))
    gate.write("out.env", "ACLKIT_VERDICT=pass\n")
    code, told = gate.run(paths=paths, warehouse=warehouse, summary_env="out.env", sarif="a.sarif")
    comment = gate.read("aclkit-comment.md")
    assert code == 3
    assert comment.startswith(f"{MARKER}\n## No verdict\n")
    assert told.splitlines()[-1] in comment
    assert gate.summary() == {"ACLKIT_VERDICT": "none"}
    assert not (gate.folder / "a.sarif").exists()


@pytest.mark.parametrize(("ends", "wanted"), [(0, 4), (1, 1), (137, 137)])
def test_a_program_that_prints_no_verdict_never_lets_a_change_pass(gate, ends, wanted):
    program(gate.aclkit, f"#!/bin/sh\necho 'Traceback of a crash' >&2\nexit {ends}\n")
    code, _ = gate.run(paths="x", base="y")
    assert code == wanted
    assert "## No verdict" in gate.read("aclkit-comment.md")


def test_no_secret_of_a_plan_is_printed(gate):
    secret = json.loads(plan())
    secret["variables"]["password"] = {"value": "hunter2"}
    paths = gate.write("plan.json", json.dumps(secret))
    code, told = gate.run(paths=paths, base=BEFORE)
    assert code == 0, told
    assert "hunter2" not in told + gate.read("aclkit-comment.md")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"base": "b"}, "GATE_PATHS is empty"),
        ({"paths": "p"}, "Neither GATE_BASE nor GATE_WAREHOUSE is set"),
        ({"paths": "p", "base": "b", "warehouse": "w"}, "Both GATE_BASE and GATE_WAREHOUSE"),
        ({"paths": "p", "base": "b", "strict": "yes"}, "GATE_STRICT is 'yes'"),
        ({"paths": "-", "base": "b"}, "GATE_PATHS has '-'"),
        ({"paths": "p", "warehouse": "w", "super_users": "User:a"}, "has the brokers' settings"),
    ],
)
def test_a_gate_that_is_set_up_wrongly_says_what_is_wrong(gate, variables, told):
    code, error = gate.run(**variables)
    assert (code, told in error) == (2, True), error


def test_a_settings_file_of_the_branch_is_not_read(gate, warehouse):
    gate.write("aclkit.toml", "this is no TOML")
    paths = gate.write("users.yaml", user("orders.events"))
    code, told = gate.run(paths=paths, warehouse=warehouse, fail_on="none")
    assert code == 0, told


# --- Atlantis, GitHub, GitLab, pre-commit, Docker


def atlantis(gate, paths, **variables):
    gate.write("show.json", paths)
    given = {"SHOWFILE": "show.json", "ACLKIT_GATE": str(CI / "gate.sh"), "GATE_BASE": str(BEFORE)}
    done = gate.shell(CI / "atlantis" / "policy-check.sh", **given | variables)
    return done.returncode, done.stdout


def test_atlantis_reads_the_word_fail_only_where_the_gate_stops(gate):
    code, output = atlantis(gate, plan())
    assert (code, MARKER in output, "fail" in output.lower()) == (0, True, False)
    code, output = atlantis(gate, plan(replaces_deny=True))
    assert (code, "fail" in output.lower()) == (1, True)
    code, output = atlantis(gate, plan(), GATE_STRICT="maybe")
    assert (code, "fail" in output.lower()) == (2, True)


def test_atlantis_runs_the_script_of_the_image_after_the_plan_is_shown():
    config = read_yaml(CI / "atlantis" / "repos.yaml")
    assert config.keys() == {"repos", "workflows", "policies"}
    (repo,) = config["repos"]
    assert repo["policy_check"] is repo["custom_policy_check"] is True
    assert "policies_passed" in repo["apply_requirements"]
    first, *others, last = config["workflows"][repo["workflow"]]["policy_check"]["steps"]
    assert (first, last) == ("show", {"run": "sh /opt/aclkit/ci/policy-check.sh"})
    assert {step["env"]["name"] for step in others} <= gate_variables()


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def gate_variables():
    return set(re.findall(r"\bGATE_[A-Z_]+\b", (CI / "gate.sh").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def action():
    return read_yaml(CI / "github" / "action.yml")


def test_the_action_has_only_keys_that_github_knows(action):
    assert action.keys() == {"name", "description", "inputs", "outputs", "runs"}
    assert all(one.keys() <= {"description", "required", "default"} for one in inputs(action))
    assert all(one.keys() == {"description", "value"} for one in action["outputs"].values())
    assert action["runs"].keys() == {"using", "steps"}
    known = {"name", "id", "if", "shell", "env", "run", "working-directory"}
    for step in action["runs"]["steps"]:
        assert {"name", "shell", "run"} <= step.keys() <= known


def inputs(action):
    return list(action["inputs"].values())


def test_the_action_puts_no_input_into_a_script(action):
    assert not [step["run"] for step in action["runs"]["steps"] if "${{" in step["run"]]


def test_the_action_uses_each_input_and_variables_that_the_gate_knows(action):
    text = (CI / "github" / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{\{ inputs\.([a-z-]+)", text))
    assert used == action["inputs"].keys()
    assert set(re.findall(r"\bGATE_[A-Z_]+\b", text)) <= gate_variables()


def judged(action, gate, **variables):
    """Run the step of the action that judges, as GitHub does; return its outputs."""
    (step,) = [one for one in action["runs"]["steps"] if one.get("id") == "gate"]
    given = dict.fromkeys(step["env"], "") | variables
    given |= {"GATE": str(CI / "github" / ".." / "gate.sh"), "ACLKIT": str(gate.aclkit)}
    given |= {"RUNNER_TEMP": str(gate.folder), "GITHUB_OUTPUT": str(gate.folder / "output")}
    given |= {"GITHUB_STEP_SUMMARY": str(gate.folder / "summary.md")}
    done = gate.shell("-e", gate.write("step.sh", step["run"]), **given)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in gate.read("output").splitlines())


def test_the_action_hands_on_verdict_files_and_exit_code(action, gate):
    paths = gate.write("plan.json", plan(replaces_deny=True))
    outputs = judged(action, gate, GATE_PATHS=paths, GATE_BASE=str(BEFORE), GATE_SARIF="a.sarif")
    assert outputs == {
        "exit-code": "1",
        "verdict": "deny",
        "comment": str(gate.folder / "aclkit-comment.md"),
        "sarif": "a.sarif",
    }
    assert gate.read("summary.md").startswith(MARKER)


def test_the_action_reports_a_gate_without_a_verdict(action, gate):
    outputs = judged(action, gate, GATE_PATHS="nowhere.json", GATE_BASE=str(BEFORE))
    assert (outputs["verdict"], outputs["exit-code"] in {"0", "1"}) == ("none", False)


GH = """#!/bin/sh
echo "$*" >>gh-calls
case "$*" in *--paginate*) cat ids ;; esac
"""


@pytest.mark.parametrize(
    ("ids", "call"),
    [
        ("", "--method POST repos/team/acls/issues/7/comments"),
        ("11\n12\n", "--method PATCH repos/team/acls/issues/comments/11"),
    ],
    ids=["first", "again"],
)
def test_the_comment_is_posted_once_and_then_updated(gate, ids, call):
    program(gate.folder / "bin" / "gh", GH)
    gate.write("ids", ids)
    given = {"COMMENT": "c.md", "REPOSITORY": "team/acls", "PULL": "7"}
    done = gate.shell(CI / "github" / "comment.sh", **given)
    assert done.returncode == 0, done.stderr
    searched, posted = gate.read("gh-calls").splitlines()
    assert MARKER in searched
    assert posted == f"api --silent {call} -F body=@c.md"


def test_the_gitlab_job_keeps_comment_and_dotenv_report_whatever_the_verdict():
    content = read_yaml(CI / "gitlab" / "aclkit.gitlab-ci.yml")
    (job,) = content.values()
    assert job.keys() == {"image", "variables", "rules", "script", "artifacts"}
    variables = job["variables"]
    assert {name for name in variables if name.startswith("GATE_")} <= gate_variables()
    assert job["script"][-1] == 'sh "$ACLKIT_GATE"'
    assert job["artifacts"]["when"] == "always"
    assert job["artifacts"]["reports"] == {"dotenv": variables["GATE_SUMMARY_ENV"]}
    (kept,) = job["artifacts"]["paths"]
    assert variables["GATE_COMMENT"].startswith(kept)


def test_the_hook_calls_a_command_that_exists_and_the_recipe_a_hook_that_exists():
    (hook,) = read_yaml(ROOT / ".pre-commit-hooks.yaml")
    assert hook.keys() <= {
        "id", "name", "description", "entry", "language", "types_or", "require_serial",
    }  # fmt: skip
    assert CommandLine.of(hook["entry"] + " x.yaml").problem(cli) is None
    (repo,) = read_yaml(CI / "pre-commit" / "pre-commit-config.yaml")["repos"]
    assert [one["id"] for one in repo["hooks"]] == [hook["id"]]


def test_both_images_run_the_installation_script_and_end_as_nobody():
    text = (CI / "Dockerfile").read_text(encoding="utf-8")
    stages = re.split(r"^FROM .* AS ", text, flags=re.MULTILINE)[1:]
    made = {stage.split(maxsplit=1)[0]: stage for stage in stages}
    assert made.keys() == {"common", "slim", "full"}
    for kind in ("slim", "full"):
        assert f"sh /src/conf/ci/install.sh {kind}\n" in made[kind]
        assert "\nUSER 65534:65534\n" in made[kind]
    variables = re.findall(r"^ENV (.*)$", text, re.MULTILINE)
    assert all(re.fullmatch(r"[A-Z0-9_]+=\S+", each) for each in variables), "container_test.sh"


def test_a_part_of_the_lock_keeps_versions_and_hashes(tmp_path):
    report = {"install": [{"metadata": {"name": "PyYAML"}}, {"metadata": {"name": "aclkit"}}]}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    printed = locked("part", ROOT / "conf" / "requirements.lock", tmp_path / "report.json")
    assert re.match(r"pyyaml==[\d.]+ \\\n    --hash=sha256:", printed.stdout)
    assert printed.stdout.count("==") == 1


def test_a_package_outside_the_lock_is_not_installed(tmp_path):
    report = {"install": [{"metadata": {"name": "left-pad"}}]}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    printed = locked("part", ROOT / "conf" / "requirements.lock", tmp_path / "report.json")
    assert (printed.returncode, "not in the lock: left-pad" in printed.stderr) == (1, True)


def locked(*words):
    return subprocess.run(
        [sys.executable, CI / "locked.py", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_those_of_a_plain_shell(path):
    done = subprocess.run(["sh", "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_text(encoding="utf-8").startswith("#!/bin/sh\n")


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing_in_scripts(path):
    done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_no_script_evaluates_text():
    for path in SCRIPTS:
        assert not re.search(r"\beval\b|\bset -x\b", path.read_text(encoding="utf-8"))
