"""Airflow: the nightly run, and maintenance once a week. Put this file into the DAG folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

ACLKIT = "/opt/aclkit/.venv/bin/aclkit"
CONFIG = "/etc/aclkit/nightly.toml"
START = datetime(2026, 1, 1, tzinfo=UTC)

with DAG(
    dag_id="aclkit_nightly",
    schedule="15 2 * * *",
    start_date=START,
    catchup=False,
    max_active_runs=1,
    # Exit code 1 is a result, not an accident: a second try would find the same.
    default_args={"retries": 0, "execution_timeout": timedelta(hours=4)},
    tags=["kafka", "audit"],
):
    BashOperator(
        task_id="run",
        bash_command=f"{ACLKIT} run --config {CONFIG}",
        append_env=True,
        # The summary is the task's last line; the whole page is in its log.
        do_xcom_push=False,
    )

with DAG(
    dag_id="aclkit_maintain",
    schedule="0 5 * * 0",
    start_date=START,
    catchup=False,
    max_active_runs=1,
):
    BashOperator(
        task_id="maintain",
        bash_command=f"{ACLKIT} maintain --config {CONFIG} --keep-days 30",
        append_env=True,
    )
