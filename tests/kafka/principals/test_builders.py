"""KIP-111: principals are built by a class, and their custom fields stay attached."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclkit.cli.settings_options import builder_of
from aclkit.errors import UsageError
from aclkit.kafka.principals.load import (
    load_builder,
    parse_principal_properties,
    parse_properties,
    principal_of,
)
from aclkit.kafka.principals.principal import ChannelPrincipal, KafkaPrincipal
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.model.symbol import PRINCIPALS
from aclkit.pipeline.inventory.entry import ACL, FILE, Entry
from aclkit.pipeline.inventory.files import attributes_built_by, entries_built_by, read_inventory
from aclkit.pipeline.inventory.survey import Given, Texts, survey

X500 = "aclkit.api:X500Builder"
TABLE = "aclkit.api:AttributeTableBuilder"
SHORT = {"ssl.principal.mapping.rules": "RULE:^CN=(.*?),OU=(.*?)(,.*)?$/$1@$2/L,DEFAULT"}


@pytest.fixture
def staff(tmp_path):
    path = tmp_path / "staff.csv"
    path.write_text("principal,team,site\nUser:alice,pay,\nbob,ops,fra\n", encoding="utf-8")
    return load_builder(TABLE, {"table": str(path)})


def test_custom_fields_of_a_principal_stay_attached_as_its_channel_principal():
    built = load_builder(X500, SHORT).build_principal_from_name("cn=Duke, ou=SME, o=x")
    assert str(built) == "User:duke@sme"
    assert built.channel_principal == ChannelPrincipal(
        "CN=Duke,OU=SME,O=x",
        {"CN": "Duke", "OU": "SME", "O": "x", "distinguished_name": "CN=Duke,OU=SME,O=x"},
    )


def test_the_name_of_a_schedule_written_long_ago_still_names_the_builder():
    old = "aclkit.principals:X500Builder"
    assert load_builder(old, SHORT).build_principal_from_name("CN=a,OU=b").name == "a@b"


def test_principals_are_equal_by_type_and_name_whatever_is_attached():
    plain = KafkaPrincipal("User", "a")
    assert plain == KafkaPrincipal("User", "a", ChannelPrincipal("a", {"team": "x"}))
    assert plain.attributes == {}
    assert plain != KafkaPrincipal("Group", "a")


def test_a_principal_is_built_from_properties_or_from_a_name():
    builder = load_builder(X500, SHORT)
    by_name = builder.build_principal_from_name("CN=Duke,OU=SME")
    by_parts = builder.build_principal({"cn": "Duke", "team": "red", "ou": "SME"})
    by_whole = builder.build_principal({"distinguished_name": "CN=Duke,OU=SME"})
    assert by_name == by_parts == by_whole
    assert by_parts.attributes == {**by_name.attributes, "team": "red"}


def test_equal_types_in_a_name_are_numbered():
    built = load_builder(X500, {}).build_principal_from_name("CN=a,DC=mycp,DC=com")
    assert (built.attributes["DC"], built.attributes["DC.2"]) == ("mycp", "com")


def test_a_table_knows_users_by_name_and_others_by_type_and_name(staff):
    assert staff.build_principal_from_name("alice").attributes == {"team": "pay", "site": ""}
    assert staff.build_principal_from_name("User:bob").attributes == {"team": "ops", "site": "fra"}
    assert staff.build_principal_from_name("Group:bob").attributes == {}
    built = staff.build_principal({"principal": "bob", "site": "ams"})
    assert (str(built), built.attributes) == ("User:bob", {"team": "ops", "site": "ams"})


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_table_may_be_json_lines_or_parquet(tmp_path, ending):
    path = tmp_path / f"staff.{ending}"
    rows = [{"principal": "User:a", "age": 7}]
    if ending == "jsonl":
        path.write_text(json.dumps(rows[0]), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    built = load_builder(TABLE, {"table": str(path)}).build_principal_from_name("a")
    assert built.attributes == {"age": "7"}


@pytest.mark.parametrize("row", ['{"principal": null}', '{"principal": ""}'])
def test_a_row_of_a_table_names_a_principal(tmp_path, row):
    path = tmp_path / "staff.jsonl"
    path.write_text('{"principal": "a"}\n' + row, encoding="utf-8")
    with pytest.raises(UsageError, match=r"staff\.jsonl, row 2: expected a principal, found none"):
        load_builder(TABLE, {"table": str(path)})


@pytest.mark.parametrize(
    ("name", "properties", "message"),
    [
        ("X500Builder", {}, "expected module:Class"),
        ("aclkit.api:", {}, "expected module:Class"),
        ("aclkit..principals:X500Builder", {}, "expected module:Class"),
        ("../evil:Builder", {}, "expected module:Class"),
        (
            "no_such_module_x:Builder",
            {},
            "the module no_such_module_x does not exist. Check that its folder is on PYTHONPATH",
        ),
        ("aclkit.no_such:Builder", {}, "the module aclkit.no_such"),
        ("aclkit.api:Missing", {}, "has no such class"),
        ("aclkit.kafka.principals.load:load_builder", {}, "has no such class"),
        ("aclkit.api:KafkaPrincipal", {}, "expected the methods configure"),
        (X500, {"rules": "x"}, "Expected the property ssl.principal.mapping.rules, found rules"),
        (X500, {"ssl.principal.mapping.rules": "RULE:(/x/"}, "Invalid rule"),
        (TABLE, {}, "Expected the property table=FILE, found none"),
        (TABLE, {"table": "nowhere.csv"}, "the file does not exist"),
        (TABLE, {"table": "", "a\nb": ""}, r"found 'a\\nb', table"),
        (X500, {"a\nb": ""}, r"found 'a\\nb'"),
    ],
)
def test_a_builder_that_cannot_be_had_is_the_requests_fault(name, properties, message):
    with pytest.raises(UsageError, match=message):
        load_builder(name, properties)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise OSError('no disk')", "failed: OSError: no disk"),
        ("import no_such_helper_x", "failed: ModuleNotFoundError: .*no_such_helper_x"),
        ("class Mine:\n def __init__(self, x): pass", "expected the methods"),
        (
            "class Mine:\n def __init__(self, x): pass\n def configure(self, p): pass\n"
            " def build_principal(self, p): pass\n def build_principal_from_name(self, n): pass",
            "failed: TypeError",
        ),
    ],
)
def test_what_goes_wrong_in_somebody_elses_builder_is_said_plainly(
    tmp_path, monkeypatch, request, body, message
):
    module = f"mine_{abs(hash(request.node.name))}"
    (tmp_path / f"{module}.py").write_text(body, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=message):
        load_builder(f"{module}:Mine", {})


OWN = """
from aclkit.kafka.principals.principal import ChannelPrincipal, KafkaPrincipal

