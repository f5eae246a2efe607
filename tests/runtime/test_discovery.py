"""Which domains a deployment serves: all that are installed, or exactly those it names."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from penstock.domains import INSTALLED
from penstock.errors import Misconfigured
from penstock.runtime.discovery import discover
from penstock.runtime.settings import Settings, read_settings
from tests.runtime.packages import DOMAIN, Packages

SHIPPED = [i.domain.name for i in INSTALLED]


def names(settings: Settings | None = None, *named: str) -> list[str]:
    return [p.domain.name for p in discover(settings or Settings(), named=named)]


def refused(settings: Settings | None = None, *named: str) -> str:
    with pytest.raises(Misconfigured) as caught:
        discover(settings or Settings(), named=named)
    return str(caught.value)


def test_the_shipped_domains_are_found_by_their_entry_points() -> None:
    found = discover(Settings())
    assert all(any(each is plugin for plugin in found) for each in INSTALLED)
    assert len(INSTALLED) == 5


def test_a_strangers_domain_is_served_beside_them(packages: Packages) -> None:
    packages.install("kites")
    assert names() == sorted([*SHIPPED, "kites"])


def test_a_list_means_exactly_these(packages: Packages) -> None:
    packages.install("kites")
    packages.write("lamps_here", DOMAIN.format(name="lamps", more=""))
    assert names(Settings(domains=("kites", "lamps_here:PLUGIN"))) == ["kites", "lamps"]
    assert names(Settings(domains=("kites",)), "lamps_here:PLUGIN") == ["lamps"], "the command line goes before"
    assert names(Settings(domains=("all", "lamps_here:PLUGIN"))) == [*sorted([*SHIPPED, "kites"]), "lamps"]
    assert names(Settings(domains=("kites", "stranger_kites:PLUGIN"))) == ["kites"], "the same twice is one"


def test_what_is_left_out_is_not_even_imported(packages: Packages) -> None:
    packages.install("kites", text="raise RuntimeError('it was imported')")
    left = names(Settings(without=("kites", SHIPPED[0])))
    assert left == SHIPPED[1:]
    assert "stranger_kites" not in sys.modules


def test_the_choice_is_read_from_the_file_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "penstock.toml").write_text(f'domains = ["{SHIPPED[0]}", "{SHIPPED[1]}"]\n')
    assert names(read_settings((), {}, folder=tmp_path)) == SHIPPED[:2]
    assert names(read_settings((), {"PENSTOCK_DOMAINS": SHIPPED[2]}, folder=tmp_path)) == [SHIPPED[2]]
    (tmp_path / "penstock.toml").write_text(f'[penstock]\nwithout = ["{SHIPPED[0]}"]\n')
    assert names(read_settings((), {}, folder=tmp_path)) == SHIPPED[1:]


def test_a_domain_in_the_folder_one_works_in_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger_here.py").write_text(DOMAIN.format(name="here", more=""))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    assert names(None, "stranger_here:PLUGIN") == ["here"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def (", "SyntaxError: invalid syntax"),
        ("x = 1", "AttributeError: module 'stranger_kites' has no attribute 'PLUGIN'"),
    ],
)
def test_one_that_cannot_be_loaded_is_named_with_its_source_and_what_to_do(
    packages: Packages, text: str, why: str
) -> None:
    packages.install("kites", text=text)
    told = refused()
    assert told.startswith(
        "the domain kites (entry point stranger_kites:PLUGIN of stranger_kites 1.0) cannot be loaded: "
    )
    assert why in told
    assert told.endswith("Install stranger_kites 1.0 anew, or leave the domain out: PENSTOCK_WITHOUT=kites")


def test_what_is_no_plugin_is_told_apart(packages: Packages) -> None:
    packages.install("kites", text=DOMAIN.format(name="kites", more="") + "\nPLUGIN = DOMAIN")
    assert "is a Domain, not a DomainPlugin. Write DomainPlugin(…) around it" in refused()
    packages.write("number", "PLUGIN = 7")
    assert refused(None, "number:PLUGIN").startswith("the domain number:PLUGIN is a int, not a DomainPlugin.")


def test_two_domains_of_one_name_are_told_with_where_each_comes_from(packages: Packages) -> None:
    packages.install("kites")
    packages.install("kites", module="other_kites")
    told = refused()
    assert told.startswith("two domains are called kites: ")
    assert "stranger_kites 1.0" in told
    assert "other_kites 1.0" in told
    assert names(Settings(domains=("other_kites:PLUGIN",))) == ["kites"]


def test_an_entry_point_has_the_domains_name(packages: Packages) -> None:
    packages.install("kites", text=DOMAIN.format(name="dragons", more=""))
    assert 'calls itself "dragons"; name its entry point dragons as well' in refused()


@pytest.mark.parametrize("name", ["work", "penstock", "ops", "all"])
def test_a_domain_is_not_called_as_a_part_of_penstock_is(packages: Packages, name: str) -> None:
    packages.write("stranger", DOMAIN.format(name=name, more=""))
    assert f'is called "{name}", which Penstock uses itself' in refused(None, "stranger:PLUGIN")


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (Settings(domains=("speach",)), r'No domain "speach" is installed. Did you mean "speech"\?'),
        (Settings(domains=("qqq",)), r'No domain "qqq" is installed. There are assetcreator, .*, videos\.'),
        (Settings(domains=("a.b",)), r"named as package.module:PLUGIN"),
        (Settings(domains=("a-b:PLUGIN",)), r"'a-b:PLUGIN' is not written as package.module:PLUGIN"),
        (Settings(domains=("a:",)), r"'a:' is not written as"),
        (Settings(without=("novea",)), r'PENSTOCK_WITHOUT leaves out "novea", .* Did you mean "novae"\?'),
        (Settings(domains=("novae",), without=("novae",)), r"novae is both named and left out"),
        (Settings(domains=("no_such_module:PLUGIN",)), r"No module named 'no_such_module'. Check the name"),
    ],
)
def test_a_name_that_leads_nowhere_is_answered_with_what_there_is(chosen: Settings, told: str) -> None:
    assert re.search(told, refused(chosen))


def test_two_domains_do_not_share_a_task(packages: Packages) -> None:
    task = """
from penstock.work import TaskContext, Tasks
TASKS = Tasks("shared")

@TASKS.task("fly")
def fly(work: TaskContext, input: dict[str, str]) -> None: ...
"""
    for name in ("kites", "lamps"):
        packages.write(f"stranger_{name}", task + DOMAIN.format(name=name, more=", tasks=TASKS"))
    told = refused(None, "stranger_kites:PLUGIN", "stranger_lamps:PLUGIN")
    assert told == (
        'kites and lamps both have a task shared.fly; a domain\'s tasks begin with its name: Tasks("lamps")'
    )
