"""Videos on the command line: ``penstock videos add``, ``import``, ``list``, ``play`` and ``remove``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import ValidationError

from penstock.domains.videos import finding, video_removal
from penstock.domains.videos.adding import BY, SaidOfFile, add_file, words_of
from penstock.domains.videos.adding_progress import adding_bars
from penstock.domains.videos.errors import IncompleteQuestion, NotWatchable
from penstock.domains.videos.finding import VideoQuestion
from penstock.domains.videos.model import Video
from penstock.domains.videos.tagging import checked_tags
from penstock.domains.videos.video_bodies import SubmitVideo
from penstock.domains.videos.video_folder import files_in
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_lines import as_data, rungs_of, shown, table_of, told_facts, told_stays
from penstock.domains.videos.video_views import API, encoded_share
from penstock.domains.videos.video_words import LONGEST_CATEGORY
from penstock.domains.videos.watching import watch_path
from penstock.errors import InvalidValue, Misconfigured, NotFound, PenstockError, Unavailable
from penstock.plugin import CommandContext

INTERRUPTED = 130
"How a command ends that somebody has stopped."
_SHOWN, _PAGE = 50, 100
User = Annotated[str, typer.Option("--user", "-u", help="Whose they are.")]
TagWords = Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may be given several times.")]
CategoryWord = Annotated[str | None, typer.Option("--category", "-c", help="The category.")]
Lasts = Annotated[int | None, typer.Option("--lasts", min=1, max=10**10, help="Seconds until they end by themselves.")]
StoreUrl = Annotated[str | None, typer.Option("--store", help="Where records live; else PENSTOCK_STORE.")]
ObjectsUrl = Annotated[str | None, typer.Option("--objects", help="Where files live; else PENSTOCK_OBJECTS.")]


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock videos …``."""

    def add(
        files: Annotated[list[Path], typer.Argument(help="Videos.", show_default=False)],
        user: User,
        tag: TagWords = None,
        category: CategoryWord = None,
        title: Annotated[str | None, typer.Option(help="Of one video; else its file's name.")] = None,
        lasts: Lasts = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
    ) -> None:
        """Send videos in and encode them; what was interrupted goes on where it was."""
        if title is not None and len(files) > 1:
            raise InvalidValue(f"--title is for one video, and there are {len(files)} files; leave it out")
        tags = frozenset(tag or ())
        said = _checked(SaidOfFile(user_id=user, title=title, category=category, tags=tags, lasts=lasts))
        with _adding(terminal, store, objects) as adding:
            for path in files:
                adding.add(path, said, name=str(path))

    def import_folder(
        folder: Annotated[Path, typer.Argument(help="A folder; those below it are looked through, too.")],
        user: User,
        tag: TagWords = None,
        category: CategoryWord = None,
        folders_are_categories: Annotated[
            bool, typer.Option("--folders-are-categories", help="A video's category is the sub-folder it is in.")
        ] = False,
        lasts: Lasts = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
    ) -> None:
        """Send in all videos of a folder; run again, it passes over what is there and goes on with what is not."""
        if not folder.is_dir():
            raise InvalidValue(f"{shown(folder)} is no folder; name one, or add files by: penstock videos add FILE…")
        usual = _checked(SaidOfFile(user_id=user, category=category, tags=frozenset(tag or ()), lasts=lasts))
        with _adding(terminal, store, objects) as adding:
            entries = list(files_in(folder))
            total, number = sum(entry.passed_over is None for entry in entries), 0
            for entry in entries:
                inside = entry.path.relative_to(folder)
                if entry.passed_over is not None:
                    adding.pass_over(str(inside), entry.passed_over, quiet=entry.is_hidden, failed=entry.is_broken)
                    continue
                named = words_of(inside.parts[0])[:LONGEST_CATEGORY] if len(inside.parts) > 1 else ""
                said = replace(usual, category=named) if folders_are_categories and named else usual
                number += 1
                adding.add(entry.path, said, name=str(inside), place=f"{number} of {total}: ", anew=False)
            adding.sum_up()

    def list_videos(
        user: Annotated[str | None, typer.Option("--user", "-u", help="Whose they are.")] = None,
        category: CategoryWord = None,
        tag: TagWords = None,
        limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = _SHOWN,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    ) -> None:
        """List videos of a user, of a category, of both, or with all of some tags; newest first."""
        asked = VideoQuestion(user, category, checked_tags(tag) or frozenset())
        if asked == VideoQuestion():
            raise IncompleteQuestion(
                "say whose videos, of which category, or with which tags: --user, --category, --tag"
            )
        with terminal.opened(store=store, objects=objects) as context:
            videos, more = _found(VideoLibrary.within(context), asked, limit)
        if as_json:
            print(json.dumps([as_data(video) for video in videos], indent=2))
            return
        if not videos:
            terminal.tell("No videos.")
            return
        terminal.console().print(table_of(videos))
        if more:
            terminal.tell(f"There are more; --limit {min(limit * 2, 1000)} shows them.")

    def play(
        video_id: Annotated[UUID, typer.Argument(help="Which video.", show_default=False)],
        rung: Annotated[str | None, typer.Option(help="Such as 360p; else the best.")] = None,
        open_it: Annotated[bool, typer.Option("--open", help="Open it in the player of this machine.")] = False,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
    ) -> None:
        """Say where a video can be watched: its file or its URL, for any player."""
        with terminal.opened(store=store, objects=objects) as context:
            library = VideoLibrary.within(context)
            video = library.video(video_id)
            file, stream = file_of(library, video, rung), _stream_of(library, video, rung)
            url = None if stream is None else f"{terminal.service_url()}{stream}"
            if file is None and url is None:
                share = f"{encoded_share(library.store, video):.0%} of it is encoded"
                raise NotWatchable(f"video {video_id} is {video.status.value}: {video.error or share}")
        terminal.tell(f"{shown(video.title)} · {told_facts(video)}")
        if file is not None:
            terminal.tell(file)
        if url is not None:
            terminal.tell(f"While `penstock up` runs: {url}")
        if open_it and typer.launch(file or url or ""):
            raise InvalidValue("nothing on this machine opens videos; give what is said above to a player, such as mpv")

    def remove(
        video_ids: Annotated[list[UUID], typer.Argument(help="Which videos.", show_default=False)],
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
    ) -> None:
        """Remove videos, with everything that was made of them."""
        missing = 0
        with terminal.opened(store=store, objects=objects) as context:
            library = VideoLibrary.within(context)
            for video_id in video_ids:
                try:
                    missing += not _removed(library, terminal, video_id, ask=not yes)
                except NotFound:
                    terminal.tell(f"there is no video {video_id}")
                    missing += 1
        if missing:
            raise typer.Exit(1)

    return {
        "videos add": add,
        "videos import": import_folder,
        "videos list": list_videos,
        "videos play": play,
        "videos remove": remove,
    }


