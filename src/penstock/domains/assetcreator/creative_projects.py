"""Projects: a style, quotas, gates, and how much is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import ImpossibleAsset
from penstock.domains.assetcreator.model import REFERENCE_FILE, Project, ReferencePicture
from penstock.domains.assetcreator.orders import style_words
from penstock.domains.assetcreator.project_quotas import LIMITS
from penstock.domains.assetcreator.stages import GATES, StepName
from penstock.kernel.idempotency import new_id
from penstock.media.soundness import sound_image
from penstock.schema.kinds import said

_PROPORTIONS = ("chibi", "heroic", "realistic")
_STYLE = 1000
"Characters about the style of a project."


def begin_project(
    studio: AssetStudio, name: str, *, style_profile: dict[str, Any], gates: list[StepName] | None, by: str
) -> Project:
    """A new project, with the quotas of the deployment."""
    _check_style(style_profile)
    _check_gates(gates)
    project = Project(
        project_id=f"prj_{new_id(studio.once, 'project').hex}",
        name=name,
        style_profile=style_profile,
        quotas={limit: getattr(studio.options, limit) for limit in LIMITS},
        gates=gates,
        created_at=studio.store.clock.now(),
    )
    studio.safety.check(project, style_words(project))
    with studio.store.change(by=by, once=studio.once) as change:
        change.create(project)
        change.result = {"project_id": project.project_id}
    return project


def change_project(studio: AssetStudio, project_id: str, changes: dict[str, Any], *, by: str) -> Project:
    """Change what a project says about its style, its gates and what it keeps."""
    _check_style(changes.get("style_profile") or {})
    _check_gates(changes.get("gates"))
    with studio.store.change(by=by) as change:
        project = change.get(Project.at(project_id=project_id))
        for field, value in changes.items():
            setattr(project, field, value)
        if "style_profile" in changes:
            studio.safety.check(project, style_words(project))
        change.save(project)
    return project


def set_rules(
    studio: AssetStudio,
    project_id: str,
    *,
    quotas: dict[str, float] | None = None,
    forbidden_words: list[str] | None = None,
    by: str,
) -> Project:
    """Say how much a project may use, and which words no prompt of it may have; what is None stays as it is.

    What is used beyond a quota is not taken away, only nothing more is begun.
    """
    _check_quotas(quotas or {})
    with studio.store.change(by=by) as change:
        project = change.get(Project.at(project_id=project_id))
        project.quotas = {**project.quotas, **(quotas or {})}
        if forbidden_words is not None:
            project.forbidden_words = forbidden_words
        change.save(project)
    return project


def set_quotas(studio: AssetStudio, project_id: str, quotas: dict[str, float], *, by: str) -> Project:
    """Say how much a project may use."""
    return set_rules(studio, project_id, quotas=quotas, by=by)


def add_reference(studio: AssetStudio, project_id: str, picture: Path, *, by: str) -> ReferencePicture:
    """Keep a picture that shows what is meant; UnusableFile for what is none."""
    project = studio.store.get(Project.at(project_id=project_id))
    sound_image(picture)
    reference_id = f"ref_{new_id(studio.once, 'reference').hex}"
    key = REFERENCE_FILE.key(project_id=project.project_id, reference_id=reference_id)
    with picture.open("rb") as file:
        studio.objects.put(key, file)
    kept = ReferencePicture(
        project_id=project_id, reference_id=reference_id, picture=key, created_at=studio.store.clock.now()
    )
    with studio.store.change(by=by, once=studio.once) as change:
        change.create(kept)
        change.result = {"reference_id": reference_id, "project_id": project_id}
    return kept


def _check_quotas(quotas: dict[str, float]) -> None:
    if unknown := sorted(quotas.keys() - LIMITS.keys()):
        raise ImpossibleAsset(f"there is no quota {said(', '.join(unknown))}; there are {', '.join(LIMITS)}")
    for name, limit in quotas.items():
        if not (0 <= limit < 2**53 and limit == int(limit)):
            raise ImpossibleAsset(f"{name}: {limit} is no limit; give a whole number, 0 or more")


def _check_gates(gates: list[StepName] | None) -> None:
    if wrong := [gate.value for gate in gates or () if gate not in GATES]:
        can = ", ".join(gate.value for gate in GATES)
        raise ImpossibleAsset(f"nobody decides after {', '.join(wrong)}; there can be a gate after {can}")


def _check_style(style: dict[str, Any]) -> None:
    words = style.get("style", "")
    if not isinstance(words, str) or len(words) > _STYLE:
        raise ImpossibleAsset(f"style_profile.style is how things look, in words, at most {_STYLE:,} characters")
    palette = style.get("palette", [])
    if not isinstance(palette, list) or len(palette) > 16 or not all(_is_colour(each) for each in palette):
        raise ImpossibleAsset('style_profile.palette is a list of up to 16 colours such as "#d04a2f"')
    outline = style.get("outline")
    if outline is not None and not (isinstance(outline, int | float) and 0 <= outline <= 1):
        raise ImpossibleAsset("style_profile.outline is how thick outlines are, from 0 to 1")
    if style.get("proportions") not in (None, *_PROPORTIONS):
        raise ImpossibleAsset(f"style_profile.proportions is {' or '.join(_PROPORTIONS)}")


def _is_colour(text: Any) -> bool:
    return (
        isinstance(text, str)
        and len(text) == 7
        and text[0] == "#"
        and all(c in "0123456789abcdefABCDEF" for c in text[1:])
    )
