"""A deployment on AWS as a CloudFormation template: tables, bucket and roles, derived from the declaration alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from penstock.engines.dynamodb.table_resources import table_id, table_resource
from penstock.errors import Misconfigured
from penstock.objects.s3.bucket_resources import bucket_policy, bucket_resource
from penstock.plugin import DomainPlugin, own_settings
from penstock.runtime.bucket_advice import page_origins
from penstock.runtime.cloud_roles import CloudDeployment, Statement, api, reader, relay, worker
from penstock.runtime.operated_system import outboxes_of
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
ROLES: dict[str, Callable[[CloudDeployment], list[Statement]]] = {
    "Api": api,
    "Worker": worker,
    "Relay": relay,
    "Reader": reader,
}
BUCKET = "Files"


@dataclass(frozen=True)
class CloudChoices:
    """What whoever deploys decides."""

    region: str
    "Where work is done and everything is written; the stack is made there."
    replicas: Sequence[str] = field(default=())
    "Where all of it can be read as well."
    bucket: str | None = None
    "The name of the bucket; None: one that AWS makes up."

    def __post_init__(self) -> None:
        for region in (self.region, *self.replicas):
            if not _REGION.fullmatch(region):
                raise Misconfigured(f"{region!r} is no region of AWS; write it as eu-central-1")
        if len({self.region, *self.replicas}) != 1 + len(self.replicas):
            raise Misconfigured(f"each region is named once; {self.region} writes, and the others have replicas")


def cloud_template(installed: Sequence[DomainPlugin], settings: Settings, choices: CloudChoices) -> dict[str, Any]:
    """The template for what is served; further regions have replicas, and one writer."""
    deployment = cloud_deployment(installed, settings, choices)
    every = deployment.tables([*deployment.shapes, *deployment.own])
    tables = {
        table_id(deployment.name_of(place)): table_resource(
            deployment.name_of(place), place, region=choices.region, replicas=choices.replicas
        )
        for place in every
    }
    roles = {f"{name}Role": _role(name, statements(deployment)) for name, statements in ROLES.items()}
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"Penstock: {', '.join(i.domain.name for i in installed)}",
        "Parameters": _PARAMETERS,
        "Rules": _written_in(choices.region),
        "Resources": {
            **tables,
            BUCKET: bucket_resource(
                choices.bucket, origins=page_origins(settings), expiries=_expiries(installed, settings)
            ),
            f"{BUCKET}Policy": bucket_policy(BUCKET),
            **roles,
        },
        "Outputs": _outputs(choices, roles),
    }


def cloud_deployment(installed: Sequence[DomainPlugin], settings: Settings, choices: CloudChoices) -> CloudDeployment:
    """What the roles are made for."""
    return CloudDeployment(
        shapes=[shape for plugin in installed for shape in plugin.domain.shapes],
        own=[*SYSTEM_RECORDS.shapes, *WORKING.shapes],
        outboxes=[outbox.__shape__ for outbox in outboxes_of(installed)],
        names=dict(settings.table_names),
        replicas=tuple(choices.replicas),
        bucket=BUCKET,
        bus=_bus(settings),
    )


_PARAMETERS = {
    "Runs": {
        "Type": "String",
        "Default": "ecs-tasks.amazonaws.com",
        "Description": "The service of AWS that runs the processes and takes their roles.",
    }
}


def _written_in(region: str) -> dict[str, Any]:
    """A stack elsewhere would make tables of its own, and a second writer."""
    here = {"Fn::Equals": [{"Ref": "AWS::Region"}, region]}
    return {
        "OneWriter": {
            "Assertions": [{"Assert": here, "AssertDescription": f"This template is for {region}, which writes."}]
        }
    }


def _role(name: str, statements: list[Statement]) -> dict[str, Any]:
    trusted = {"Effect": "Allow", "Principal": {"Service": {"Ref": "Runs"}}, "Action": "sts:AssumeRole"}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trusted]},
            "Policies": [
                {
                    "PolicyName": f"Penstock{name}",
                    "PolicyDocument": {"Version": "2012-10-17", "Statement": statements},
                }
            ],
        },
    }


def _expiries(installed: Sequence[DomainPlugin], settings: Settings) -> dict[str, int]:
    """How long the bucket itself keeps files at most, by prefix."""
    setting = own_settings(installed, settings.variables)
    parts = urlsplit(settings.objects)
    within = unquote(parts.path).strip("/") if parts.scheme == "s3" else ""
    before = f"{within}/" if within else ""
    return {f"{before}{e.prefix}": e.days for i in installed if i.file_expiries for e in i.file_expiries(setting)}


def _bus(settings: Settings) -> dict[str, Any] | None:
    parts = urlsplit(settings.sink)
    if parts.scheme != "eventbridge":
        return None
    bus = parts.netloc or "default"
    return {"Fn::Sub": f"arn:${{AWS::Partition}}:events:${{AWS::Region}}:${{AWS::AccountId}}:event-bus/{bus}"}


def _outputs(choices: CloudChoices, roles: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {
        "Store": {"Description": "PENSTOCK_STORE", "Value": f"dynamodb://{choices.region}"},
        "Objects": {"Description": "PENSTOCK_OBJECTS", "Value": {"Fn::Sub": f"s3://${{{BUCKET}}}"}},
    }
    if choices.replicas:
        said["WriterRegion"] = {"Description": "PENSTOCK_WRITER_REGION", "Value": choices.region}
    arns = {name: {"Description": f"The role of the {name.removesuffix('Role').lower()}"} for name in roles}
    return {**said, **{name: {**told, "Value": {"Fn::GetAtt": [name, "Arn"]}} for name, told in arns.items()}}
