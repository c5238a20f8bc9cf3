"""What can refuse a run does so before Spark starts: files, configuration, lock, cluster."""

from __future__ import annotations

import fcntl

import pytest

from tests.cli.running import DATA, Warehouse
from tests.pipeline.sources import fake_broker as fake
from tests.pipeline.sources.fake_broker import fake_broker

pytestmark = pytest.mark.timeout(60)

READ = (2, "orders", 3, "User:alice", "*", 3, 3)
PASSWORD = "hunter2-very-secret"
LOG = "[2026-11-22 10:00:00,123] WARN slow (org.apache.kafka.Client)\n"
COMMANDS = ["replay", "run"]


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    def started(*_args, **_named):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("aclkit.runtime.spark.build_session", started)
    return Warehouse(tmp_path / "warehouse")


def refused(warehouse, command, source, *more, code):
    result = warehouse.run(command, "--source", source, *more, code=code)
    assert PASSWORD not in result.output
    return result.output


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", ["", "\n\n", LOG, "WARNING: x\n" + LOG])
def test_a_listing_without_acls_is_refused(warehouse, tmp_path, command, text):
    (tmp_path / "acls.txt").write_text(text, encoding="utf-8")
    said = refused(warehouse, command, f"acls-list:{tmp_path}/acls.txt", code=3)
    assert "found none" in said
    assert "--allow-empty" in said


def test_a_listing_whose_every_acl_is_misspelt_is_refused(warehouse, tmp_path):
    (tmp_path / "acls.txt").write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x, "
        "patternType=LITERAL)`:\n\t(principal=User:b, host=*, operation=READ, "
        "permissionType=ALLOV)\n"
    )
    said = refused(warehouse, "replay", f"acls-list:{tmp_path}/acls.txt", code=3)
    assert "found none that can be used. 1 line cannot be used: line 2: unknown" in said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("pasted-listings/add-output.txt", "--add or --remove"),
        ("pasted-listings/of-a-principal.txt", "kafka-acls --list without --principal"),
        ("other-acl-forms/rpk-print-filters.txt", "--print-filters"),
        ("pasted-listings/wrapped80.txt", "wrapped or cut"),
        ("pasted-listings/kafka-1.0.txt", "kafka-acls up to Kafka 2.2"),
        ("other-acl-forms/desired.sh", "a shell script"),
        ("other-acl-forms/kafka-ui.csv", "CSV"),
        ("other-acl-forms/kafka.tf", "Terraform"),
        ("other-acl-forms/kafkauser.yaml", "Strimzi KafkaUser"),
        ("other-acl-forms/ksm.csv", "kafka-security-manager"),
    ],
)
def test_a_listing_in_a_form_that_is_not_read(warehouse, command, name, form):
    path = f"acls-list:{DATA / name}"
    said = refused(warehouse, command, path, "--allow-empty", "--accept-holes", code=3)
    (error,) = [line for line in said.splitlines() if line.startswith("Error: ")]
    assert form in error
    assert not warehouse.path.exists()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            b"User:relation-81",
            "User:J\u00f6rg".encode("latin-1"),
            "line 2: bytes that are not UTF-8",
        ),
        (b"ALLOW)\n\t", b"ALLOW) ", "line 5: two lines of kafka-acls are joined"),
        (b"ALLOW)\n", b"ALLOW)  # for a\n", "line 2: there is text after the output of kafka-acls"),
    ],
)
def test_a_listing_of_which_a_line_is_not_as_kafka_acls_wrote_it(
    warehouse, tmp_path, old, new, reason
):
    text = (DATA / "pasted-listings" / "tabs.txt").read_bytes()
    (tmp_path / "acls.txt").write_bytes(text.replace(old, new))
    assert reason in refused(warehouse, "replay", f"acls-list:{tmp_path}/acls.txt", code=3)


