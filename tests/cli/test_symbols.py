"""The symbols of any other at every door: a person's is refused, a cluster's decides nothing else.

A cluster may have a client, an ACL or a super user of literally such a name. It stays, its name is
no known one, and the row of the symbol is decided as if the name were any other text.
"""

from __future__ import annotations

import json
import shlex

import pytest

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.rules import decide
from tests.cli.running import Warehouse

OTHER_GROUP = f"Group:{ANY_OTHER}"
SUPER = BrokerSettings(super_users=frozenset({ANY_OTHER_PRINCIPAL, "User:root"}))
PROPERTIES = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
    f"super.users={ANY_OTHER_PRINCIPAL};User:root\nallow.everyone.if.no.acl.found=true\n"
)
POLICY = '[[never]]\nname = "x"\nprincipals = [{who}]\nresources = [{what}]\n'
KEPT = '[[keep]]\nprincipal = {who}\noperation = "READ"\nresource = {what}\n'
USER, GROUP = json.dumps(ANY_OTHER_PRINCIPAL), json.dumps(f"group:{ANY_OTHER}")
FILES = {
    "principals.csv": f"principal\n{ANY_OTHER_PRINCIPAL}\n",
    "groups.csv": f"principal\n{OTHER_GROUP}\n",
    "hosts.csv": f"host\n{ANY_OTHER}\n",
    "ranges.csv": "host\n<any-other in 10.0.0.0/8>\n",
    "resources.csv": f"resource_type,resource_name\ngroup,{ANY_OTHER}\n",
    "settings.toml": f"super_users = {USER}\n",
    "who.toml": POLICY.format(who=USER, what='"topic:t"'),
    "what.toml": POLICY.format(who='"User:a"', what=GROUP),
    "keep-who.toml": KEPT.format(who=USER, what='"topic:t"'),
    "keep-what.toml": KEPT.format(who='"User:a"', what=GROUP),
}
ADD = "--allow-principal '{}' --operation Read --{}"
OF_A_PERSON = {
    "option": f"run --source records:log.jsonl --super-users 'User:a;{ANY_OTHER_PRINCIPAL}'",
    "another type": f"run --source records:log.jsonl --super-users '{OTHER_GROUP}'",
    "settings file": "run --config settings.toml --source records:log.jsonl",
    "init": f"init --source acls-list:x --super-users '{ANY_OTHER_PRINCIPAL}'",
    "proof": f"prove never who.toml --super-users '{ANY_OTHER_PRINCIPAL}'",
    "principals": "materialize --super-users '' --principals principals.csv",
    "groups": "materialize --super-users '' --principals groups.csv",
    "hosts": "materialize --super-users '' --hosts hosts.csv",
    "ranges": "materialize --super-users '' --hosts ranges.csv",
    "resources": "materialize --super-users '' --resources resources.csv",
    "policy's principal": "assert who.toml",
    "policy's resource": "assert what.toml",
    "preview's principal": f"preview add-acl {ADD.format(ANY_OTHER_PRINCIPAL, 'topic t')}",
    "preview's host": (
        f"preview add-acl {ADD.format('User:a', 'topic t')} --allow-host '{ANY_OTHER}'"
    ),
    "preview's group": f"preview add-acl {ADD.format('User:a', f'''group '{ANY_OTHER}' ''')}",
    "new ACL": f"--warehouse new acls add {ADD.format(ANY_OTHER_PRINCIPAL, 'topic t')}",
    "kept principal": "narrow User:a --keep keep-who.toml",
    "kept resource": "narrow User:a --keep keep-what.toml",
    "map of names": f"diff --with K --map 'a={ANY_OTHER}'",
    "map of principals": f"diff --with K --map-principal 'User:a={ANY_OTHER_PRINCIPAL}'",
}
"""What a person gives → the command that refuses it."""

ACLS = [
    Acl(
        acl_id=f"{'A' * 20}{number}A", resource_type=kind, resource_name=name,
        pattern_type="LITERAL", principal=who, host=host, operation="READ", permission_type=how,
    )
    for number, (kind, name, who, host, how) in enumerate([
        ("TOPIC", "t", ANY_OTHER_PRINCIPAL, "*", "ALLOW"),
        ("TOPIC", "u", OTHER_GROUP, "*", "ALLOW"),
        ("TOPIC", "v", "User:*", ANY_OTHER, "DENY"),
        ("TOPIC", "w", "User:a", "*", "ALLOW"),
        ("TOPIC", "w", ANY_OTHER_PRINCIPAL, "*", "DENY"),
        ("GROUP", ANY_OTHER, "User:*", "*", "ALLOW"),
        ("USER", ANY_OTHER_PRINCIPAL, "User:a", "*", "ALLOW"),
        ("TRANSACTIONAL_ID", ANY_OTHER, ANY_OTHER_PRINCIPAL, "*", "DENY"),
    ])
]  # fmt: skip
CODES = {"TOPIC": 2, "GROUP": 3, "TRANSACTIONAL_ID": 5, "USER": 7}


def record(offset, kind, **data):
    line = {"offset": offset, "timestamp": 1_795_252_623_473 + offset, "type": kind, "version": 0}
    return json.dumps({**line, "data": data}) + "\n"


