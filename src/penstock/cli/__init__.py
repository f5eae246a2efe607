"""The command line: what the library does, with tables for people and JSON for programs."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from penstock.cli import look, moving, records, running
from penstock.cli.adopt import adopt
from penstock.cli.audit import audit
from penstock.cli.commands import OpenGroup
from penstock.cli.cost_commands import cost
from penstock.cli.dead_letters import letters
from penstock.cli.doctor import doctor
from penstock.cli.iac import iac
from penstock.cli.installed import serve
from penstock.cli.keys import keys
from penstock.cli.migrate import migrate
from penstock.cli.new import new
from penstock.cli.retention import retention
from penstock.cli.schedule_commands import schedules
from penstock.cli.serving import serve_processes
from penstock.cli.tables import tables
from penstock.cli.terminal import complain
from penstock.cli.work_commands import work
from penstock.errors import PenstockError
from penstock.runtime.ending import is_at_work, leave

app = typer.Typer(
    cls=OpenGroup,
    no_args_is_help=True,
    add_completion=False,
    help="The state layer for asset pipelines.",
    pretty_exceptions_show_locals=False,  # records and secrets are among them
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"penstock {version('penstock')}")
        raise typer.Exit


def _named(value: list[str] | None) -> None:
    serve(value or ())


@app.callback()
def penstock(
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="PACKAGE.MODULE:PLUGIN",
            help="Serve this domain and no other, or an installed one by its name; may be given several times.",
            callback=_named,
            is_eager=True,  # the help lists the commands that domains bring
        ),
    ] = None,
    told_version: Annotated[
        bool, typer.Option("--version", help="Tell which version this is.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """The state layer for asset pipelines."""


for command in (
    running.up,
    serve_processes,
    running.worker,
    running.relay,
    running.sweep,
    records.ls,
    records.show_record,
    records.history,
    records.move,
    look.patterns,
    look.explain_pattern,
    migrate,
    adopt,
    doctor,
    moving.export,
    moving.import_,
    moving.copy,
    moving.backup,
    moving.restore,
    new,
):
    name = getattr(command, "__command__", command.__name__)
    app.command(name)(command)
app.add_typer(tables, name="tables")
app.add_typer(letters, name="dead-letters")
app.add_typer(keys, name="keys")
app.add_typer(audit, name="audit")
app.add_typer(retention, name="retention")
app.add_typer(schedules, name="schedules")
app.add_typer(work, name="work")
app.add_typer(cost, name="cost")
app.add_typer(iac, name="iac")
demo = typer.Typer(cls=OpenGroup, no_args_is_help=True, help="See a whole system at work.")
demo.callback()(lambda: None)
app.add_typer(demo, name="demo")


def main() -> None:
    """Run a command; a user's mistake is answered in a sentence, not with a traceback."""
    serve(())
    status = _run()
    if is_at_work():
        leave(status)
    sys.exit(status)


def _run() -> int:
    """How a command ended, as a shell counts it."""
    try:
        app()
    except PenstockError as error:
        complain(error)
        return 2
    except KeyboardInterrupt:
        return 130
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            return 1
        return ended.code or 0
    return 0
