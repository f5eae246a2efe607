"""Settings come from one place, and the documents' own variable names are honoured."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from penstock import open_objects, open_store
from penstock.declare.domain import Domain
from penstock.declare.option import read_options
from penstock.declare.setting import Setting
from penstock.domains import DOMAINS
from penstock.domains.speech.options import SpeechOptions
from penstock.engines.dynamodb import DynamoEngine
from penstock.errors import DeclarationError, Misconfigured
from penstock.plugin import DomainPlugin, own_settings
from penstock.runtime.settings import SETTINGS, Settings, read_settings, strangers

SOURCE = Path(__file__).parents[2] / "src" / "penstock"


def test_tables_are_called_as_the_documents_say_unless_the_environment_says_otherwise() -> None:
    """MV-1: MVProjects unless DYNAMODB_TABLE_NAME is set."""
    assert read_settings(DOMAINS, {}).table_names == {}
    renamed = read_settings(DOMAINS, {"DYNAMODB_TABLE_NAME": "Mine", "DYNAMODB_TEMP_AUDIO_TABLE": "Audio"})
    assert renamed.table_names == {"MVProjects": "Mine", "tts_temp_audio": "Audio"}


def test_the_store_is_embedded_unless_told_otherwise() -> None:
    assert read_settings(DOMAINS, {}).store == Settings.store == "sqlite:///.penstock/penstock.db"
    assert read_settings(DOMAINS, {"PENSTOCK_STORE": "dynamodb://eu-west-1"}).store == "dynamodb://eu-west-1"


def found(**variables: str) -> Settings:
    return read_settings(DOMAINS, variables)


def test_the_bucket_of_the_documents() -> None:
    """TA-23: AWS_S3_BUCKET, or the STORAGE_BUCKET of music videos, unless our own name says where files live."""
    assert found(STORAGE_BUCKET="films").objects == "s3://films"
    assert found(STORAGE_BUCKET="films", AWS_S3_BUCKET="speech").objects == "s3://speech"
    assert found(AWS_S3_BUCKET="speech", PENSTOCK_OBJECTS="s3://ours/here").objects == "s3://ours/here"
    assert found(STORAGE_BUCKET="").objects == Settings.objects, "which is how the document leaves it out"


def test_the_broker_of_the_documents() -> None:
    """TA-23: CELERY_BROKER_URL, then REDIS_URL."""
    assert found(REDIS_URL="redis://r/0").broker == "redis://r/0"
    assert found(REDIS_URL="redis://r/0", CELERY_BROKER_URL="amqp://c").broker == "amqp://c"
    assert found(CELERY_BROKER_URL="amqp://c", PENSTOCK_BROKER="redis://p").broker == "redis://p"


@pytest.mark.parametrize(
    ("variables", "region", "endpoint"),
    [
        ({"AWS_REGION": "eu-west-1"}, "eu-west-1", None),
        ({"AWS_REGION": "eu-west-1", "DYNAMODB_REGION": "us-east-1"}, "us-east-1", None),
        ({"DYNAMODB_ENDPOINT": "http://db:1"}, "us-east-1", "http://db:1"),
        ({"DYNAMODB_ENDPOINT": "http://db:1", "USE_LOCAL_DYNAMODB": "true"}, "us-east-1", "http://db:1"),
        ({"DYNAMODB_ENDPOINT": "http://db:1", "USE_LOCAL_DYNAMODB": "False"}, "us-east-1", None),
        ({"USE_LOCAL_DYNAMODB": "true"}, "us-east-1", "http://localhost:8001"),
    ],
)
def test_where_dynamodb_is(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], region: str | None, endpoint: str | None
) -> None:
    """TA-23, MV-1: DYNAMODB_REGION, DYNAMODB_ENDPOINT and USE_LOCAL_DYNAMODB, as far as the URL does not say."""
    _nothing_of_aws(monkeypatch)
    given: dict[str, object] = {}
    monkeypatch.setattr(DynamoEngine, "__init__", lambda self, **told: given.update(told))
    open_store("dynamodb://", settings=read_settings(DOMAINS, variables))
    assert (given["region"], given["endpoint"]) == (region, endpoint)
    open_store("dynamodb://ap-south-1?endpoint=http://mine:2", settings=read_settings(DOMAINS, variables))
    assert (given["region"], given["endpoint"]) == ("ap-south-1", "http://mine:2"), "our own name wins"


def _nothing_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that nobody has told about AWS."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")


DOCUMENTS = """\
# AWS Configuration
AWS_ACCESS_KEY_ID=your_access_key
AWS_SECRET_ACCESS_KEY=your_secret_key
AWS_S3_BUCKET=your-tts-bucket

