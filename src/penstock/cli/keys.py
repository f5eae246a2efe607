"""Commands for API keys."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from penstock.cli.terminal import AsJson, By, StoreUrl, opened, show, tell
from penstock.schema.role import Role

keys = typer.Typer(no_args_is_help=True, help="Keys of the API: who may do what, in which project.")


@keys.command("create")
def create(
    name: Annotated[str, typer.Argument(help="For whom, or for what.")],
    role: Annotated[Role, typer.Option(help="What it allows.")] = Role.VIEWER,
    project: Annotated[str | None, typer.Option(help="Only in this project; else in all.")] = None,
    by: By = "penstock keys",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. It is shown once, and cannot be shown again."""
    from penstock.auth.api_keys import create_key

    with opened(store) as handle:
        made = create_key(handle, name=name, role=role, project=project, by=by)
    if as_json:
        print(json.dumps({"key_id": made.record.key_id, "token": made.token}))
        return
    tell(made.token)
    tell(f"Keep it: only its hash is stored. Its id is {made.record.key_id}.")


@keys.command("list")
def list_(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    from penstock.auth.api_keys import list_keys

    with opened(store) as handle:
        rows = [
            {
                "id": k.key_id,
                "name": k.name,
                "role": k.role.value,
                "project": k.project,
                "created": k.created_at,
                "revoked": k.revoked_at,
            }
            for k in list_keys(handle)
        ]
    show(rows, title="API keys", as_json=as_json, empty="There are no keys.")


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(help="The id of the key.")],
    by: By = "penstock keys",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """End a key at once."""
    from penstock.auth.api_keys import revoke_key

    with opened(store) as handle:
        revoked = revoke_key(handle, key_id, by=by)
    if as_json:
        print(json.dumps({"key_id": key_id, "revoked": str(revoked.revoked_at)}))
        return
    tell(f"{key_id} ({revoked.name}) is revoked.")