class _Adding:
    """Files that are added one after the other: each is told of in a line, and one that is refused stops no other."""

    def __init__(self, terminal: CommandContext, library: VideoLibrary) -> None:
        self._terminal, self._library = terminal, library
        self.counted: Counter[str] = Counter()

    def add(self, path: Path, said: SaidOfFile, *, name: str, place: str = "", anew: bool = True) -> None:
        try:
            with adding_bars(self._terminal.console(), f"{place}{path.name}") as tell:
                added = add_file(self._library, path, said, tell=tell, anew=anew)
        except (Misconfigured, Unavailable):
            raise  # no other file would fare better
        except PenstockError as error:
            self._count("refused", f"refused: {shown(name)}: {shown(error)}")
            return
        told = f"{added.video.video_id}  {shown(name)} · {told_facts(added.video)}"
        was_there = " · was there already" if added.was_there else ""
        self._count("there already" if added.was_there else "added", f"{told}{was_there}{told_stays(added)}")

    def pass_over(self, name: str, why: str, *, quiet: bool, failed: bool) -> None:
        line = f"{'refused' if failed else 'passed over'}: {shown(name)}: {why}"
        self._count("refused" if failed else "hidden" if quiet else "passed over", None if quiet else line)

    def sum_up(self) -> None:
        told = [f"{self.counted[what]} {what}" for what in _COUNTED if self.counted[what]]
        self._terminal.tell(f"{', '.join(told)}." if told else "The folder is empty.")

    def _count(self, what: str, line: str | None) -> None:
        self.counted[what] += 1
        if line is not None:
            self._terminal.tell(line)


