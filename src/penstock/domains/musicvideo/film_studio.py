"""The film studio: all that making a video needs, from the context of the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from penstock.auth.caller import Caller
from penstock.declare.option import read_options
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.files.signed_view import UrlSigner
from penstock.generation.remote_providers import remote_generator, remote_lip_sync, remote_writer
from penstock.generation.steps import Artist, LipSync, SceneWriter, VideoGenerator
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.media.compose import Composer, FfmpegComposer
from penstock.ports.clock import Clock
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl
from penstock.studio.artist import PortraitArtist
from penstock.studio.filmer import ProceduralFilmer
from penstock.studio.lip_sync import MouthLipSync
from penstock.studio.writer import ConceptWriter
from penstock.work.domain_context import DomainContext

WRITER = remote_writer("MV_WRITER")
GENERATOR = remote_generator("MV_GENERATOR")
LIP_SYNC = remote_lip_sync("MV_LIPSYNC")
PROVIDER_SETTINGS = (*WRITER.settings, *GENERATOR.settings, *LIP_SYNC.settings)


@dataclass(frozen=True, slots=True)
class FilmProviders:
    """Whoever makes the parts of a film."""

    writer: SceneWriter
    generator: VideoGenerator
    lip_sync: LipSync
    composer: Composer
    artist: Artist


def film_providers(
    setting: Callable[[str], str | None], options: MusicVideoOptions, *, clock: Clock | None = None
) -> FilmProviders:
    """Those that a deployment has chosen to work elsewhere; the others are embedded, and need nothing but a CPU.

    Whoever lacks a package says so, with the line to install it, once there is something to do.
    """
    width, height = options.size
    filmer, mouths = ProceduralFilmer(width, height, options.fps), MouthLipSync()
    return FilmProviders(
        writer=WRITER.provider(setting, clock=clock) or ConceptWriter(),
        generator=GENERATOR.provider(setting, clock=clock, embedded=filmer) or filmer,
        lip_sync=LIP_SYNC.provider(setting, clock=clock, embedded=mouths) or mouths,
        composer=FfmpegComposer(width, height, options.fps),
        artist=PortraitArtist(),
    )


@dataclass(frozen=True)
class FilmStudio:
    """Where records and files go, who makes the parts of a film, and what the deployment has chosen."""

    store: Store
    objects: ObjectStore
    providers: FilmProviders
    options: MusicVideoOptions = field(default_factory=MusicVideoOptions)
    once: Claim | None = None
    "The claim of the request that is carried out; the change of its action ends it."

    @classmethod
    def within(cls, context: DomainContext) -> FilmStudio:
        """That of a context: settings are read, and providers built, once in its life."""
        return context.made_once(cls._made)

    @classmethod
    def _made(cls, context: DomainContext) -> FilmStudio:
        options = read_options(MusicVideoOptions, context.setting)
        providers = film_providers(context.setting, options, clock=context.store.clock)
        return cls(context.store, context.objects, providers, options)

    def seen_through(self, store: Store) -> FilmStudio:
        """The same studio for somebody who may see less."""
        return replace(self, store=store)

    def used_by(self, caller: Caller) -> FilmStudio:
        """The same studio for a request that somebody makes: with what they may see, and their claim."""
        return replace(self, store=caller.store, once=caller.claim)

    def sign(self, key: str, *, show_as: str | None = None) -> SignedUrl:
        """A URL for a file, made now and kept nowhere."""
        return self.objects.download_url(key, expires=self.options.url_life, show_as=show_as)

    def signer(self) -> UrlSigner:
        """What signs the files of one answer."""
        return UrlSigner(self.sign)
