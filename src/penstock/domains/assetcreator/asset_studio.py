"""The asset studio: all that making an asset needs, from the context of the domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from penstock.auth.caller import Caller
from penstock.declare.option import read_options
from penstock.domains.assetcreator.options import AssetOptions
from penstock.domains.assetcreator.safety import PromptSafety, WordList
from penstock.files.signed_view import UrlSigner
from penstock.generation.asset_steps import (
    Animator,
    AssetExporter,
    Modeller,
    PictureMaker,
    PictureRefiner,
    Retopologist,
    Rigger,
)
from penstock.generation.remote_providers import remote_modeller, remote_picture
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.ports.archive import Archive
from penstock.ports.clock import Clock
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl
from penstock.studio.concept_artist import ConceptArtist
from penstock.studio.flat_exporter import BackgroundExporter, SpriteExporter
from penstock.studio.modelling.animator import CycleAnimator
from penstock.studio.modelling.exporter import ModelExporter
from penstock.studio.modelling.retopologist import QuadricRetopologist
from penstock.studio.modelling.rigger import ShapeRigger
from penstock.studio.modelling.sculptor import Sculptor
from penstock.studio.retoucher import Retoucher
from penstock.work.domain_context import DomainContext

PICTURE = remote_picture("AC_PICTURE")
MODELLER = remote_modeller("AC_MODELLER")
PROVIDER_SETTINGS = (*PICTURE.settings, *MODELLER.settings)


@dataclass(frozen=True, slots=True)
class AssetMakers:
    """Whoever makes the parts of an asset."""

    artist: PictureMaker
    refiner: PictureRefiner
    modeller: Modeller
    retopologist: Retopologist
    rigger: Rigger
    animator: Animator
    exporters: Mapping[str, AssetExporter]
    "By the kind of asset."


def asset_makers(setting: Callable[[str], str | None], *, clock: Clock | None = None) -> AssetMakers:
    """Those that a deployment has chosen to work elsewhere; the others are embedded, and need nothing but a CPU.

    Whoever lacks a package says so, with the line to install it, once there is something to do.
    """
    artist, sculptor, models = ConceptArtist(), Sculptor(), ModelExporter()
    return AssetMakers(
        artist=PICTURE.provider(setting, clock=clock, embedded=artist) or artist,
        refiner=Retoucher(),
        modeller=MODELLER.provider(setting, clock=clock, embedded=sculptor) or sculptor,
        retopologist=QuadricRetopologist(),
        rigger=ShapeRigger(),
        animator=CycleAnimator(),
        exporters={
            "character": models,
            "prop": models,
            "sprite": SpriteExporter(),
            "background": BackgroundExporter(),
        },
    )


@dataclass(frozen=True)
class AssetStudio:
    """Where records and files go, who makes the parts of an asset, and what the deployment has chosen."""

    store: Store
    objects: ObjectStore
    makers: AssetMakers
    options: AssetOptions = field(default_factory=AssetOptions)
    safety: PromptSafety = field(default_factory=WordList)
    once: Claim | None = None
    "The claim of the request that is carried out; the change of its action ends it."
    archive: Archive | None = None
    "Where versions are that were not among the latest any more."

    @classmethod
    def within(cls, context: DomainContext) -> AssetStudio:
        """That of a context: settings are read, and makers built, once in its life."""
        return context.made_once(cls._made)

    @classmethod
    def _made(cls, context: DomainContext) -> AssetStudio:
        options = read_options(AssetOptions, context.setting)
        makers = asset_makers(context.setting, clock=context.store.clock)
        safety = WordList(options.forbidden_words)
        return cls(context.store, context.objects, makers, options, safety, archive=context.archive)

    def used_by(self, caller: Caller) -> AssetStudio:
        """The same studio for a request that somebody makes: with what they may see, and their claim."""
        return replace(self, store=caller.store, once=caller.claim)

    def sign(self, key: str, *, show_as: str | None = None) -> SignedUrl:
        """A URL for a file, made now and kept nowhere."""
        return self.objects.download_url(key, expires=self.options.url_life, show_as=show_as)

    def signer(self) -> UrlSigner:
        """What signs the files of one answer."""
        return UrlSigner(self.sign)