_COUNTED = ("added", "there already", "refused", "passed over", "hidden")


@contextmanager
def _adding(terminal: CommandContext, store: str | None, objects: str | None) -> Iterator[_Adding]:
    """The system at work, for files to be added; the command ends with 1 if one was refused."""
    try:
        with terminal.working(store=store, objects=objects) as context:
            adding = _Adding(terminal, VideoLibrary.within(context))
            yield adding
    except KeyboardInterrupt:
        terminal.tell("Stopped. Say the same again, and it goes on where it was.")
        raise typer.Exit(INTERRUPTED) from None
    if adding.counted["refused"]:
        raise typer.Exit(1)


def _checked(said: SaidOfFile) -> SaidOfFile:
    """What is said of all files, by the rules of the API, before any of them is read."""
    told = {"title": "of a file", **{name: value for name, value in asdict(said).items() if value is not None}}
    try:
        SubmitVideo.model_validate({**told, "tags": list(said.tags), "size": 1})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = {"user_id": "user", "tags": "tag"}.get(str(first["loc"][0]), str(first["loc"][0]))
        raise InvalidValue(f"--{option}: {first['msg'].lower()}") from None
    return replace(said, tags=checked_tags(said.tags) or frozenset())


def _found(library: VideoLibrary, asked: VideoQuestion, limit: int) -> tuple[list[Video], bool]:
    """So many videos at most, and whether there are more."""
    videos: list[Video] = []
    cursor: str | None = None
    while True:
        page = finding.find_videos(library.store, asked, limit=min(_PAGE, limit - len(videos)), cursor=cursor)
        videos += page.videos
        cursor = page.cursor
        if cursor is None or len(videos) >= limit:
            return videos, cursor is not None


def file_of(library: VideoLibrary, video: Video, rung: str | None) -> str | None:
    """Where the film is by itself: a file of this machine, or a URL that opens; None while there is none."""
    rungs = rungs_of(video)
    if not rungs:
        return None
    if rung is not None and rung not in rungs:
        raise InvalidValue(f"there is no rung {shown(rung[:20])} of this video; there are {', '.join(rungs)}")
    key = rungs[rung or next(iter(rungs))]
    path = library.objects.local_file(key)
    return str(path) if path is not None else library.signer(video).url(key, "video/mp4")


def _stream_of(library: VideoLibrary, video: Video, rung: str | None) -> str | None:
    """The path of a playlist, where the service is."""
    if video.stream_s3_key is None:
        return None
    return f"{API}/{watch_path(library, video)}/{rung or 'master'}.m3u8"


def _removed(library: VideoLibrary, terminal: CommandContext, video_id: UUID, *, ask: bool) -> bool:
    video = library.video(video_id)
    told = f"{shown(video.title)} ({video_id})"
    if ask and not typer.confirm(f"Remove {told} and everything that was made of it?"):
        return False
    video_removal.delete_video(library, video_id, by=BY)
    # Whoever follows the changes does so as well; here nobody might.
    video_removal.remove_files(library.objects, video_id)
    terminal.tell(f"{told} is removed.")
    return True