def test_a_listing_of_which_grep_took_acls_away(warehouse, tmp_path):
    lines = (
        (DATA / "pasted-listings" / "tabs.txt")
        .read_text(encoding="utf-8")
        .splitlines(keepends=True)
    )
    kept = [line for line in lines if "operation=WRITE" in line or "principal=" not in line]
    (tmp_path / "acls.txt").write_text("".join(kept), encoding="utf-8")
    said = refused(warehouse, "replay", f"acls-list:{tmp_path}/acls.txt", code=3)
    assert "line 1: no ACL follows the line that names a resource" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_lock_that_another_run_holds(warehouse, command):
    warehouse.path.mkdir()
    with fake_broker([READ]) as broker, (warehouse.path / ".aclkit.lock").open("a") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        said = refused(
            warehouse, command, f"live:{broker.bootstrap}", "--lock-timeout", "0.2", code=4
        )
    assert "holds the lock" in said
    assert broker.asked == []


@pytest.mark.parametrize("command", ["materialize", "maintain"])
def test_the_lock_comes_first_for_commands_without_a_source_too(warehouse, command):
    warehouse.path.mkdir()
    with (warehouse.path / ".aclkit.lock").open("a") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        result = warehouse.run(command, "--lock-timeout", "0.2", code=4)
    assert "holds the lock" in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cluster_that_does_not_answer_in_the_time_given(warehouse, command):
    with fake_broker(is_mute=True) as broker:
        source = f"live:{broker.bootstrap}"
        said = refused(warehouse, command, source, "--timeout", "0.5", code=4)
    assert "Error: Cannot connect to the cluster at 127.0.0.1:" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_credentials(warehouse, tmp_path, command):
    (tmp_path / "client.properties").write_text(
        "security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        f"username=alice password='{PASSWORD}';\nclient.dns.lookup=x\n"
    )
    config = ("--command-config", tmp_path / "client.properties")
    with fake_broker([READ]) as broker:
        said = refused(warehouse, command, f"live:{broker.bootstrap}", *config, code=4)
    assert "authentication failed" in said
    assert said.count("not honoured") == 1
    assert "'client.dns.lookup'" in said


def test_a_configuration_that_cannot_be_used_names_the_way_out(warehouse, tmp_path):
    (tmp_path / "client.properties").write_text("security.protocol=SASL_SSL\n", encoding="utf-8")
    config = ("--command-config", tmp_path / "client.properties")
    said = refused(warehouse, "replay", "live:127.0.0.1:1", *config, code=2)
    assert "kafka-acls --bootstrap-server" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_user_without_the_right_to_list_acls(warehouse, command):
    with fake_broker(error=(31, "no")) as broker:
        said = refused(warehouse, command, f"live:{broker.bootstrap}", code=4)
    assert "Missing right: DESCRIBE on the cluster for User:NAME. Next: kafka-acls" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_another_authorizer(warehouse, command):
    told = {fake.CONFIGS: fake.configs(authorizer_class_name="org.example.Opa")}
    with fake_broker([READ], parts=told) as broker:
        said = refused(warehouse, command, f"live:{broker.bootstrap}", code=3)
    assert "uses the authorizer 'org.example.Opa'" in said
    assert "kafka-acls --list" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_broker_without_an_authorizer(warehouse, command):
    told = {fake.CONFIGS: fake.configs(authorizer_class_name="")}
    with fake_broker([READ], parts=told) as broker:
        said = refused(warehouse, command, f"live:{broker.bootstrap}", code=3)
    assert "Broker 1 has no authorizer (authorizer.class.name), so it allows everything" in said


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("server.properties", "has no authorizer (authorizer.class.name)"),
        ("server.properties", "'authorizer.class', which Kafka ignores"),
        ("server.properties", "pass --super-users (or --no-super-users) and --allow-everyone"),
        ("opa.properties", "'com.example.kafka.authorization.OpaAuthorizer', whose rules"),
    ],
)
def test_a_file_whose_broker_does_not_decide_by_acls(warehouse, file, said):
    field = DATA / "field" / "08-no-authorizer"
    config = ("--server-properties", field / file)
    source = f"acls-list:{field / 'acls.txt'}"
    assert said in refused(warehouse, "run", source, *config, code=3)
    assert said in warehouse.run("materialize", *config, code=3).output
