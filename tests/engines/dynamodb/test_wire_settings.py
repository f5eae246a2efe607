"""Keys, region, endpoint and certificates come from where AWS's tools take them; arguments win."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.engines.dynamodb.wire import Unconfigured, Wire, credentials, endpoints
from penstock.engines.dynamodb.wire.credentials import AccessKeys


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_DYNAMODB",
        "AWS_ENDPOINT_URL_DYNAMODB_STREAMS",
        "AWS_CA_BUNDLE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


def test_no_credentials_says_what_to_do() -> None:
    with pytest.raises(Unconfigured, match="AWS_ACCESS_KEY_ID"):
        Wire(endpoint="http://127.0.0.1:1", region="eu-west-1").call("GetItem", b"{}")


def test_no_region_says_what_to_do() -> None:
    with pytest.raises(Unconfigured, match="AWS_REGION"):
        Wire(endpoint="http://127.0.0.1:1", access_key="a", secret_key="b").call("GetItem", b"{}")


def test_half_a_key_is_refused() -> None:
    with pytest.raises(Unconfigured, match="belong together"):
        credentials.choose("a", None, None)


def test_credentials_from_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    assert credentials.choose(None, None, None).current() == AccessKeys("AKID", "secret", "token")


def test_credentials_and_region_from_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("[work]\naws_access_key_id = AKID\naws_secret_access_key = secret\n")
    (tmp_path / "config").write_text("[profile work]\nregion = ap-south-1\n")
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert credentials.choose(None, None, None).current() == AccessKeys("AKID", "secret", None)
    assert endpoints.find_region() == "ap-south-1"


def test_unknown_profile_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nowhere")
    with pytest.raises(Unconfigured, match="nowhere"):
        credentials.choose(None, None, None)
    with pytest.raises(Unconfigured, match="nowhere"):
        endpoints.find_region()


def test_renewing_reads_a_rewritten_file(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_access_key_id = OLD\naws_secret_access_key = s\n")
    found = credentials.choose(None, None, None)
    assert found.current().access_key == "OLD"
    file.write_text("[default]\naws_access_key_id = NEW\naws_secret_access_key = s\n")
    assert found.renew()
    assert found.current().access_key == "NEW"


def test_region_from_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    assert endpoints.find_region() == "sa-east-1"


def test_regional_endpoints() -> None:
    main = endpoints.find_endpoint(endpoints.MAIN, "eu-west-1")
    streams = endpoints.find_endpoint(endpoints.STREAMS, "eu-west-1")
    china = endpoints.find_endpoint(endpoints.MAIN, "cn-north-1")
    assert main.url == "https://dynamodb.eu-west-1.amazonaws.com/"
    assert streams.url == "https://streams.dynamodb.eu-west-1.amazonaws.com/"
    assert china.url == "https://dynamodb.cn-north-1.amazonaws.com.cn/"


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"])
def test_configured_endpoint_serves_streams_too(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://emulator:8000")
    for service in (endpoints.MAIN, endpoints.STREAMS):
        assert endpoints.find_endpoint(service, "eu-west-1").url == "http://emulator:8000/"


def test_streams_may_have_their_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://emulator:8000")
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "http://emulator:8001")
    assert endpoints.find_endpoint(endpoints.STREAMS, "eu-west-1").url == "http://emulator:8001/"


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("HTTP://Host:80", "http://host/"),
        ("https://host:443/", "https://host/"),
        ("https://user:word@host:8443", "https://host:8443/"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
    ],
)
def test_endpoints_are_normalised(given: str, normal: str) -> None:
    assert endpoints.parse(given).url == normal


@pytest.mark.parametrize("wrong", ["localhost:8000", "ftp://host", "https://", ""])
def test_wrong_endpoints_are_explained(wrong: str) -> None:
    with pytest.raises(Unconfigured, match="looks like"):
        endpoints.parse(wrong)


def test_a_certificate_bundle_always_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path(endpoints.find_ca_bundle()).is_file()
    monkeypatch.setenv("AWS_CA_BUNDLE", "/own/bundle.pem")
    assert endpoints.find_ca_bundle() == "/own/bundle.pem"


def test_secrets_are_not_shown() -> None:
    keys = AccessKeys("AKID", "hidden-secret", "hidden-token")
    wire = Wire(endpoint="http://127.0.0.1:1", region="r", access_key="AKID", secret_key="hidden-secret")
    fixed = credentials.FixedCredentials(keys)
    assert "hidden" not in f"{keys!r} {keys} {wire!r} {wire} {fixed!r}"


def test_importing_loads_neither_driver() -> None:
    check = (
        "import sys, penstock.engines.dynamodb.wire as wire; wire.Wire()\n"
        "sys.exit(' '.join({'pycurl', 'botocore', 'boto3', 'ssl'} & set(sys.modules)) or 0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", check]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