class Mine:
    def configure(self, properties):
        self.team = properties["team"]
    def build_principal(self, properties):
        return KafkaPrincipal("Service", properties["id"], ChannelPrincipal("x", dict(properties)))
    def build_principal_from_name(self, name):
        if name == "crash":
            raise KeyError(name)
        if name == "odd":
            return "User:odd"
        return KafkaPrincipal("User", name, ChannelPrincipal(name, {"team": self.team}))
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "own_builder.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return builder_of(
        {"principal_builder": "own_builder:Mine", "principal_builder_properties": ["team=red=blue"]}
    )


def test_ones_own_class_builds_principals(mine):
    assert mine.build_principal_from_name("a").attributes == {"team": "red=blue"}
    assert str(principal_of(r"id=a\,b,site=fra", mine)) == "Service:a,b"
    assert str(principal_of("plain", mine)) == "User:plain"


@pytest.mark.parametrize(
    ("name", "message"),
    [("crash", "failed: KeyError"), ("odd", "must return a KafkaPrincipal of texts. For 'odd'")],
)
def test_what_a_builder_raises_or_returns_wrongly_is_said_plainly(mine, name, message):
    with pytest.raises(UsageError, match=message):
        mine.build_principal_from_name(name)


def test_without_a_builder_a_principal_is_type_and_name():
    assert str(principal_of("User:CN=a,OU=b", None)) == "User:CN=a,OU=b"
    with pytest.raises(UsageError, match="has no principal type"):
        principal_of("alice", None)


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["table"], "expected key=value"), (["=x"], "expected key=value"), (["a=1", "a=2"], "twice")],
)
def test_bad_properties_are_refused(texts, message):
    with pytest.raises(UsageError, match=message):
        parse_properties(texts)
    with pytest.raises(UsageError, match=message):
        parse_principal_properties(",".join(texts))


def test_properties_without_a_builder_are_refused():
    assert builder_of({"principal_builder": None, "principal_builder_properties": ()}) is None
    with pytest.raises(UsageError, match="--principal-builder"):
        builder_of({"principal_builder": None, "principal_builder_properties": ["a=b"]})


def test_rows_of_an_inventory_are_built_from_their_name_or_from_all_their_columns(tmp_path):
    build = entries_built_by(load_builder(X500, SHORT))
    by_name, by_columns = tmp_path / "names.csv", tmp_path / "columns.csv"
    by_name.write_text('principal,team\n"CN=Duke,OU=SME",red\n', encoding="utf-8")
    by_columns.write_text("CN,OU,team\nDuke,SME,red\n", encoding="utf-8")
    for path in (by_name, by_columns):
        (entry,) = read_inventory(None, str(path), PRINCIPALS, build)
        assert (entry.name, entry.origin) == ("User:duke@sme", FILE)
        assert entry.attributes["team"] == "red"
        assert entry.attributes["distinguished_name"] == "CN=Duke,OU=SME"


def test_a_row_that_the_builder_refuses_is_named(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text('principal\n"CN=Duke"\nalice\n', encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"names\.csv, row 2: .*Invalid distinguished name 'alice'"
    ):
        read_inventory(None, str(path), PRINCIPALS, entries_built_by(load_builder(X500, {})))


def test_principals_of_the_log_get_attributes_and_never_another_name(staff):
    texts = Texts(patterns=(), principals=("User:alice", "User:eve"), hosts=())
    for builder, alice in (
        (staff, {"team": "pay", "site": ""}),
        (load_builder(X500, SHORT), {}),
    ):
        given = Given(attributes_of=attributes_built_by(builder))
        found = survey(texts, [], given, BrokerSettings(), KIP_1042)
        known = {entry.name: entry for entry in found.principals if entry.origin == ACL}
        assert known["User:alice"].attributes == alice
        assert known["User:eve"].attributes == {}


def test_a_file_describes_its_principals_alone(staff):
    given = Given(
        entries={PRINCIPALS: [Entry(name="User:alice", origin=FILE, attributes={"x": "y"})]},
        attributes_of=attributes_built_by(staff),
    )
    texts = Texts(patterns=(), principals=(), hosts=())
    found = survey(texts, [], given, BrokerSettings(), KIP_1042)
    assert found.principals[0].attributes == {"x": "y"}
