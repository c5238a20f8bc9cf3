"""KIP-111: custom fields of a principal reach the authorizer, and kafka-acls can name a builder."""

from __future__ import annotations

import pytest

from aclkit.cli.settings_options import builder_of
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import RequestContext
from aclkit.kafka.principals.load import principal_of
from aclkit.kafka.principals.principal import ChannelPrincipal, KafkaPrincipal
from tests.factories import acl
from tests.kafka.authorizer.asking import action

KINDS = """
from aclkit.kafka.principals.principal import ChannelPrincipal, KafkaPrincipal

class Kinds:
    '''Builds services and users, which may have the same name.'''

    def configure(self, properties):
        self.realm = properties.get("realm", "")

    def build_principal(self, properties):
        channel = ChannelPrincipal(properties["name"], {**properties, "realm": self.realm})
        return KafkaPrincipal(properties["kind"].capitalize(), properties["name"], channel)

    def build_principal_from_name(self, name):
        return self.build_principal({"kind": "user", "name": name})
"""


@pytest.fixture
def builder(tmp_path, monkeypatch):
    (tmp_path / "kinds_of_principals.py").write_text(KINDS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return builder_of(
        {
            "principal_builder": "kinds_of_principals:Kinds",
            "principal_builder_properties": ["realm=prod"],
        }
    )


def test_a_principal_without_a_builder_has_no_channel_principal():
    assert KafkaPrincipal("User", "alice").channel_principal is None


def test_the_authorizer_gets_the_channel_principal_in_the_request_context(builder):
    class ByRealm(Authorizer):
        """Refuses principals of another realm, whatever the ACLs say."""

        def authorize(self, context, actions):
            fields = context.principal.attributes
            if fields.get("realm") != "prod":
                return ["DENIED"] * len(actions)
            return super().authorize(context, actions)

    authorizer = ByRealm.over_acls([acl(principal="User:XYZ")])
    built = builder.build_principal_from_name("XYZ")
    plain = KafkaPrincipal("User", "XYZ", ChannelPrincipal("XYZ", {"realm": "test"}))
    found = [
        authorizer.authorize(RequestContext(principal=who, client_address="10.0.0.1"), [action()])
        for who in (built, plain)
    ]
    assert found == [["ALLOWED"], ["DENIED"]]


def test_acls_match_by_type_and_name_whatever_the_custom_fields():
    authorizer = Authorizer.over_acls([acl(principal="User:XYZ")])
    for fields in ({}, {"team": "red"}):
        who = KafkaPrincipal("User", "XYZ", ChannelPrincipal("x", fields))
        context = RequestContext(principal=who, client_address="10.0.0.1")
        assert authorizer.authorize(context, [action()]) == ["ALLOWED"]


def test_one_command_can_name_principals_of_several_kinds_with_the_same_name(builder):
    built = [
        principal_of(text, builder) for text in ("kind=service,name=XYZ", "kind=user,name=XYZ")
    ]
    assert [str(each) for each in built] == ["Service:XYZ", "User:XYZ"]
    assert [each.attributes["realm"] for each in built] == ["prod", "prod"]


def test_the_builder_is_optional_and_without_it_all_is_as_before():
    assert builder_of({"principal_builder": None, "principal_builder_properties": []}) is None
    assert principal_of("User:CN=a,OU=b", None) == KafkaPrincipal("User", "CN=a,OU=b")