def log():
    """The records of a cluster in which every name that a stranger chooses is a symbol."""
    rows = [
        ("ACCESS_CONTROL_ENTRY_RECORD", {
            "id": acl.acl_id, "resourceType": CODES[acl.resource_type],
            "resourceName": acl.resource_name, "patternType": 3, "principal": acl.principal,
            "host": acl.host, "operation": 3,
            "permissionType": 3 if acl.permission_type == "ALLOW" else 2,
        })
        for acl in ACLS
    ]  # fmt: skip
    rows += [
        ("TOPIC_RECORD", {"name": name, "topicId": f"{'B' * 20}{at}A"})
        for at, name in enumerate(("t", "u", "v", "w", "none", ANY_OTHER))
    ]
    scram = {"mechanism": 1, "salt": "", "storedKey": "", "serverKey": "", "iterations": 4096}
    rows.append(("USER_SCRAM_CREDENTIAL_RECORD", {"name": ANY_OTHER, **scram}))
    return "".join(record(at, kind, **data) for at, (kind, data) in enumerate(rows))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the files of a person and of a cluster, and the warehouse of a run on these."""
    folder = tmp_path_factory.mktemp("symbols")
    for name, text in {**FILES, "log.jsonl": log(), "server.properties": PROPERTIES}.items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Warehouse(folder / "wh").run(
            *("run", "--source", "records:log.jsonl", "--fail-on", "never", "--dense", "always"),
            *("--server-properties", "server.properties"),
            cluster="K",
        )
    return folder


@pytest.fixture
def warehouse(place, monkeypatch):
    monkeypatch.chdir(place)
    return Warehouse(place / "wh")


@pytest.mark.parametrize("door", OF_A_PERSON)
def test_what_a_person_gives_is_refused(warehouse, door):
    result = warehouse.run(*shlex.split(OF_A_PERSON[door]), code=2)
    assert ANY_OTHER in result.stderr.replace("<any-other in 10.0.0.0/8>", ANY_OTHER)
    assert warehouse.published().run.run_number == 0


def test_no_name_of_the_cluster_is_known_under_a_symbol_and_notes_say_so(warehouse):
    for table, name in (("principal", "principal"), ("resource", "resource_name")):
        rows = warehouse.sql(
            f"SELECT {name} AS name, is_any_other FROM {table} WHERE {name} LIKE '%any-other%'"
        )
        real = [row["name"] for row in rows if row["is_any_other"] != "true"]
        assert real == ([ANY_OTHER_PRINCIPAL] if table == "resource" else [])  # USER has the name
    notes = " ".join(warehouse.published().run.notes)
    for name in (ANY_OTHER, ANY_OTHER_PRINCIPAL, OTHER_GROUP):
        assert f"The name {name} was left out, because aclkit uses it as a symbol." in notes


def test_the_acls_and_the_super_user_stay(warehouse):
    assert sum(warehouse.acls().values()) == len(ACLS)
    listed = warehouse.run("acls", "list", "--principal", ANY_OTHER_PRINCIPAL).stdout
    assert listed.count(f"principal={ANY_OTHER_PRINCIPAL}") == 3
    assert ANY_OTHER_PRINCIPAL in warehouse.sql("SELECT super_users FROM setting")[0]["super_users"]
    assert warehouse.sql("SELECT principal FROM principal WHERE is_super_user") == [
        {"principal": "User:root"}
    ]
    note = f"The super user '{ANY_OTHER_PRINCIPAL}' is one client of this very name."
    assert note in " ".join(warehouse.published().run.notes)


def test_every_cell_is_that_of_the_rule_with_the_symbol_as_no_name(warehouse):
    settings = BrokerSettings(super_users=SUPER.super_users, allow_everyone=True)
    columns = ", ".join((*Request.__slots__, "decision", "rule"))
    rows = warehouse.sql(f"SELECT {columns} FROM explain")
    wrong = []
    for row in rows:
        *asked, decision, rule = row.values()
        ruling = decide(
            ACLS, Request(**dict(zip(Request.__slots__, asked, strict=True))), settings, KAFKA
        )
        if (decision, rule) != (ruling.decision, ruling.rule):
            wrong.append((asked, decision, ruling))
    assert wrong == []
    of_symbol = {row["rule"] for row in rows if row["principal"] == ANY_OTHER_PRINCIPAL}
    assert of_symbol == {"DefaultAllow", "DefaultDeny"}


ANSWERS = {
    "t": "DENIED",  # by the ACL of the name alone: it ends the default
    "none": "ALLOWED",
    "w": "DENIED",
}


@pytest.mark.parametrize("topic", ANSWERS)
def test_questions_about_the_symbol_agree(warehouse, topic):
    asked = (ANY_OTHER_PRINCIPAL, "READ", f"topic:{topic}")
    why = json.loads(warehouse.run("why", *asked, "-o", "json").stdout)
    who = warehouse.run("who-can", "READ", f"topic:{topic}", "-o", "csv").stdout
    what = warehouse.run("what-can", ANY_OTHER_PRINCIPAL, f"topic:{topic}", "-o", "csv").stdout
    allowed = ANSWERS[topic] == "ALLOWED"
    assert why["decision"] == ANSWERS[topic]
    assert (ANY_OTHER_PRINCIPAL in who) is allowed
    assert (",READ," in what) is allowed


def test_a_preview_of_removing_such_an_acl_frees_the_topic_for_the_symbol(warehouse):
    answer = warehouse.run(
        *("preview", "remove-acl", "--allow-principal", ANY_OTHER_PRINCIPAL, "--operation", "Read"),
        *("--topic", "t", "-o", "json"),
    )
    found = json.loads(answer.stdout)
    gained = {row["principal"] for row in found["gained"]}
    assert (found["verdict"], gained) == ("more", {ANY_OTHER_PRINCIPAL, "User:a"})