# S3 Paths
AWS_S3_TEMP_AUDIO_PREFIX=temp-audio
SIGNED_URL_EXPIRY_SECONDS=86400  # 24 hours

# DynamoDB
DYNAMODB_TEMP_AUDIO_TABLE=tts_temp_audio
CELERY_BEAT_SCHEDULE_CLEANUP_HOUR=12\t# noon
"""


def test_the_documents_own_file_is_read_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TA-23: what follows a value is a comment; the keys sign; the region is us-east-1 where nobody says another."""
    _nothing_of_aws(monkeypatch)
    (tmp_path / ".env").write_text(DOCUMENTS)
    read = read_settings(DOMAINS, {}, folder=tmp_path)
    speech = read_options(SpeechOptions, read.variables.get)
    assert speech.url_life == timedelta(hours=24)
    assert read.variables["CELERY_BEAT_SCHEDULE_CLEANUP_HOUR"] == "12"
    url = open_objects(read.objects, settings=read).download_url("temp-audio/a.wav", expires=timedelta(minutes=1)).url
    assert url.startswith("https://your-tts-bucket.s3")
    assert re.search(r"X-Amz-Credential=your_access_key%2F\d+%2Fus-east-1%2Fs3%2F", url)
    given: dict[str, object] = {}
    monkeypatch.setattr(DynamoEngine, "__init__", lambda self, **told: given.update(told))
    open_store("dynamodb://", settings=read)
    assert (given["access_key"], given["secret_key"]) == ("your_access_key", "your_secret_key")
    assert "your_secret_key" not in repr(read)


