"""The template is one that CloudFormation takes, and makes what a deployment needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from penstock import open_store
from penstock.errors import Misconfigured
from penstock.plugin import DomainPlugin
from penstock.runtime.cloud_template import CloudChoices, cloud_template
from penstock.runtime.discovery import discover
from penstock.runtime.settings import Settings, read_settings
from penstock.work.working import WORKING
from tests.sinks.conftest import moto as moto
from tests.sinks.moto_server import Moto
from tests.web.films import INSTALLED as FILMS

FIVE: tuple[DomainPlugin, ...] = discover(read_settings((), {}))


def test_the_templates_are_clean(tmp_path: Path) -> None:
    """AC-48: for the five and for anybody's domain, with replica regions and without, cfn-lint has nothing to say; of
    a template that is wrong it would."""
    wrong = cloud_template((FILMS,), Settings(), CloudChoices("us-east-1"))
    wrong["Resources"]["Files"]["Properties"]["Versioning"] = True
    templates = {
        "five": cloud_template(FIVE, Settings(sink="eventbridge://films"), CloudChoices("us-east-1")),
        "replicated": cloud_template(FIVE, Settings(), CloudChoices("us-east-1", ("eu-west-1", "ap-south-1"))),
        "stranger": cloud_template((FILMS,), Settings(), CloudChoices("eu-central-1", bucket="films")),
        "wrong": wrong,
    }
    for name, template in templates.items():
        (tmp_path / name).write_text(json.dumps(template))
    linter = Path(sys.executable).parent / "cfn-lint"
    given = [str(linter), "--format", "parseable", "--", *(str(tmp_path / name) for name in templates)]
    found = subprocess.run(given, capture_output=True, text=True, check=False)
    said = found.stdout.splitlines()
    assert found.stderr == ""
    assert [line for line in said if f"{tmp_path}/wrong:" not in line] == []
    assert any("Versioning" in line for line in said)


def test_tables_and_files_are_kept_as_the_declaration_says() -> None:
    """VM-15, VM-21, VM-28, TA-1, TA-26, F-TA-10: on demand, encrypted, with expiry, streams and recovery."""
    settings = Settings(public_url="https://films.example", cors_origins=("https://studio.example",))
    resources = cloud_template(FIVE, settings, CloudChoices("us-east-1"))["Resources"]
    videos = resources["VideoMetadataTable"]["Properties"]
    assert (videos["BillingMode"], videos["SSESpecification"]) == ("PAY_PER_REQUEST", {"SSEEnabled": True})
    assert videos["TimeToLiveSpecification"] == {"AttributeName": "expiryTime", "Enabled": True}
    assert videos["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert videos["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert {i["IndexName"] for i in videos["GlobalSecondaryIndexes"]} == {
        *("UserIdIndex", "CategoryIndex", "CategoryDateIndex")
    }
    files = resources["Files"]["Properties"]
    assert files["VersioningConfiguration"] == {"Status": "Enabled"}
    assert all(files["PublicAccessBlockConfiguration"].values())
    (cors,) = files["CorsConfiguration"]["CorsRules"]
    assert cors["AllowedOrigins"] == ["https://films.example", "https://studio.example"]
    assert {r["Prefix"]: r["ExpirationInDays"] for r in files["LifecycleConfiguration"]["Rules"] if "Prefix" in r} == {
        "temp-audio/": 2
    }
    for resource in resources.values():
        if resource["Type"] in ("AWS::DynamoDB::Table", "AWS::S3::Bucket"):
            assert resource["DeletionPolicy"] == "Retain"


def test_names_of_a_deployment_are_those_of_its_template() -> None:
    """MV-1, TA-8, TA-23: a table that is called otherwise, a prefix that is set, a bucket with a prefix of its own."""
    settings = read_settings(
        tuple(i.domain for i in FIVE),
        {"DYNAMODB_TABLE_NAME": "OurProjects", "AWS_S3_TEMP_AUDIO_PREFIX": "spoken", "PENSTOCK_OBJECTS": "s3://b/here"},
    )
    resources = cloud_template(FIVE, settings, CloudChoices("us-east-1"))["Resources"]
    assert resources["OurProjectsTable"]["Properties"]["TableName"] == "OurProjects"
    assert "MVProjectsTable" not in resources
    rules = resources["Files"]["Properties"]["LifecycleConfiguration"]["Rules"]
    assert [r["Prefix"] for r in rules if "Prefix" in r] == ["here/spoken/"]


def test_where_the_stack_was_made_no_table_is_missing(moto: Moto, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-48: what the template makes is what `penstock tables plan` asks for."""
    access = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    template = cloud_template(FIVE, Settings(), CloudChoices("us-east-1", bucket="penstock-files"))
    client = boto3.client("cloudformation", endpoint_url=moto.url, **access)
    client.create_stack(StackName="penstock", TemplateBody=json.dumps(template), Capabilities=["CAPABILITY_IAM"])
    for name, value in {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}.items():
        monkeypatch.setenv(name, value)
    store = open_store(f"dynamodb://us-east-1?endpoint={moto.url}")
    missing = store.ensure(*(i.domain for i in FIVE), WORKING, dry_run=True)
    # moto leaves TimeToLiveSpecification out of what it makes of a template.
    assert [step for step in missing if step.kind != "enable expiry"] == []
    store.close()


@pytest.mark.parametrize(
    ("region", "replicas", "told"),
    [("mars", (), "no region of AWS"), ("us-east-1", ("us-east-1",), "named once"), ("us-east-1", ("x",), "no region")],
)
def test_what_is_no_region_is_refused(region: str, replicas: tuple[str, ...], told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        CloudChoices(region, replicas)
