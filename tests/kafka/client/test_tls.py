"""ssl.* of a client's configuration, tried in handshakes with a server in memory."""

from __future__ import annotations

import ssl

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.client.properties import parse_properties
from aclkit.kafka.client.tls import tls_context
from tests.kafka.client import stores

PASSWORD = "store-secret"


def server(tmp_path, **changes):
    key, certificate = stores.identity("server")
    file = tmp_path / "server.pem"
    file.write_text(stores.pem_key(key) + stores.pem(certificate), encoding="utf-8")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    context.load_verify_locations(cadata=stores.pem(stores.authority("ca")[1]))
    context.verify_mode = ssl.CERT_REQUIRED
    for name, value in changes.items():
        setattr(context, name, value)
    return context


def shaken(client, server, host="127.0.0.1"):
    """Return (protocol, common name that the server saw) of a handshake."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(10):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    subject = dict(part[0] for part in ends[1].getpeercert()["subject"])
    return ends[0].version(), subject["commonName"]


def inline(password=None):
    """Return a configuration with everything in it, and nothing in files."""
    key, certificate = stores.identity("client")
    given = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": stores.pem(stores.authority("ca")[1]),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": stores.pem_key(key, password),
        "ssl.keystore.certificate.chain": stores.pem(certificate),
    }
    return given | ({"ssl.key.password": password} if password else {})


@pytest.mark.parametrize("joined", ["\n", " ", "\\n"])
@pytest.mark.parametrize("password", [None, PASSWORD])
def test_pem_in_the_configuration_may_stand_in_one_line(tmp_path, joined, password):
    properties = {k: v.strip().replace("\n", joined) for k, v in inline(password).items()}
    assert shaken(tls_context(properties), server(tmp_path)) == ("TLSv1.3", "client")


def test_pem_in_one_line_of_a_properties_file(tmp_path):
    text = "".join(f"{k}={v!r}\n".replace("'", "") for k, v in inline().items())
    assert shaken(tls_context(parse_properties(text)), server(tmp_path))[1] == "client"


def test_pem_in_files(tmp_path):
    key, certificate = stores.identity("client")
    (tmp_path / "ca.pem").write_text(stores.pem(stores.authority("ca")[1]), encoding="utf-8")
    (tmp_path / "client.pem").write_text(
        stores.pem_key(key, PASSWORD) + stores.pem(certificate), encoding="utf-8"
    )
    properties = {
        **{"ssl.truststore.type": "PEM", "ssl.truststore.location": f"{tmp_path}/ca.pem"},
        **{"ssl.keystore.type": "PEM", "ssl.keystore.location": f"{tmp_path}/client.pem"},
        "ssl.key.password": PASSWORD,
    }
    assert shaken(tls_context(properties), server(tmp_path))[1] == "client"


def pkcs12(tmp_path, **changes):
    (tmp_path / "trust.p12").write_bytes(stores.trust_store(PASSWORD))
    (tmp_path / "key.p12").write_bytes(stores.key_store("client", PASSWORD))
    return {
        "ssl.truststore.location": f"{tmp_path}/trust.p12",
        "ssl.truststore.password": PASSWORD,
        "ssl.keystore.location": f"{tmp_path}/key.p12",
        "ssl.keystore.password": PASSWORD,
    } | changes


@pytest.mark.parametrize("kind", ["PKCS12", "pkcs12", "JKS", ""])
def test_pkcs12_stores_are_read_under_the_type_jks_too_as_java_does(tmp_path, kind):
    kinds = {"ssl.truststore.type": kind, "ssl.keystore.type": kind}
    context = tls_context(pkcs12(tmp_path, **kinds))
    assert shaken(context, server(tmp_path))[1] == "client"


@pytest.mark.parametrize("store", ["truststore", "keystore"])
@pytest.mark.parametrize(("magic", "kind"), [(b"\xfe\xed\xfe\xed", "JKS"), (b"\xce" * 4, "JCEKS")])
def test_a_store_of_javas_own_is_refused_with_the_line_that_converts_it(
    tmp_path, store, magic, kind
):
    path = tmp_path / "a store.jks"
    path.write_bytes(magic + b"\0\0\0\2")
    with pytest.raises(UsageError) as raised:
        tls_context({f"ssl.{store}.location": str(path)})
    assert (
        f"keytool -importkeystore -srckeystore '{path}' -srcstoretype {kind} -destkeystore "
        f"'{tmp_path}/a store.p12' -deststoretype PKCS12" in str(raised.value)
    )


def test_another_authority_is_not_trusted(tmp_path):
    (tmp_path / "other.p12").write_bytes(stores.trust_store(PASSWORD, "other"))
    context = tls_context(pkcs12(tmp_path, **{"ssl.truststore.location": f"{tmp_path}/other.p12"}))
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(context, server(tmp_path))


def test_the_name_of_the_host_is_checked_unless_the_configuration_says_otherwise(tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(tls_context(inline()), server(tmp_path), "elsewhere")
    unchecked = tls_context(inline() | {"ssl.endpoint.identification.algorithm": ""})
    assert shaken(unchecked, server(tmp_path), "elsewhere")[1] == "client"


@pytest.mark.parametrize(
    "given",
    [
        {"ssl.enabled.protocols": "TLSv1.2"},
        {"ssl.protocol": "TLSv1.2"},
        {"ssl.enabled.protocols": "TLSv1.1, TLSv1.2"},
    ],
)
def test_protocols_are_honoured(tmp_path, given):
    assert shaken(tls_context(inline() | given), server(tmp_path))[0] == "TLSv1.2"


def test_without_a_truststore_the_systems_is_used():
    assert tls_context({}).verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ssl.truststore.certificates": "x"}, "expected PEM"),
        ({"ssl.truststore.certificates": stores.pem_key(stores.identity("client")[0])}, "certif"),
        ({"ssl.keystore.key": "-----BEGIN PRIVATE KEY----- AAAA -----END PRIVATE KEY-----"}, "key"),
        ({"ssl.keystore.certificate.chain": ""}, "certificate, found none"),
        (
            {"ssl.keystore.certificate.chain": stores.pem(stores.identity("server")[1])},
            "cannot be used",
        ),
        ({"ssl.enabled.protocols": "SSLv3"}, "ssl.enabled.protocols"),
        ({"ssl.protocol": "SSLv3"}, "ssl.protocol"),
        ({"ssl.endpoint.identification.algorithm": "ldap"}, "https or nothing"),
    ],
)
def test_what_cannot_be_used_is_a_usage_error(changes, message):
    with pytest.raises(UsageError, match=message):
        tls_context(inline() | changes)


def test_a_key_that_is_encrypted_needs_its_password():
    with pytest.raises(UsageError, match=r"encrypted; expected ssl.key.password"):
        tls_context({**inline(PASSWORD), "ssl.key.password": ""})
    with pytest.raises(UsageError, match=r"check ssl.key.password") as raised:
        tls_context({**inline(PASSWORD), "ssl.key.password": "wrong-one"})
    assert "wrong-one" not in str(raised.value)


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_wrong_password_of_a_store_is_a_usage_error(tmp_path, store):
    with pytest.raises(UsageError, match=rf"ssl\.{store}\.password is wrong") as raised:
        tls_context(pkcs12(tmp_path, **{f"ssl.{store}.password": "wrong-one"}))
    assert "wrong-one" not in str(raised.value)


@pytest.mark.parametrize("where", ["/none", "/", "a\0b"])
def test_a_store_that_cannot_be_read_is_a_usage_error(where):
    with pytest.raises(UsageError, match=r"ssl.truststore.location"):
        tls_context({"ssl.truststore.location": where})


def test_a_store_of_another_type_is_refused(tmp_path):
    with pytest.raises(UsageError, match="PEM or PKCS12, found 'BKS'"):
        tls_context(pkcs12(tmp_path, **{"ssl.truststore.type": "BKS"}))
