"""How object storage is reached: what a settings file may say, and what Spark is told."""

from __future__ import annotations

import pytest

from aclkit.api import use_storage
from aclkit.errors import UsageError
from aclkit.runtime.object_stores import s3_access, spark_options
from aclkit.runtime.storage_settings import fill_environment, storage_said

HERE = "http://127.0.0.1:9000"
THERE = "https://minio.example:9000"
S3A = "spark.hadoop.fs.s3a."


def filled(said, **env):
    fill_environment(said, "a.toml", env)
    return env


def test_a_settings_file_fills_what_the_environment_does_not_say():
    said = {"endpoint": THERE + "/", "region": "eu-central-1", "path-style": False}
    assert filled(said) == {
        "AWS_ENDPOINT_URL": THERE,
        "AWS_REGION": "eu-central-1",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_ENDPOINT_URL", "https://other.example"),
        ("AWS_ENDPOINT_URL_S3", "https://other.example"),
        ("AWS_ENDPOINT", "https://other.example"),
    ],
)
def test_the_environment_wins_under_each_of_its_names(name, value):
    assert filled({"endpoint": THERE}, **{name: value}) == {name: value}


def test_a_region_of_the_environment_wins_under_both_its_names():
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        assert filled({"region": "eu-west-1"}, **{name: "us-west-2"}) == {name: "us-west-2"}


def test_an_empty_variable_says_nothing():
    assert filled({"region": "eu-west-1"}, AWS_REGION="")["AWS_REGION"] == "eu-west-1"


def test_plain_http_is_allowed_to_this_machine_alone():
    assert filled({"endpoint": HERE})["AWS_ALLOW_HTTP"] == "true"
    with pytest.raises(UsageError, match="plain HTTP to another machine"):
        filled({"endpoint": "http://minio.example:9000"})


def test_plain_http_elsewhere_is_allowed_where_somebody_says_so():
    endpoint = {"endpoint": "http://minio.example:9000"}
    assert filled({**endpoint, "allow_http": True})["AWS_ALLOW_HTTP"] == "true"
    assert filled(endpoint, AWS_ALLOW_HTTP="true")["AWS_ENDPOINT_URL"] == endpoint["endpoint"]


def test_an_endpoint_that_the_environment_replaces_is_not_judged():
    env = filled({"endpoint": "http://minio.example:9000"}, AWS_ENDPOINT_URL=THERE)
    assert env == {"AWS_ENDPOINT_URL": THERE}


@pytest.mark.parametrize(
    "key",
    ["secret", "access_key", "access-key-id", "secret_access_key", "session_token", "password",
     "sas", "credentials", "authorization"],
)  # fmt: skip
def test_a_secret_is_refused_and_not_shown(key):
    with pytest.raises(UsageError) as refused:
        filled({key: "hunter2"})
    assert str(refused.value).startswith(f"a.toml: [storage]: {key.replace('-', '_')} looks")
    assert "AWS_SECRET_ACCESS_KEY" in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([], "[storage]: expected a table, found []"),
        ({"nope": 1}, "unknown nope; expected some of allow_http, endpoint, path_style, region"),
        ({"region": 1}, "region: expected a region such as eu-central-1, found 1"),
        ({"region": "eu\nx"}, "region: expected a region such as eu-central-1, found 'eu\\nx'"),
        ({"endpoint": 1}, "endpoint: expected a text, found 1"),
        ({"endpoint": "minio:9000"}, "endpoint: expected an address such as https://HOST:PORT"),
        ({"endpoint": "https://"}, "endpoint: expected an address such as https://HOST:PORT"),
        ({"endpoint": "https://[x"}, "endpoint: expected an address such as https://HOST:PORT"),
        ({"endpoint": "https://a:99999"}, "endpoint: expected an address such as https://HOST"),
        ({"path_style": "yes"}, "path_style: expected true or false, found 'yes'"),
        ({"allow_http": 1}, "allow_http: expected true or false, found 1"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_key(said, message):
    with pytest.raises(UsageError) as refused:
        filled(said)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "endpoint", ["https://key:hunter2@host", "https://host?sig=hunter2", "https://host#hunter2"]
)
def test_an_endpoint_with_a_secret_is_refused_and_not_shown(endpoint):
    with pytest.raises(UsageError) as refused:
        filled({"endpoint": endpoint})
    assert "hunter2" not in str(refused.value)


def test_what_a_command_was_told_is_gone_with_it():
    env = {"AWS_REGION": "eu-west-1"}
    with storage_said({"endpoint": HERE, "region": "us-east-1"}, "a.toml", env):
        assert s3_access(env).endpoint == HERE
    assert env == {"AWS_REGION": "eu-west-1"}


def test_python_code_takes_a_file(tmp_path, monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP"):
        monkeypatch.setenv(name, "")  # taken back behind the test, whatever is put there
    file = tmp_path / "aclkit.toml"
    file.write_text(f'warehouse = "s3a://b/w"\n[storage]\nendpoint = "{HERE}"\n', encoding="utf-8")
    use_storage(str(file))
    assert (s3_access().endpoint, s3_access().allow_http) == (HERE, True)


def test_spark_is_told_what_the_environment_says_and_no_secret():
    env = {
        "AWS_ENDPOINT_URL": HERE,
        "AWS_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "hunter1",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_SESSION_TOKEN": "hunter3",
    }
    options = spark_options("s3a://b/w", env)
    assert options[f"{S3A}endpoint"] == HERE
    assert options[f"{S3A}endpoint.region"] == "eu-west-1"
    assert options[f"{S3A}path.style.access"] == "true"
    assert options[f"{S3A}connection.ssl.enabled"] == "false"
    assert "hunter" not in str(options)


def test_spark_is_told_no_endpoint_where_nobody_says_one():
    options = spark_options("s3://b/w", {"AWS_DEFAULT_REGION": "eu-west-1"})
    assert options[f"{S3A}endpoint.region"] == "eu-west-1"
    assert not {f"{S3A}endpoint", f"{S3A}path.style.access"} & options.keys()
    assert f"{S3A}endpoint.region" not in spark_options("s3://b/w", {})


def test_spark_puts_the_bucket_before_the_host_itself():
    env = {"AWS_ENDPOINT_URL": "https://b.oss.example", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"}
    options = spark_options("s3a://b/w", env)
    assert options[f"{S3A}endpoint"] == "https://oss.example"
    assert options[f"{S3A}path.style.access"] == "false"


@pytest.mark.parametrize("uri", ["gs://b/w", "abfss://c@a.dfs.core.windows.net/w", "/data/w"])
def test_spark_is_told_nothing_of_other_places(uri):
    assert spark_options(uri, {"AWS_ENDPOINT_URL": HERE}) == {}
