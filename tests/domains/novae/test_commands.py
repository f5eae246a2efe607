"""Novae in the terminal, as somebody uses it: looked up, added to, decided about, bundled and merged."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.astronomy.synthetic.demo_folder import make_demo_folder
from penstock.domains.novae import catalogue_advice
from penstock.domains.novae.file_adding import kind_of_file
from penstock.domains.novae.states import DatasetType
from tests.cli.conftest import Penstock
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock
from tests.domains.novae.made_files import cut, in_strange_unit, light_curve_csv, pixels_fits, spectrum_fits

NOVA = "V1324 Sco"


@pytest.fixture
def sky(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that knows a nova, and is asked."""
    make_demo_folder(folder / "sky", seed=19, nova_name=NOVA)
    monkeypatch.setenv("NC_PROVIDERS", f"local:{folder / 'sky'}")
    return folder / "sky"


def test_a_name_is_looked_up_judged_decided_about_and_bundled(penstock: Penstock, sky: Path, folder: Path) -> None:
    said = penstock("novae", "init", NOVA)
    assert said.code == 0, said.err + said.out
    for line in (f"resolved    {NOVA}", "papers      1 found", "products    3 of photometry and 8 of spectra known"):
        assert line in said.out
    assert "11 datasets: 9 valid, 1 waiting for a person, 1 refused" in said.out
    assert "Traceback" not in said.out + said.err

    (waits,) = penstock("novae", "quarantine", "list", "--json").json
    assert (waits["nova"], waits["reason_code"]) == (NOVA, "UNKNOWN_UNIT")
    dataset = waits["dataset_id"]
    assert f"penstock novae quarantine clear {dataset} --hint flux_unit=erg/s/cm2/Angstrom" in said.out
    shown = penstock("novae", "quarantine", "show", dataset, "--out", "evidence").out
    assert "BUNIT" in shown
    assert "furlong" in shown
    assert sorted(path.name[9:] for path in (folder / "evidence").iterdir()) == [
        "context.json",
        "preview.png",
        "primary.fits",
    ]
    assert penstock("novae", "replay", dataset).out.startswith("same: ")
    still = penstock("novae", "quarantine", "clear", dataset, "--hint", "flux_unit=parsec")
    assert (still.code, "waits for a person" in still.out) == (1, True)
    cleared = penstock("novae", "quarantine", "clear", dataset, "--hint", "flux_unit=erg/s/cm2/Angstrom")
    assert (cleared.code, " · valid · 2,000 points" in cleared.out) == (0, True), cleared.out
    assert penstock("novae", "quarantine", "list").out == "Nothing waits for a person.\n"

    assert "(47 files, " in penstock("novae", "bundle", NOVA, "--out", "b.zip").out
    with zipfile.ZipFile(folder / "b.zip") as bundle:
        assert bundle.testzip() is None
    assert penstock("novae", "bundle", NOVA, "--out", "again.zip").code == 0
    assert (folder / "again.zip").read_bytes() == (folder / "b.zip").read_bytes()

    told = penstock("novae", "status", "v1324_sco", "--json").json
    assert (told["nova"]["preferred_name"], len(told["datasets"])) == (NOVA, 11)
    assert "SUCCEEDED" in {run["status"] for run in told["runs"]}
    (row,) = penstock("novae", "status", "--json").json["novae"]
    assert (row["nova"], row["spectra"], row["photometry"], row["valid"]) == (NOVA, 8, 3, 10)
    assert "10 valid, 1 refused" in penstock("novae", "status", NOVA).out


