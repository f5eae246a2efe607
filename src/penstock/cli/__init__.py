"""The command line: what the library does, with tables for people and JSON for programs."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from penstock.cli import dead_letters as letters
from penstock.cli import look, records, running
from penstock.cli.audit import audit
from penstock.cli.demo import demo
from penstock.cli.doctor import doctor
from penstock.cli.keys import keys
from penstock.cli.retention import retention
from penstock.cli.say import say
from penstock.cli.tables import tables
from penstock.errors import PenstockError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="The state layer for asset pipelines.",
    pretty_exceptions_show_locals=False,  # records and secrets are among them
)
for command in (
    running.up,
    running.worker,
    running.relay,
    running.sweep,
    records.ls,
    records.show_record,
    records.move,
    look.patterns,
    look.explain_pattern,
    doctor,
    say,
):
    name = getattr(command, "__command__", command.__name__)
    app.command(name)(command)
app.add_typer(demo, name="demo")
app.add_typer(tables, name="tables")
app.add_typer(letters.letters, name="dead-letters")
app.add_typer(keys, name="keys")
app.add_typer(audit, name="audit")
app.add_typer(retention, name="retention")


def main() -> None:
    """Run a command; a user's mistake is answered in a sentence, not with a traceback."""
    try:
        app()
    except PenstockError as error:
        Console(stderr=True, soft_wrap=True).print(f"penstock: {error}", style="red", highlight=False, markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
