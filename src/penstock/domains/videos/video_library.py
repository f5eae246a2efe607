"""The video library: all that videos need, from the context of the domain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from penstock.auth.caller import Caller
from penstock.declare.option import read_options
from penstock.domains.videos.burst_counter import BurstCounter
from penstock.domains.videos.errors import NotWatchable
from penstock.domains.videos.model import Video
from penstock.domains.videos.options import Counting, VideoOptions
from penstock.files.signed_view import UrlSigner
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl
from penstock.work.domain_context import DomainContext


@dataclass(frozen=True)
class VideoLibrary:
    """Where records and files are, and what the deployment has chosen."""

    store: Store
    objects: ObjectStore
    options: VideoOptions = field(default_factory=VideoOptions)
    counter: BurstCounter | None = None
    "What counts views in memory, where the deployment has chosen that."
    once: Claim | None = None
    "The claim of the request that is carried out; the change of its action ends it."

    @classmethod
    def within(cls, context: DomainContext) -> VideoLibrary:
        """That of a context: settings are read once in its life."""
        return context.made_once(cls._made)

    @classmethod
    def _made(cls, context: DomainContext) -> VideoLibrary:
        options = read_options(VideoOptions, context.setting)
        counter = BurstCounter(context.store) if options.counting is Counting.BURST else None
        if counter is not None:
            context.at_end(counter.close)
        return cls(context.store, context.objects, options, counter)

    def used_by(self, caller: Caller) -> VideoLibrary:
        """The same for a request that somebody makes: with what they may see, and their claim."""
        return replace(self, store=caller.store, once=caller.claim)

    def video(self, video_id: UUID) -> Video:
        """A video that is there and not past its end; NotFound for any other."""
        return self.store.get(Video.at(video_id=video_id))

    def signer(self, video: Video) -> UrlSigner:
        """What signs the files of a video: no URL outlives it."""
        lasts = self.left_of(video, self.options.url_life)

        def sign(key: str, *, show_as: str | None = None) -> SignedUrl:
            return self.objects.download_url(key, expires=lasts, show_as=show_as)

        return UrlSigner(sign)

    def left_of(self, video: Video, wanted: timedelta) -> timedelta:
        """So long something about a video may last; NotWatchable within the last second before its end."""
        if video.expiry_time is None:
            return wanted
        # Counted in seconds: an end may be stored that lies behind all dates.
        left = int(video.expiry_time - self.store.clock.now().timestamp())
        if left < 1:
            raise NotWatchable(f"video {video.video_id} is at its end")
        return timedelta(seconds=min(left, int(wanted.total_seconds())))
