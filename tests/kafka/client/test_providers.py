"""Variables of config.providers: resolved, or refused; never left as a text."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.client.properties import resolve_variables

PACKAGE = "org.apache.kafka.common.config.provider."


def config(value, class_name="FileConfigProvider", name="p", **params):
    given = {f"config.providers.{name}.param.{k.replace('_', '.')}": v for k, v in params.items()}
    return {
        "config.providers": f"other, {name}",
        f"config.providers.{name}.class": PACKAGE + class_name,
        **given,
        "key": value,
    }


def resolved(*args, **params):
    return resolve_variables(config(*args, **params))["key"]


@pytest.fixture
def secrets(tmp_path):
    (tmp_path / "s.properties").write_text("pw=hunter2\nodd=${p:/x:y}\n", encoding="utf-8")
    (tmp_path / "pw").write_text("from a file\n", encoding="utf-8")
    return tmp_path


def test_a_key_of_a_file_is_resolved_wherever_it_stands(secrets):
    path = secrets / "s.properties"
    assert resolved(f"a=${{p:{path}:pw}};b=${{p: {path} : pw }}") == "a=hunter2;b=hunter2"


def test_what_a_provider_returns_is_not_looked_at_again(secrets):
    assert resolved(f"${{p:{secrets}/s.properties:odd}}") == "${p:/x:y}"


def test_a_file_of_a_folder_is_resolved_as_it_is(secrets):
    assert resolved(f"${{p:{secrets}:pw}}", "DirectoryConfigProvider") == "from a file\n"


def test_the_environment_is_resolved(monkeypatch):
    monkeypatch.setenv("ACLKIT_TEST_PW", "hunter2")
    assert resolved("${p:ACLKIT_TEST_PW}", "EnvVarConfigProvider") == "hunter2"
    allowed = resolved("${p:ACLKIT_TEST_PW}", "EnvVarConfigProvider", allowlist_pattern="ACL.*")
    assert allowed == "hunter2"


def test_the_keys_of_the_providers_themselves_are_gone(secrets):
    assert resolve_variables(config("x")) == {"key": "x"}


def test_a_value_without_variables_stays():
    assert resolved("a$b{c}:${d}") == "a$b{c}:${d}"


def test_allowed_paths_are_compared_by_name_with_dots_taken_out(secrets):
    path = secrets / "s.properties"
    assert resolved(f"${{p:{path}:pw}}", allowed_paths=f"/none,{secrets}") == "hunter2"
    for bad in (f"{secrets}/a/../../x", "/etc/passwd", f"{secrets}x/y"):
        with pytest.raises(UsageError, match=r"allowed.paths does not allow"):
            resolved(f"${{p:{bad}:pw}}", allowed_paths=str(secrets))


@pytest.mark.parametrize(
    ("value", "class_name", "message"),
    [
        ("${vault:a:b}", "FileConfigProvider", "names the config provider 'vault'"),
        ("${p:/none:b}", "FileConfigProvider", "Expected a .properties file"),
        ("${p:b}", "FileConfigProvider", "expected a path"),
        ("${p:/none:b}", "DirectoryConfigProvider", "the file does not exist"),
        ("${p:/etc:../etc/hostname}", "DirectoryConfigProvider", "name of a file"),
        ("${p:/x:HOME}", "EnvVarConfigProvider", "expected no path"),
        ("${p:ACLKIT_NO_SUCH}", "EnvVarConfigProvider", "the environment has no"),
        ("${p:a:b}", "VaultConfigProvider", "expected one of"),
    ],
)
def test_what_is_not_resolved_is_refused(value, class_name, message):
    with pytest.raises(UsageError, match=message):
        resolved(value, class_name)


def test_a_key_that_a_file_lacks_is_refused(secrets):
    with pytest.raises(UsageError, match="has no key 'none'"):
        resolved(f"${{p:{secrets}/s.properties:none}}")


def test_a_name_that_the_allowlist_does_not_match_is_refused(monkeypatch):
    monkeypatch.setenv("ACLKIT_TEST_PW", "hunter2")
    for pattern in ("ACLKIT", "("):
        with pytest.raises(UsageError, match=r"allowlist.pattern") as raised:
            resolved("${p:ACLKIT_TEST_PW}", "EnvVarConfigProvider", allowlist_pattern=pattern)
        assert "hunter2" not in str(raised.value)


def test_without_config_providers_a_variable_is_refused_too():
    with pytest.raises(UsageError, match=r"not in config.providers"):
        resolve_variables({"sasl.jaas.config": 'password="${file:/x:pw}"'})
