"""The studio: all that making a video needs, from the surroundings of a domain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from penstock.auth.caller import Caller
from penstock.domains.musicvideo.options import MusicVideoOptions, read_options
from penstock.domains.musicvideo.providers import Crew, crew_within
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl
from penstock.work.domain_context import DomainContext


@dataclass(frozen=True)
class Studio:
    """Where records and files go, who does the creative work, and what the deployment has chosen."""

    store: Store
    objects: ObjectStore
    crew: Crew
    options: MusicVideoOptions = field(default_factory=MusicVideoOptions)
    once: Claim | None = None
    "The claim of the request that is carried out; the change of its action ends it."

    @classmethod
    def within(cls, context: DomainContext) -> Studio:
        options = read_options(context.setting)
        return cls(context.store, context.objects, crew_within(context.setting, options), options)

    def seen_through(self, store: Store) -> Studio:
        """The same studio for somebody who may see less."""
        return replace(self, store=store)

    def used_by(self, caller: Caller) -> Studio:
        """The same studio for a request that somebody makes: with what they may see, and their claim."""
        return replace(self, store=caller.store, once=caller.claim)

    def sign(self, key: str, *, show_as: str | None = None) -> SignedUrl:
        """A URL for a file, made now and kept nowhere."""
        return self.objects.download_url(key, expires=self.options.url_life, show_as=show_as)
