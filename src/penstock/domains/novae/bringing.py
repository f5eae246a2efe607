"""Bringing the file of a dataset here: from its provider, or from where somebody has put it; then it is stored as it
came, before anybody looks into it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from penstock.astronomy.products.bundle_name import what_is_wrong
from penstock.domains.novae.dataset_files import FileKeeper, sha256_of
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.describing import describe
from penstock.domains.novae.nova_files import OF_DATASETS, RAW
from penstock.domains.novae.providers.provider import FoundProduct
from penstock.domains.novae.states import DatasetType
from penstock.errors import NotFound
from penstock.work.errors import Terminal
from penstock.work.workspace import Workspace

OBJECT = "object:"
"A locator that begins so is a key in the object store."
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Brought:
    """A file that is here, stored as it came."""

    primary_key: str
    "The file to read."
    primary_sha256: str
    byte_length: int
    sha256: str
    "Of what came, which may be an archive."
    etag: str | None
    locator: str
    fingerprint: str = ""

    @property
    def file(self) -> Mapping[str, Any]:
        """What a verdict keeps of it."""
        return {
            "sha256": self.primary_sha256,
            "byte_length": self.byte_length,
            "etag": self.etag,
            "raw_key": self.primary_key,
        }

    def told(self) -> dict[str, Any]:
        """What is handed to the next step."""
        return asdict(self)

    @staticmethod
    def of(told: Mapping[str, Any]) -> Brought:
        """What the first step has handed on."""
        return Brought(**{name: told[name] for name in Brought.__slots__})


Tell = Callable[[float], None]


def bring(keeper: FileKeeper, dataset: Dataset, locator: str | None, workspace: Workspace, tell: Tell) -> Brought:
    """The file of a dataset; UnusableAnswer tells what is wrong with what came, Terminal that nothing ever will."""
    locators = [locator] if locator else dataset.locators
    ours = next((each for each in locators if each.startswith(OBJECT)), None)
    if ours is not None:
        return _sent(workspace, dataset, ours)
    return _acquired(keeper, dataset, locators, workspace, tell)


def _sent(workspace: Workspace, dataset: Dataset, locator: str) -> Brought:
    """A file that somebody has put into the bucket; it lies where it should already."""
    key = locator.removeprefix(OBJECT)
    told = [pattern.read(key, Dataset.__shape__.fields) for pattern in OF_DATASETS]
    if not any(each is not None and each.get("dataset_id") == dataset.dataset_id for each in told):
        raise Terminal(f"{key[:200]} is no place of dataset {dataset.dataset_id}")
    try:
        path = workspace.fetch(key)
    except NotFound:
        raise Terminal(f"the file {key} is not there (any more); send it again") from None
    digest = sha256_of(path)
    return Brought(key, digest, path.stat().st_size, digest, None, locator)


def _acquired(keeper: FileKeeper, dataset: Dataset, locators: list[str], workspace: Workspace, tell: Tell) -> Brought:
    acquirer = keeper.catalogue.sources.acquisition
    if acquirer is None:
        raise Terminal("no provider can be asked for files; set NC_PROVIDERS")
    product = product_of(dataset, locators)
    member = (dataset.said or {}).get("member")
    came = acquirer.acquire(product, workspace.folder / "came", member=member, tell=tell)
    pattern = RAW[dataset.dataset_type]
    if came.members:
        keeper.keep(came.file, pattern, "archive.zip")
        for each in came.members:
            tell(1.0)
            inside = "/".join(plain_name(part, "_") for part in PurePosixPath(each.name).parts)
            keeper.keep(each.path, pattern, f"unzipped/{inside}")
    name = _name_of(dataset, came)
    primary = keeper.keep(came.primary, pattern, name, etag=came.etag)
    _keep_source(keeper, dataset, came, workspace)
    describe(keeper, dataset, plain_name(_own_name(came)), workspace, tell)
    return Brought(
        primary.s3_key, came.primary_sha256, came.primary_length, came.sha256, came.etag, str(came.locator)[:1000]
    )


def product_of(dataset: Dataset, locators: list[str]) -> FoundProduct:
    """A dataset as its provider had told of it."""
    told = dataset.product or {}
    return FoundProduct(
        provider=dataset.provider,
        native_id=told.get("native_id"),
        identity=dataset.provider_identity or str(dataset.dataset_id),
        locators=tuple(locators),
        hints=dataset.hints,
        version=told.get("version"),
        checksum=told.get("checksum"),
        weak=bool(told.get("weak")),
    )


def _name_of(dataset: Dataset, came: Any) -> str:
    """primary.fits, as the documents have it; a text keeps its ending. Of photometry the file's own name."""
    if dataset.dataset_type is DatasetType.PHOTOMETRY:
        return plain_name(_own_name(came))
    with came.primary.open("rb") as file:
        fits = file.read(9) == b"SIMPLE  ="
    ending = PurePosixPath(_own_name(came)).suffix.lower()
    usual = ending if ending in (".csv", ".txt", ".dat", ".xml", ".vot") else ".txt"
    return "primary.fits" if fits else f"primary{usual}"


def _own_name(came: Any) -> str:
    """What the file is called where it comes from."""
    locator = str(came.locator).partition("?")[0].rpartition(":")[2]
    return PurePosixPath(came.primary_member or locator).name


def plain_name(name: str, default: str = "table.csv") -> str:
    """The last part of a file's name as a key can have it."""
    last = PurePosixPath(name.replace("\\", "/")).name
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last).strip(".")
    while ".." in kept:
        kept = kept.replace("..", ".")
    return safe_name(kept[-_LONGEST_NAME:].strip(".") or default)


def safe_name(name: str) -> str:
    """A name that no system takes for a device: con.csv is one on Windows, and no bundle could have it."""
    return f"_{name}" if what_is_wrong(name) else name


def _keep_source(keeper: FileKeeper, dataset: Dataset, came: Any, workspace: Workspace) -> None:
    """source.json: where a spectrum comes from, beside it."""
    if dataset.dataset_type is not DatasetType.SPECTRA:
        return
    told = {
        "provider": dataset.provider,
        "identity": dataset.provider_identity,
        "locator": came.locator,
        "locators": dataset.locators,
        "product": dataset.product,
        "hints": dataset.hints,
        "sha256": came.sha256,
        "byte_length": came.byte_length,
        "etag": came.etag,
        "content_type": came.content_type,
    }
    path = workspace.folder / "source.json"
    path.write_text(json.dumps(told, indent=1, sort_keys=True, default=str), encoding="utf-8")
    keeper.keep(path, RAW[dataset.dataset_type], "source.json")
