"""What CI systems read of conf/ci has only keys that they know, and its scripts are run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
import yaml

from aclkit.cli import cli
from tests.ci.gate_place import BEFORE, CI, MARKER, ROOT, plan, program
from tests.documents import CommandLine

SCRIPTS = sorted(CI.rglob("*.sh"))


def atlantis(gate, paths, **variables):
    gate.write("show.json", paths)
    given = {"SHOWFILE": "show.json", "ACLKIT_GATE": str(CI / "gate.sh"), "GATE_BASE": str(BEFORE)}
    done = gate.shell(CI / "atlantis" / "policy-check.sh", **given | variables)
    return done.returncode, done.stdout


def test_atlantis_reads_the_word_fail_only_where_the_gate_stops(gate):
    code, output = atlantis(gate, plan())
    assert (code, MARKER in output, "fail" in output.lower()) == (0, True, False)
    code, output = atlantis(gate, plan(replaces=True))
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
    paths = gate.write("plan.json", plan(replaces=True))
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
    assert job.keys() == {"image", "variables", "rules", "script", "after_script", "artifacts"}
    variables = job["variables"]
    assert {name for name in variables if name.startswith("GATE_")} <= gate_variables()
    # What the branch put there would be kept and posted where the first line fails.
    assert job["script"][0].startswith("rm -rf target aclkit")
    assert job["script"][-1] == 'sh "$ACLKIT_GATE"'
    assert job["artifacts"]["when"] == "always"
    assert job["artifacts"]["reports"] == {"dotenv": variables["GATE_SUMMARY_ENV"]}
    (kept,) = job["artifacts"]["paths"]
    assert variables["GATE_COMMENT"].startswith(kept)


class Notes(BaseHTTPRequestHandler):
    """GitLab's API, as far as notes go; what is written stands in ``server.written``."""

    def do_GET(self):
        me, other = {"author": {"id": 7}}, {"author": {"id": 8}}
        notes = [other | {"id": 1, "body": MARKER}, me | {"id": 2, "body": "Hello"}]
        notes += [me | {"id": 3, "body": f"{MARKER} old"}] if self.server.has_note else []
        self.answer({"id": 7} if self.path == "/user" else notes)

    def do_POST(self):
        assert self.headers["PRIVATE-TOKEN"] == "secret"
        text = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.written.append((self.command, self.path, json.loads(text)))
        self.answer({})

    do_PUT = do_POST

    def answer(self, content):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    ("has_note", "call"),
    [(False, ("POST", "")), (True, ("PUT", "/3"))],
    ids=["first", "again"],
)
def test_gitlab_gets_one_note_of_the_token_s_own_user(gate, has_note, call):
    gate.write("c.md", f"{MARKER}\nnew")
    with HTTPServer(("127.0.0.1", 0), Notes) as server:
        server.has_note, server.written = has_note, []
        Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run(
            [sys.executable, CI / "gitlab" / "comment.py"],
            cwd=gate.folder,
            env=gate.env
            | {"CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}", "CI_PROJECT_ID": "4"}
            | {"CI_MERGE_REQUEST_IID": "5", "GITLAB_TOKEN": "secret", "GATE_COMMENT": "c.md"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        server.shutdown()
    assert (done.returncode, done.stderr) == (0, "")
    method, path = call
    address = f"/projects/4/merge_requests/5/notes{path}"
    assert server.written == [(method, address, {"body": f"{MARKER}\nnew"})]


PROJECT = "https://gitlab-ci-token:job@gitlab.example.com:443/platform/acls.git"
FOLDERS_OF_A_FORK = """
git -C fork -c user.name=a -c user.email=a@example.com commit -qam "all ACLs"
rm -rf fork/aclkit fork/target
ln -s "$PWD/elsewhere" fork/aclkit
ln -s "$PWD/elsewhere" fork/target
"""


def test_the_gitlab_job_compares_with_the_target_s_project_whatever_a_fork_holds(gate):
    (job,) = read_yaml(CI / "gitlab" / "aclkit.gitlab-ci.yml").values()
    origin = gate.folder / "origin"
    origin.mkdir()
    (gate.folder / "elsewhere").mkdir()
    gate.write("elsewhere/aclkit.env", "ACLKIT_VERDICT=none")
    shutil.copy(BEFORE, origin / "acls.txt")
    git = f'git -C "{origin}" -c user.name=a -c user.email=a@example.com'
    set_up = [f"{git} {words}" for words in ("init -q -b main", "add .", "commit -qm acls")]
    fork = [f'git clone -q "{origin}" fork', ": >fork/acls.txt", FOLDERS_OF_A_FORK]
    instead = f'git config --global url."{origin}".insteadOf "{PROJECT}"'
    restored = f'cp "{BEFORE}" acls.txt'
    script = "\n".join([*set_up, *fork, instead, "cd fork", restored, *job["script"]])
    given = job["variables"] | {
        "HOME": str(gate.folder),
        "CI_PROJECT_DIR": str(gate.folder / "fork"),
        "CI_JOB_TOKEN": "job",
        "CI_MERGE_REQUEST_PROJECT_PATH": "platform/acls",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_SERVER_PROTOCOL": "https",
        "CI_SERVER_HOST": "gitlab.example.com",
        "CI_SERVER_PORT": "443",
        "ACLKIT_GATE": str(CI / "gate.sh"),
        "GATE_BASE": "target/acls.txt",
        "GATE_PATHS": "acls.txt",
    }
    done = gate.shell("-e", gate.write("job.sh", script), **given)
    assert done.returncode == 0, done.stderr
    assert gate.summary("fork/aclkit/aclkit.env")["ACLKIT_VERDICT"] == "pass"
    assert gate.read("elsewhere/aclkit.env") == "ACLKIT_VERDICT=none"


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


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_those_of_a_plain_shell(path):
    done = subprocess.run(["sh", "-n", path], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_text(encoding="utf-8").startswith("#!/bin/sh\n")


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing_in_scripts(path):
    done = subprocess.run(["shellcheck", path], capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == ""


def test_no_script_evaluates_text():
    for path in SCRIPTS:
        assert not re.search(r"\beval\b|\bset -x\b", path.read_text(encoding="utf-8"))
