"""What all tests share: one Spark session, the sample data, golden files, hypothesis profiles."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import pytest
from hypothesis import HealthCheck, settings

from tests import surroundings
from tests.untouched import left_alone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler.protocol import Scheduling

    from tests.kafka.verify.kept_jvms import KeptJvms

DATA = Path(__file__).parent / "data"

# The same examples every time, so that a red build is red for its change.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "deep", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("ACLKIT_HYPOTHESIS", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_configure(config: pytest.Config) -> None:
    """Leave behind what a shell gives: its variables, its home, and signals to be ignored."""
    config.add_cleanup(surroundings.enter())
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGQUIT, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for Spark, and run it last: the pure tests fail within seconds.

    Of several workers one runs all that shares the session, one all that shares a browser, and one
    all that shares a bucket's server: another, where tests ask Spark there too.
    """
    for item in items:
        if "_session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif "_store" in getattr(item, "fixturenames", ()):
            asks_spark = item.get_closest_marker("spark") is not None
            item.add_marker(pytest.mark.xdist_group("spark-store" if asks_spark else "store"))
    items.sort(key=lambda item: item.get_closest_marker("spark") is not None)


def pytest_collection_finish() -> None:
    """Hide ten thousand tests from the garbage collector, which finds them alive each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)  # where xdist is not at work nobody knows it
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Hand out what is in no group file by file: one worker makes what a file's tests share.

    Test by test, each would also cost the more, the more have been handed out.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.by_file import GroupsAndFiles

    return GroupsAndFiles(config, log)


@pytest.fixture(scope="session", autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no test see the files of the checkout, and none leave files where others run."""
    folder = tmp_path_factory.mktemp("work")
    with contextlib.chdir(folder):
        yield
    left = sorted(path.name for path in folder.iterdir())
    assert not left, f"tests wrote into the folder where all run: {', '.join(left)}"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return DATA


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with ``tests/data/golden/<name>``; ``--update-golden`` writes it."""

    def check(name: str, actual: str) -> None:
        path = DATA / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(actual.encode())
        assert path.is_file(), f"no golden file {path}; write it with pytest --update-golden"
        assert actual == path.read_bytes().decode()

    return check


@pytest.fixture(scope="session")
def _session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from aclkit.runtime.spark import build_session

    session = build_session(
        "aclkit-tests",
        master="local[2]",
        extra_conf={
            "spark.driver.memory": "2g",
            # Tiny tables: one task each.
            "spark.sql.shuffle.partitions": "1",
            "spark.default.parallelism": "1",
            # To walk a plan over a few rows is quicker than to compile it.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
        },
    )
    yield session
    session.stop()


@pytest.fixture
def spark(_session: SparkSession) -> Iterator[SparkSession]:
    """The one session of the test run, without the views and caches of the test before."""
    settings = _session.conf._jconf
    before = settings.getAllAsJava()
    yield _session
    # Asked of the books themselves: SHOW VIEWS takes a plan, and listTables() fails where a view is
    # temporary and no plan is compiled.
    views = _session._jsparkSession.sessionState().catalog().listLocalTempViews("*")
    for view in [views.apply(number).table() for number in range(views.size())]:
        _session.catalog.dropTempView(view)
    _session.catalog.clearCache()
    now = settings.getAllAsJava()
    if not now.equals(before):  # within the JVM: to fetch them takes a call for each
        _restore(_session, dict(before), dict(now))


def _restore(session: SparkSession, before: dict[str, str], now: dict[str, str]) -> None:
    """Take back what the test set, so that no test depends on another's settings."""
    for key in filter(session.conf.isModifiable, now.keys() - before.keys()):
        session.conf.unset(key)
    for key, value in before.items():
        if now.get(key) != value and session.conf.isModifiable(key):
            session.conf.set(key, value)


@pytest.fixture(scope="session")
def demo_warehouse(
    _session: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The warehouse that ``aclkit demo`` makes, once for all tests; none may change it."""
    from click.testing import CliRunner

    from aclkit.cli import cli

    path = tmp_path_factory.mktemp("demo") / "warehouse" / "demo"
    result = CliRunner().invoke(cli, ["--warehouse", str(path), "demo"])
    assert result.exit_code == 0, result.output
    with left_alone(path):
        yield path


@pytest.fixture(scope="session")
def _jvms() -> Iterator[KeptJvms]:
    from tests.kafka.verify.kept_jvms import KeptJvms

    with KeptJvms() as jvms:
        yield jvms


@pytest.fixture(scope="module")
def kept_jvms(_jvms: KeptJvms) -> Iterator[None]:
    """Let all that asks Kafka's authorizer in a file ask the JVM that others asked before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aclkit.kafka.verify.kafka.start_jvm", _jvms.start_jvm)
        yield


@pytest.fixture
def log_to(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TextIO]]:
    """Return what makes a stream stderr, with progress on it that is quick to be told."""
    from aclkit.runtime import progress

    logger = logging.getLogger("aclkit")
    before = logger.handlers, logger.level
    monkeypatch.setattr(progress, "SECONDS", 0.01)
    monkeypatch.setattr(progress, "_measure", None)
    monkeypatch.setattr(progress, "_line", None)

    def make(stream: TextIO, **settings: bool) -> TextIO:
        monkeypatch.setattr(sys, "stderr", stream)
        given = {"is_shared": False, "dumb": False} | settings
        logger.handlers = [progress.ProgressHandler(**given)]
        logger.setLevel(logging.INFO)
        return stream

    yield make
    logger.handlers, logger.level = before
