"""Every command serves every domain alike, a stranger's as well as those that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.domains import DOMAINS
from tests.cli.conftest import Penstock
from tests.runtime.packages import Packages, packages

__all__ = ["packages"]

SHIPPED = [d.name for d in DOMAINS]
KITES = """
from pathlib import Path
from typing import Annotated

import typer

from penstock import Domain, Entity, Table, key, pattern
from penstock.declare.setting import Setting
from penstock.plugin import CommandContext, DomainPlugin, FeedHandler


class Kite(Entity, table=Table("Kites", partition="PK", sort="SK", feed=True)):
    colour: str
    name: str

    @key("COLOUR#{colour}", "KITE#{name}")
    def at(self, *, colour: str, name: str) -> None: ...

    @pattern(at)
    def of_colour(self, *, colour: str) -> None:
        "Kites of a colour."


def commands(terminal: CommandContext):
    def fly(name: Annotated[str, typer.Argument(help="Which.")], colour: str = "red") -> None:
        "Fly a kite."
        with terminal.working() as context:
            context.store.create(Kite(colour=colour, name=name))
        terminal.tell(f"{name} flies, {context.setting('KITES_WIND')}.")

    return {"fly": fly, "demo kites": lambda: terminal.tell("A kite.")}


def tear(entry, claim):
    if not Path("mended").exists():
        raise ValueError("it is torn")


PLUGIN = DomainPlugin(
    Domain("kites", Kite),
    commands=commands,
    settings=[Setting("KITES_WIND", "calm", "How it blows.")],
    feed=lambda context: [FeedHandler(Kite, ["insert"], tear)],
)
"""


def test_a_strangers_domain_has_all_that_the_shipped_ones_have(penstock: Penstock, packages: Packages) -> None:
    packages.install("kites", text=KITES)
    assert {"domains": ", ".join(sorted([*SHIPPED, "kites"]))}.items() <= {
        c["what"]: c["state"] for c in _doctor(penstock)
    }.items()
    assert " kites_kite" in penstock("tables", "plan").out
    assert penstock("tables", "apply").code == 0
    assert penstock("tables", "plan").out == "Nothing is missing.\n"
    assert "kites.Kite.of_colour" in penstock("patterns", "kites").out
    assert penstock("ls", "kites.Kite.of_colour", "colour=red", "--json").json["items"] == []


def test_its_commands_stand_among_the_others(
    penstock: Penstock, packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.install("kites", text=KITES)
    monkeypatch.setenv("KITES_WIND", "a storm")
    assert "Fly a kite." in penstock("--help").out
    assert penstock("fly", "dragon", "--colour", "blue").out == "dragon flies, a storm.\n"
    assert penstock("ls", "kites.Kite.of_colour", "colour=blue", "--json").json["items"][0]["name"] == "dragon"
    assert {"musicvideo", "kites"} <= set(penstock("demo", "--help").out.split())
    assert penstock("demo", "kites").out == "A kite.\n"


def test_the_command_line_names_domains_and_then_there_are_no_others(
    penstock: Penstock, folder: Path, packages: Packages
) -> None:
    packages.write("my_kites", KITES)
    assert {p["pattern"].split(".")[0] for p in penstock("patterns", "--json").json} >= set(SHIPPED)
    named = penstock("--domain", "my_kites:PLUGIN", "patterns", "--json").json
    assert {p["pattern"].split(".")[0] for p in named} == {"kites", "work", "penstock"}
    (folder / "penstock.toml").write_text('domains = ["my_kites:PLUGIN", "videos"]')
    named = penstock("patterns", "--json").json
    assert {p["pattern"].split(".")[0] for p in named} == {"kites", "videos", "work", "penstock"}
    assert "say" not in penstock("--help").out.split(), "its domain is not served"
    assert penstock("say", "hello").code == 2


def test_a_domain_that_is_broken_is_told_and_keeps_nobody_from_the_help(
    penstock: Penstock, packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.install("kites", text="import no_such_thing")
    said = penstock("tables", "plan")
    assert said.code == 2
    assert said.err.startswith("penstock: the domain kites (entry point stranger_kites:PLUGIN of stranger_kites 1.0)")
    said = penstock("--help")
    assert (said.code, "tables" in said.out) == (0, True)
    assert "the domain kites" in said.err
    monkeypatch.setenv("PENSTOCK_WITHOUT", "kites")
    assert penstock("tables", "plan").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("up", "a domain brings a command up, which Penstock has itself"),
        ("tables drop", "a domain brings a command tables, which Penstock has itself"),
        ("say", 'brings a command "say" that is there already'),
        ("", 'brings a command "" that is there already'),
        ("say loudly", 'brings a command "say loudly", and "say" is another\'s'),
    ],
)
def test_a_command_is_of_one_domain(penstock: Penstock, packages: Packages, words: str, told: str) -> None:
    text = KITES.replace('{"fly": fly,', f'{{"{words}": fly,')
    # It comes after those that ship, by its name.
    packages.install("zeppelins", text=text.replace('"kites"', '"zeppelins"'))
    said = penstock("fly")
    assert said.code == 2
    assert told in said.err


def test_without_any_domain_one_is_told_how_to_have_one(penstock: Penstock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_WITHOUT", ",".join(SHIPPED))
    said = penstock("tables", "plan")
    assert said.code == 2
    assert "no domain is installed, so there is nothing to serve. Write one: penstock new NAME" in said.err
    assert penstock("--help").code == 0


def test_a_change_that_a_handler_could_not_deal_with_is_a_dead_letter(penstock: Penstock, packages: Packages) -> None:
    """It is listed with messages and tasks, and can be tried again."""
    from penstock.cli.installed import installed, serve
    from penstock.cli.terminal import settings
    from penstock.events.feed_records import FeedPlace
    from penstock.runtime.service import Service

    packages.write("my_kites", KITES)
    words = ("--domain", "my_kites:PLUGIN")
    assert penstock(*words, "fly", "dragon").code == 0
    serve(["my_kites:PLUGIN"])
    service = Service(settings(), installed())
    service.feeds["kites"].drain()
    (place,) = service.context.store.find(FeedPlace.by_name())
    place.in_vain = {"tear": "2037-11-01T08:00:00.000000Z"}
    service.context.store.put(place)
    service.stop()
    (letter,) = penstock(*words, "dead-letters", "list", "--json").json
    assert (letter["what"], letter["type"], letter["error"]) == (
        "insert of kites.Kite",
        "tear",
        "ValueError: it is torn",
    )
    told = "kites: 1 changes wait for a person, tear fails since 2037-11-01 08:00 UTC"
    assert told in {c["state"] for c in _doctor(penstock, *words)}
    assert penstock(*words, "dead-letters", "retry", letter["id"]).code == 2, "it is torn still"
    Path("mended").touch()
    assert penstock(*words, "dead-letters", "retry", letter["id"]).out == "1 will be tried again.\n"
    assert penstock(*words, "dead-letters", "list", "--json").json == []


def _doctor(penstock: Penstock, *words: str) -> list[dict[str, str]]:
    import json

    checks: list[dict[str, str]] = json.loads(penstock(*words, "doctor", "--json").out)["checks"]
    return checks