def test_aws_own_configuration_goes_before_the_usual_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TA-23."""
    _nothing_of_aws(monkeypatch)
    (tmp_path / "config").write_text("[default]\nregion = eu-north-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    keys = {"AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "two"}
    for more, region in (({}, "eu-north-1"), ({"AWS_REGION": "eu-west-1"}, "eu-west-1")):
        settings = read_settings(DOMAINS, {**keys, **more})
        signed = open_objects("s3://films", settings=settings).download_url("a", expires=timedelta(minutes=1))
        assert f"%2F{region}%2Fs3%2F" in signed.url


@pytest.mark.parametrize("alone", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_half_of_a_pair_of_keys_is_named_where_it_is_needed(alone: str) -> None:
    settings = found(**{alone: "x"})
    with pytest.raises(Misconfigured, match="belong together; set AWS_"):
        open_objects("s3://films", settings=settings)
    open_objects("files:///films", settings=settings)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=one two  # three", "one two"),
        ("A=pass#word", "pass#word"),
        ("A='in # quotes'  # not in them", "in # quotes"),
        ('A="in # quotes"', "in # quotes"),
        ("A=  # nothing", ""),
        ("A=#nothing", ""),
        ("export A = x ", "x"),
        ("A='open", "'open"),
        ("A=it's", "it's"),
    ],
)
def test_a_comment_is_no_part_of_a_value(tmp_path: Path, line: str, value: str) -> None:
    (tmp_path / ".env").write_text(line + "\n")
    assert read_settings((), {}, folder=tmp_path).variables == {"A": value}


@pytest.mark.parametrize(
    ("url", "told"),
    [("/some/folder", "files:////some/folder"), ("some/folder", "files:///some/folder"), ("./x", "files:///./x")],
)
def test_a_folder_is_answered_with_how_it_is_written(url: str, told: str) -> None:
    with pytest.raises(Misconfigured, match=f"is no URL.*for a place on this machine write {re.escape(told)}$"):
        open_objects(url)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *[("PENSTOCK_PORT", "http"), ("PENSTOCK_BODY_LIMIT", "10 MB"), ("USE_LOCAL_DYNAMODB", "maybe")],
        *[("PENSTOCK_PORT", "65536"), ("PENSTOCK_WORKER_THREADS", "1001"), ("PENSTOCK_PUBLIC_URL", "abc")],
    ],
)
def test_a_wrong_value_is_named(variable: str, value: str) -> None:
    with pytest.raises(Misconfigured, match=f"{variable}='{value}' is "):
        read_settings(DOMAINS, {variable: value})


def test_an_ipv6_host_stands_in_brackets_in_urls() -> None:
    assert Settings(host="::1").url == "http://[::1]:8000"
    assert Settings(host="db.example", port=1).url == "http://db.example:1"


def test_the_environment_goes_before_the_files(tmp_path: Path) -> None:
    (tmp_path / "penstock.toml").write_text(
        '[penstock]\nport = 1\nhost = "toml"\nsink = "log:"\ntrusted_proxies = ["10.0.0.1", "10.0.0.2"]\n'
        '[environment]\nDYNAMODB_TABLE_NAME = "Toml"\n'
    )
    (tmp_path / ".env").write_text("# ours\nexport PENSTOCK_PORT=2\nPENSTOCK_HOST='dotenv'\n\nREDIS_URL=redis://r\n")
    read = read_settings(DOMAINS, {"PENSTOCK_PORT": "3"}, folder=tmp_path)
    assert (read.port, read.host, read.sink, read.broker) == (3, "dotenv", "log:", "redis://r")
    assert read.trusted_proxies == ("10.0.0.1", "10.0.0.2")
    assert read.table_names == {"MVProjects": "Toml"}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (".env", "PENSTOCK_PORT", r"line 1: write NAME=value"),
        ("penstock.toml", "[penstock]\nstor = 'x'", r'no setting \'stor\'. Did you mean "store"\?'),
        ("penstock.toml", "[penstock", r"penstock\.toml"),
        ("penstock.toml", "stor = 'x'", r'no setting \'stor\'. Did you mean "store"\?'),
        (
            "penstock.toml",
            "[penstok]\nstore = 'x'",
            r"no table \[penstok\]; there are \[penstock\] and \[environment\]",
        ),
        ("penstock.toml", "port = 1\n[penstock]\nport = 1", r"port is said twice"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: str, told: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(Misconfigured, match=told):
        read_settings(DOMAINS, {}, folder=tmp_path)


def test_short_names_may_stand_before_any_table(tmp_path: Path) -> None:
    (tmp_path / "penstock.toml").write_text('without = ["a", "b"]\nport = 7\n[penstock]\nhost = "toml"\n')
    read = read_settings(DOMAINS, {}, folder=tmp_path)
    assert (read.without, read.port, read.host) == (("a", "b"), 7, "toml")


def test_a_name_that_nothing_reads_is_told(tmp_path: Path) -> None:
    """In the environment only what begins as ours do: the rest is for others."""
    known = [*SETTINGS, Setting("MV_SIZE", "1x1", "Of the picture.")]
    around = {
        "PENSTOCK_STROE": "x",
        "AWS_REGIONS": "x",
        "PENSTOCK_TEST_ENGINES": "x",
        "MV_SIZE": "2x2",
        "REDIS_URL": "r",
    }
    (tmp_path / ".env").write_text("PENSTOCK_ZZZ=1\nMV_SIZES=1\nPATH_OF_MINE=1\nPENSTOCK_PORT=1\n")
    read = read_settings(DOMAINS, around, folder=tmp_path)
    assert strangers(read, known, environment=around) == [
        'MV_SIZES is no setting of what is served, so it does nothing. Did you mean "MV_SIZE"?',
        'PENSTOCK_STROE is no setting of what is served, so it does nothing. Did you mean "PENSTOCK_STORE"?',
        "PENSTOCK_ZZZ is no setting of what is served, so it does nothing. penstock doctor lists those that there are.",
    ]


def test_secrets_are_not_in_what_is_printed() -> None:
    read = found(PENSTOCK_SECRET="swordfish", PENSTOCK_WEBHOOK_SECRET="swordfish", AWS_SECRET_ACCESS_KEY="swordfish")
    assert read.secret == "swordfish"
    assert "swordfish" not in repr(read)


def test_a_domain_reads_what_it_declares_and_nothing_else() -> None:
    setting = own_settings(
        [DomainPlugin(Domain("d"), settings=[Setting("D_SIZE", 3, "How large.")])], {"D_SIZE": "4", "X": "1"}
    )
    assert setting("D_SIZE") == "4"
    with pytest.raises(DeclarationError, match="X is a setting of no domain"):
        setting("X")
    assert (
        own_settings([DomainPlugin(Domain("d"), settings=[Setting("D_SIZE", 3, "How large.")])], {"D_SIZE": ""})(
            "D_SIZE"
        )
        is None
    )


def test_every_setting_of_a_deployment_has_a_line_in_the_table() -> None:
    assert {s.name for s in SETTINGS} == set(Settings.__dataclass_fields__) - {"table_names", "variables"}


def test_only_settings_read_the_environment() -> None:
    readers = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bos\.(environ|getenv)\b(?!\[\w+\] = )", path.read_text())  # to set one is another matter
    ]
    assert readers == ["runtime/settings.py"]
