"""What people say of novae in the terminal, and how commands end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Penstock
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock
from tests.domains.novae.made_files import in_strange_unit, light_curve_csv, spectrum_fits

TICKET = """OBJECT NAME: V1324 Sco
METADATA FILENAME: list.csv
FILENAME COLUMN: 0
WAVELENGTH COLUMN: 1
FLUX COLUMN: 2
"""


@pytest.fixture
def nova(penstock: Penstock) -> str:
    made = penstock(
        "novae", "new", "V1324 Sco", "--ra", "267.7246", "--dec=-32.6223", "--discovered", "2012-06", "--json"
    )
    assert (made.json["discovery_date"], made.json["discovery_source"]) == ("2012-06-00", "person")
    return "V1324 Sco"


def test_a_nova_is_made_corrected_renamed_and_deprecated(penstock: Penstock, nova: str) -> None:
    assert "discovered 2012-06 ·" in penstock("novae", "status", nova).out
    assert "is no date" in penstock("novae", "correct", nova, "--discovered", "June").err
    assert "discovered 2012-06-01" in penstock("novae", "correct", nova, "--discovered", "2012-06-01").out
    assert "by now" in penstock("novae", "correct", nova, "--ra", "1", "--dec", "2", "--version", "0").err
    assert penstock("novae", "alias", "add", nova, "MOA 2012 BLG-320").out == "V1324 Sco\nMOA 2012 BLG-320\n"
    assert penstock("novae", "alias", "remove", nova, "moa 2012 blg-320").code == 0
    assert penstock("novae", "rename", nova, "Nova Sco 2012").out.startswith("Nova Sco 2012")
    assert penstock("novae", "alias", "list", nova, "--json").json["names"] == ["Nova Sco 2012", "V1324 Sco"]
    assert "DEPRECATED: a dwarf nova" in penstock("novae", "deprecate", nova, "--why", "a dwarf nova").out
    assert "No novae." in penstock("novae", "status").out
    assert "DEPRECATED: a dwarf nova" in penstock("novae", "status", nova).out
    again = penstock("novae", "init", nova)
    assert (again.code, "penstock novae restore" in again.out) == (1, True)
    assert "DEPRECATED" not in penstock("novae", "restore", nova).out


def test_add_ends_with_another_number_when_something_waits(penstock: Penstock, nova: str, folder: Path) -> None:
    (folder / "odd.fits").write_bytes(in_strange_unit())
    said = penstock("novae", "add", "odd.fits", "--nova", nova)
    assert (said.code, "waits for a person" in said.out) == (3, True)
    assert "odd.fits" in penstock("novae", "quarantine", "list").out
    how_to_decide = f'penstock novae quarantine reject {said.out.split()[0]} --reason "of no use"'
    assert how_to_decide in said.out
    assert how_to_decide in penstock("novae", "status", nova).out


def test_a_ticket_is_blamed_for_what_is_wrong_with_it(penstock: Penstock, nova: str, folder: Path) -> None:
    (folder / "curve.csv").write_bytes(light_curve_csv())
    missing = penstock("novae", "add", "curve.csv", "--nova", nova, "--ticket", "nofile.txt")
    assert "the ticket nofile.txt cannot be read: No such file" in missing.out
    (folder / "spectra.txt").write_text(TICKET)
    other = penstock("novae", "add", "curve.csv", "--nova", nova, "--ticket", "spectra.txt")
    assert (other.code, "this ticket describes spectra" in other.out) == (1, True)


def test_one_dataset_is_got_withdrawn_and_brought_back(penstock: Penstock, nova: str, folder: Path) -> None:
    (folder / "day12.fits").write_bytes(spectrum_fits(BUNIT=None))
    added = penstock("novae", "add", "day12.fits", "--nova", nova).out
    assert "200 points · 4000–5990 Å · relative · assumed: flux unit" in added, "the file tells no unit"
    dataset = added.split()[0]
    got = penstock("novae", "get", dataset, "--out", "mine", "--json").json["files"]
    assert "mine/raw/day12.fits" in got
    assert (folder / "mine" / "raw" / "day12.fits").read_bytes() == spectrum_fits(BUNIT=None)
    gone = penstock("novae", "withdraw", dataset, "--reason", "a flat field")
    assert "refused · withdrawn by penstock novae: a flat field" in gone.out
    told = penstock("novae", "bundle", nova, "--out", "b.zip", "--json").json
    assert (told["files"], Path(told["path"]).name) == (0, "b.zip")
    back = penstock("novae", "quarantine", "clear", dataset, "--note", "it is none", "--json").json
    assert back["validation_status"] == "VALID"


def test_a_bucket_that_is_not_known_is_said_at_once(penstock: Penstock, folder: Path) -> None:
    said = penstock("novae", "dropped", "foo", "bar")
    assert (said.code, "'foo' is no bucket it knows" in said.err) == (2, True)
