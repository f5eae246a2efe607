"""Commands that write what a deployment stands on: for AWS as a template, for PostgreSQL as SQL."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from penstock.cli.installed import installed
from penstock.cli.terminal import settings
from penstock.errors import Misconfigured
from penstock.runtime.cloud_template import CloudChoices, cloud_template
from penstock.runtime.database_roles import database_roles
from penstock.runtime.settings import Settings
from penstock.runtime.writer_region import store_region

iac = typer.Typer(no_args_is_help=True, help="Infrastructure from the declaration; no database is needed.")


@iac.command("cloudformation")
def cloudformation(
    region: Annotated[
        str | None, typer.Option("--region", help="Where work is done; else that of the store or of AWS_REGION.")
    ] = None,
    replica: Annotated[
        list[str] | None,
        typer.Option("--replica", help="A further region that can be read; may be given several times."),
    ] = None,
    bucket: Annotated[str | None, typer.Option("--bucket", help="The bucket's name; else AWS makes one up.")] = None,
) -> None:
    """Write a CloudFormation template: tables, a bucket, and a role for API, worker, relay and reader."""
    chosen = settings()
    choices = CloudChoices(region or _region(chosen), tuple(replica or ()), bucket)
    print(json.dumps(cloud_template(installed(), chosen, choices), indent=2))


def _region(chosen: Settings) -> str:
    found = store_region(chosen) or chosen.dynamodb_region or chosen.aws_region
    if not found:
        raise Misconfigured("no region is named; say --region eu-central-1, or set AWS_REGION")
    return found


@iac.command("postgresql")
def postgresql(
    owner: Annotated[str, typer.Option("--owner", help="Who makes and owns the tables.")] = "penstock_owner",
    service: Annotated[
        str, typer.Option("--service", help="Who the service and its workers are.")
    ] = "penstock_service",
) -> None:
    """Write roles, grants and row-level security as SQL, for a service that does not own its tables."""
    print(database_roles(installed(), settings(), owner=owner, service=service), end="")
