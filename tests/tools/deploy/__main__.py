"""``make deploy-check``: the examples of conf/schedule, as the tools that read them judge them.

Airflow imports the DAGs. kubeconform compares the Kubernetes manifests with the API's schemas, and
Databricks' own classes take the jobs of the bundle; both refuse a field that they do not know. Each
tool is installed in an environment of its own below build/deploy, and a mistake that is put into
what it reads has to be found too. The exit code is 1 where something is wrong or a tool is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
import yaml

ROOT: Final = Path(__file__).parents[3]
SCHEDULE: Final = ROOT / "conf" / "schedule"
OUT: Final = ROOT / "build" / "deploy"
MOST_SECONDS: Final = 900

AIRFLOW: Final = "apache-airflow>=3.3,<3.4"
BUNDLES: Final = "databricks-bundles>=1.22,<2"
SCHEMAS: Final = "kubernetes-validate>=1.37,<1.38"
KUBECONFORM: Final = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
KUBERNETES: Final = "v1.37.0"

_OF_AN_OPERATOR: Final = "ScheduledSparkApplication"
"""Of the Spark operator's own type no registry has a schema."""

_IMPORT: Final = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
dags = {name: [task.task_id for task in dag.tasks] for name, dag in bag.dags.items()}
print(json.dumps({"errors": bag.import_errors, "dags": dags}))
"""
_TAKE: Final = """
import json, sys
from databricks.bundles.jobs import Job
for name, job in json.load(sys.stdin).items():
    Job.from_dict(job)
"""


class WrongError(Exception):
    """An example is wrong, or a tool cannot be had."""


def _run(*words: str | Path, given: str = "", **env: str) -> str:
    """Run a program and return what it prints.

    Raises:
        WrongError: it ends with another code than 0, does not end, or is not installed.
    """
    try:
        done = subprocess.run(
            list(map(str, words)),
            cwd=OUT,
            env={**os.environ, **env},
            input=given,
            capture_output=True,
            encoding="utf-8",
            timeout=MOST_SECONDS,
        )
    except FileNotFoundError:
        raise WrongError(f"{words[0]} is not installed.") from None
    except subprocess.TimeoutExpired:
        raise WrongError(f"{words[0]} did not end in {MOST_SECONDS} s") from None
    if done.returncode:
        told = (done.stdout + done.stderr).strip().splitlines()[-8:]
        raise WrongError("\n".join([f"{Path(words[0]).name}: exit code {done.returncode}", *told]))
    return done.stdout


def _environment(name: str, package: str) -> Path:
    """Make an environment with one package in it; return its Python."""
    folder = OUT / name
    _run(sys.executable, "-m", "uv", "venv", "--quiet", "--no-project", "--clear",
         "--python", sys.executable, folder)  # fmt: skip
    python = folder / "bin" / "python"
    _run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, package)
    return python


def _check_airflow() -> str:
    python = _environment("airflow", AIRFLOW)
    home = OUT / "airflow-home"

    def imported(folder: Path) -> dict[str, Any]:
        told = _run(python, "-c", _IMPORT, folder, AIRFLOW_HOME=str(home),
                    AIRFLOW__CORE__LOAD_EXAMPLES="False")  # fmt: skip
        found: dict[str, Any] = json.loads(told.splitlines()[-1])
        if found["errors"]:
            raise WrongError(json.dumps(found["errors"], indent=2))
        return found

    dags = imported(SCHEDULE / "airflow")["dags"]
    if sorted(dags) != ["aclkit_maintain", "aclkit_nightly"]:
        raise WrongError(f"expected two DAGs, found {sorted(dags)}")
    broken = OUT / "broken-dags"
    broken.mkdir(exist_ok=True)
    text = (SCHEDULE / "airflow" / "aclkit_nightly.py").read_text(encoding="utf-8")
    (broken / "dag.py").write_text(text.replace("max_active_runs", "most_runs"), encoding="utf-8")
    _must_fail(lambda: imported(broken), "most_runs")
    return f"Airflow imports {', '.join(sorted(dags))}"


def _check_kubernetes() -> str:
    _run("go", "install", KUBECONFORM, GOBIN=str(OUT / "bin"), GOFLAGS="-mod=mod")
    schemas = OUT / "schemas"
    _take_schemas(_environment("kubernetes", SCHEMAS), schemas)

    def judge(text: str) -> str:
        return _run(
            OUT / "bin" / "kubeconform", "-strict", "-summary", "-skip", _OF_AN_OPERATOR,
            "-schema-location", f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json", "-",
            given=text,
        ).splitlines()[-1]  # fmt: skip

    paths = sorted((SCHEDULE / "kubernetes").glob("*.yaml"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    told = judge("\n---\n".join(texts))
    mistaken = "\n---\n".join(texts).replace("runAsNonRoot", "runAsNotRoot")
    _must_fail(lambda: judge(mistaken), "runAsNotRoot")
    return f"Kubernetes {KUBERNETES}, kubeconform: {told} (skipped: {_OF_AN_OPERATOR})"


def _take_schemas(python: Path, folder: Path) -> None:
    """Copy the strict schemas; references that name a server become names of files beside them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (found,) = python.parents[1].glob(f"lib/*/site-packages/**/{KUBERNETES}-local-strict")
    for path in found.glob("*.json"):
        text = path.read_text(encoding="utf-8").replace('"/api/_def', '"_def')
        schema = json.loads(text)
        schema.pop("$id", None)
        (folder / path.name).write_text(json.dumps(schema), encoding="utf-8")


def _check_databricks() -> str:
    python = _environment("databricks", BUNDLES)
    text = (SCHEDULE / "databricks" / "databricks.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["resources"]["jobs"]

    def take(jobs: dict[str, Any]) -> None:
        _run(python, "-c", _TAKE, given=json.dumps(jobs))

    take(jobs)
    mistaken = {name: {**job, "most_concurrent_runs": 1} for name, job in jobs.items()}
    _must_fail(lambda: take(mistaken), "most_concurrent_runs")
    return f"Databricks' classes take {', '.join(jobs)}"


def _must_fail(check: Callable[[], object], word: str) -> None:
    """Insist that a mistake is found, and named."""
    try:
        check()
    except WrongError as error:
        if word in str(error):
            return
        raise
    raise WrongError(f"a planted mistake was not found: {word}")


CHECKS: Final[dict[str, Callable[[], str]]] = {
    "airflow": _check_airflow,
    "kubernetes": _check_kubernetes,
    "databricks": _check_databricks,
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(CHECKS)), metavar="[TOOL]...")
def main(names: tuple[str, ...]) -> None:
    """Check the examples of conf/schedule with the tools named, or all."""
    OUT.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in names or CHECKS:
        try:
            click.echo(f"  ok  {CHECKS[name]()}")
        except WrongError as error:
            failed = True
            click.echo(f"FAILED  {name}: {error}", err=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