def test_files_are_told_by_what_is_in_them_and_added_once(penstock: Penstock, sky: Path, folder: Path) -> None:
    (sky / "manifest.json").write_text('{"novae": [{"name": "V1 Sco", "aliases": ["V1324 Sco"], "type": "Nova"}]}')
    assert "No datasets." in penstock("novae", "init", "V1 Sco").out
    files = {
        "good.fits": spectrum_fits(),
        "curve.csv": light_curve_csv(bad=2),
        "pixels [red].fits": pixels_fits(),
        "cut.fits": cut(spectrum_fits(seed=2)),
        "empty.fits": b"",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    said = penstock("novae", "add", *files, "missing.fits", "--nova", "v1 sco")
    assert said.code == 1, "some were refused"
    told = {
        line.split("  ")[1].split(" · ")[0]: line.split(" · ")[1] for line in said.out.splitlines() if " · " in line
    }
    assert told["good.fits"] == told["curve.csv"] == "valid"
    assert told["pixels [red].fits"] == "waits for a person"
    assert told["cut.fits"] == "refused"
    assert "12 rows · V · 2 rows not read (line 14: " in said.out
    assert "refused: empty.fits: the file is empty" in said.out
    assert "refused: missing.fits: the file cannot be read: No such file or directory" in said.out
    again = penstock("novae", "add", "good.fits", "curve.csv", "--nova", "V1 Sco")
    assert (again.code, again.out.count("was there already")) == (0, 2)
    (one,) = penstock("novae", "add", "good.fits", "--nova", "V1 Sco", "--json").json
    assert (one["was_there"], one["validation_status"]) == (True, "VALID")
    with_hint = penstock("novae", "add", "pixels [red].fits", "--nova", "V1 Sco", "--hint", "unit=nm")
    assert "was there already" not in with_hint.out, "more is said of it now"


def test_one_that_is_rejected_says_why_and_by_whom(penstock: Penstock, sky: Path, folder: Path) -> None:
    (sky / "manifest.json").write_text('{"novae": [{"name": "V1 Sco", "type": "Nova"}]}')
    penstock("novae", "init", "V1 Sco")
    (folder / "odd.fits").write_bytes(in_strange_unit())
    said = penstock("novae", "add", "odd.fits", "-n", "V1 Sco")
    dataset = said.out.split()[0]
    assert "of no use" in penstock("novae", "quarantine", "reject", dataset, "--reason", "of no use").out
    twice = penstock("novae", "quarantine", "reject", dataset, "--reason", "again")
    assert (twice.code, "nobody is asked about it" in twice.err) == (2, True)


def test_what_only_a_person_knows_is_decided_in_the_terminal(penstock: Penstock, sky: Path) -> None:
    (sky / "manifest.json").write_text('{"novae": [{"name": "V1 Sco"}, {"name": "V2 Sco", "type": "Nova"}]}')
    said = penstock("novae", "init", "V1 Sco")
    assert (said.code, "UNKNOWN_OBJECT_TYPE" in said.out) == (1, True)
    (run,) = re.findall(r"penstock novae decide (\S+) new", said.out)
    assert "--into ID" in penstock("novae", "decide", run, "existing").err
    assert "resolved    V1 Sco" in penstock("novae", "decide", run, "new").out
    assert penstock("novae", "decide", run, "new").code == 2, "it was decided"
    assert penstock("novae", "init", "V2 Sco").code == 0
    asked = penstock("novae", "merge", "V1 Sco", "V2 Sco")
    assert (asked.code, "say --yes to mean it" in asked.err) == (2, True), "nothing is merged unasked"
    merged = penstock("novae", "merge", "V1 Sco", "V2 Sco", "--why", "one and the same", "--yes")
    assert "V1 Sco is V2 Sco" in merged.out, merged.err
    assert penstock("novae", "status", "V1 Sco", "--json").json["nova"]["preferred_name"] == "V2 Sco"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("status", "V9 Sco"), "no nova is called 'V9 Sco'; have it looked up by: penstock novae init \"V9 Sco\""),
        (("status", str(uuid4())), "there is no nova"),
        (("add", "a.fits", "--nova", "V9 Sco"), "no nova is called"),
        (("add", "a.fits", "--nova", "V9 Sco", "--hint", "unit"), "write NAME=VALUE"),
        (("replay", str(uuid4())), "no nova has a dataset"),
        (("bundle", "V9 Sco", "--out", "nowhere/b.zip"), "nowhere is no folder"),
        (("quarantine", "show", str(uuid4()), "--nova", "V9 Sco"), "no nova is called"),
        (("merge", "V9 Sco", "V8 Sco"), "no nova is called"),
        (("init", " "), "is no name"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(
    penstock: Penstock, folder: Path, words: tuple[str, ...], why: str
) -> None:
    said = penstock("novae", *words)
    assert said.code != 0
    assert why in said.err + said.out
    assert "Traceback" not in said.err + said.out


def test_a_name_that_nobody_knows_gets_an_answer_that_helps(penstock: Penstock, sky: Path) -> None:
    said = penstock("novae", "init", "V1325 Sco")
    assert said.code == 1
    assert "Nobody knows a nova called V1325 Sco; asked was local" in said.out
    assert "NC_PROVIDERS=local:FOLDER" in said.out
    penstock("novae", "init", NOVA)
    assert f"did you mean {NOVA}?" in penstock("novae", "status", "V1325 Sco").err


def test_the_demonstration_leaves_plots_and_a_bundle(penstock: Penstock, folder: Path) -> None:
    said = penstock("demo", "novae", "--out", "out")
    assert said.code == 0, said.err
    plots = list((folder / "out" / "plots").rglob("*.png"))
    assert len(plots) == 12
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in plots)
    assert "11 datasets: 9 valid, 1 waiting for a person, 1 refused" in said.out
    assert (folder / "out" / "V1324_Sco.zip").is_file()


