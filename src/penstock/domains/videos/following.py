"""What follows the changes of videos, whoever made them: work on a new one, the end of all when one is gone, and a line
in the audit of each."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.domains.videos.auditing import event_of, is_audited
from penstock.domains.videos.encoding import make_thumbnails, transcode
from penstock.domains.videos.model import Submission, Video
from penstock.domains.videos.recognition import release_file
from penstock.domains.videos.submissions import OnVideo
from penstock.domains.videos.tagging import untag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_removal import cancel_work, remove_files
from penstock.domains.videos.view_counting import forget_views
from penstock.kernel.idempotency import Claim
from penstock.operations.feed_entry import FeedEntry
from penstock.plugin import FeedHandler
from penstock.work.domain_context import DomainContext


def handlers(context: DomainContext) -> Sequence[FeedHandler]:
    """The handlers of a running system."""
    library = VideoLibrary.within(context)

    def begin_work(entry: FeedEntry, claim: Claim) -> None:
        """Have pictures and a stream made of a new video, once however often its insertion is told."""
        # As it is now: it may be gone by the time one hears of it, and some streams tell only keys.
        video = library.store.lookup(Video.at(**entry.key))
        if video is None or video.source_s3_key is None:
            return  # another has written it, and no file came with it
        wanted, ref = OnVideo(video_id=video.video_id), video.ref
        with library.store.change(by="videos.begin_work", once=claim) as change:
            make_thumbnails.enqueue(change, wanted, about=ref)
            transcode.enqueue(change, wanted, about=ref)

    def forget(entry: FeedEntry, claim: Claim) -> None:
        """Remove everything of a video that is gone: by somebody, or because its time was over."""
        video_id = entry.key["video_id"]
        instead = library.store.lookup(Video.at(video_id=video_id))
        if instead is None:
            cancel_work(library.store, video_id)
            remove_files(library.objects, video_id)
            forget_views(library.store, video_id)
        with library.store.change(by="videos.forget", once=claim) as change:
            if entry.old is not None:
                untag(change, entry.old, but=instead)
            if instead is None:
                change.delete(Submission.at(video_id=video_id))
                if entry.old is not None:
                    release_file(change, entry.old)

    def audit(entry: FeedEntry, claim: Claim) -> None:
        """Keep a line of what became of a video."""
        with library.store.change(once=claim) as change:
            change.create(event_of(library.store, entry))

    return [
        FeedHandler(Video, ["insert"], begin_work),
        FeedHandler(Video, ["remove"], forget),
        FeedHandler(Video, ["insert", "update", "remove"], audit, when=is_audited),
    ]