def test_the_demonstration_takes_a_folder_of_files_too(penstock: Penstock, folder: Path) -> None:
    (folder / "mine" / "below").mkdir(parents=True)
    (folder / "mine" / "below" / "good.fits").write_bytes(spectrum_fits(OBJECT="V5668 Sgr"))
    (folder / "mine" / "curve.csv").write_bytes(light_curve_csv().replace(b"V1324 Sco", b"V5668 Sgr"))
    said = penstock("demo", "novae", "mine", "--out", "out", "--nova", "V5668 Sgr")
    assert (said.code, "2 datasets: 2 valid" in said.out) == (0, True), said.out + said.err
    assert len(list((folder / "out" / "plots" / "V5668_Sgr").glob("*.png"))) == 3, "with the light curve"
    assert "is no folder" in penstock("demo", "novae", "nowhere", "--out", "out").err


def test_a_file_that_nobody_can_read_is_what_it_is_called(tmp_path: Path) -> None:
    broken = tmp_path / "page.fits"
    broken.write_text("<html>not found</html>")
    assert kind_of_file(broken) is DatasetType.SPECTRA
    assert kind_of_file(broken.rename(tmp_path / "page.csv")) is DatasetType.PHOTOMETRY
    table = tmp_path / "spectrum.csv"
    table.write_text("wavelength,flux\n" + "".join(f"{4000 + n},{1 + n % 7}\n" for n in range(100)))
    assert kind_of_file(table) is DatasetType.SPECTRA


def test_the_domain_loads_nothing_that_only_its_work_needs() -> None:
    heavy = "{'astropy', 'matplotlib', 'pyvo', 'typer', 'fastapi'}"
    program = f"import sys, penstock.domains.novae; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"


def test_the_owner_of_a_bucket_is_told_how_long_evidence_is_kept() -> None:
    (step,) = catalogue_advice.advice("s3://sky/files", lambda name: None)
    assert '"Prefix": "files/quarantine/"' in step.detail
    assert '"Days": 365' in step.detail
    assert catalogue_advice.advice("files:///sky", lambda name: None) == []


def test_a_name_of_which_somebody_says_that_it_means_no_nova_is_told_to_be_rejected(
    penstock: Penstock, sky: Path
) -> None:
    (sky / "manifest.json").write_text('{"novae": [{"name": "V1 Sco"}]}')
    (run,) = re.findall(r"penstock novae decide (\S+) new", penstock("novae", "init", "V1 Sco").out)
    said = penstock("novae", "decide", run, "reject")
    assert (said.code, said.out) == (0, "v1 sco: REJECTED\n")
