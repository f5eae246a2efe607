"""The API under /api/nc: parse, call one action, render."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from penstock.astronomy.sky_position import FURTHEST, OTHER, Position
from penstock.auth.access import again, needs
from penstock.auth.caller import Caller, caller_of
from penstock.domains.novae import (
    corrections,
    decisions,
    ingesting,
    initializing,
    merging,
    nova_names,
    positions,
    reconciling,
    refreshing,
)
from penstock.domains.novae.corrections import SaidOfNova, position_said
from penstock.domains.novae.model import Alias, Doubt, DoubtfulItem, JobRun, NameRun, Nova, NovaEntry, Reference
from penstock.domains.novae.nova_bodies import (
    AliasBody,
    CorrectionBody,
    DecisionBody,
    DeprecateBody,
    InitializeBody,
    MergeBody,
    NewNovaBody,
    RestoreBody,
    RunBody,
)
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_views import (
    DoubtfulItemPage,
    DoubtfulItemView,
    DoubtPage,
    DoubtView,
    NameList,
    Neighbourhood,
    NeighbourView,
    NovaAttemptPage,
    NovaAttemptView,
    NovaInList,
    NovaMeaning,
    NovaPage,
    NovaRunPage,
    NovaRunView,
    NovaView,
    PaperPage,
    PaperView,
)
from penstock.domains.novae.runs import attempts_of, find_run, followed
from penstock.domains.novae.states import NovaStatus
from penstock.errors import InvalidValue
from penstock.files.signed_view import shared_fields
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=4096)]
Name = Annotated[
    str, Query(min_length=1, max_length=nova_names.LONGEST_NAME, description="What a nova is called, or may be.")
]
Again = Callable[[Request, dict[str, Any]], Any]


def who_asks(request: Request) -> Caller:
    """Whoever the service has let in."""
    return caller_of(request)


Who = Annotated[Caller, Depends(who_asks)]


def routes(context: DomainContext) -> APIRouter:
    """The router of a running system."""
    from penstock.domains.novae.data_routes import add_data_routes  # which uses what is declared here

    router = APIRouter(prefix="/api/nc", tags=["novae"])
    catalogue = NovaCatalogue.within(context)
    for add in (
        _add_novae,
        _add_corrections,
        _add_names,
        _add_workflows,
        _add_runs,
        _add_papers,
        _add_doubts,
        _add_states,
    ):
        add(router, catalogue)
    add_data_routes(router, catalogue)
    return router


def _nova_again(request: Request, told: dict[str, Any]) -> NovaView:
    return NovaView.of(followed(caller_of(request).store, UUID(told["nova_id"])))


def _run_again(request: Request, told: dict[str, Any]) -> NovaRunView:
    return NovaRunView.of(find_run(caller_of(request).store, UUID(told["job_run_id"])))


def _add_novae(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.post("/novae", status_code=202)
    @again(_run_again)
    def initialize(who: Who, body: InitializeBody) -> NovaRunView:
        """Have the nova of a name found or made; the run tells which it is. Asked again, it is the same run."""
        here = catalogue.used_by(who)
        said = body.correlation_id
        return NovaRunView.of(initializing.initialize(here, body.candidate_name, by=who.name, correlation_id=said).run)

    @router.get("/novae")
    def list_novae(
        who: Who, status: NovaStatus = NovaStatus.ACTIVE, limit: Limit = 50, cursor: Cursor = None
    ) -> NovaPage:
        """The novae in a state, newest first."""
        page = who.store.page(NovaEntry.by_status(status=status), limit=limit, cursor=cursor)
        return NovaPage(items=[NovaInList(**shared_fields(NovaInList, e)) for e in page.records], next=page.cursor)

    @router.get("/novae/by-name")
    def by_name(who: Who, name: Name, limit: Limit = 50, cursor: Cursor = None) -> NovaMeaning:
        """The novae that a name may mean: none, one, or several."""
        normalized = nova_names.checked_name(name)
        page = who.store.page(Alias.by_name(normalized_name=normalized), limit=limit, cursor=cursor)
        found = {nova.nova_id: nova for nova in (followed(who.store, alias.nova_id) for alias in page.records)}
        items = [NovaView.of(nova) for nova in found.values()]
        return NovaMeaning(normalized_name=normalized, items=items, next=page.cursor)

    @router.get("/novae/by-position")
    def by_position(
        who: Who,
        ra: Annotated[float, Query(ge=0, lt=360, description="Right ascension, ICRS, in degrees.")],
        dec: Annotated[float, Query(ge=-90, le=90, description="Declination, ICRS, in degrees.")],
        arcsec: Annotated[float, Query(gt=0, le=FURTHEST)] = OTHER,
    ) -> Neighbourhood:
        """The novae within some arcseconds of a place, nearest first."""
        near = positions.around(who.store, Position(ra, dec), arcsec=arcsec).neighbours
        items = [
            NeighbourView(arcsec=each.arcsec, nova=NovaView.of(followed(who.store, each.nova_id))) for each in near
        ]
        return Neighbourhood(items=items)

    @router.get("/novae/{nova_id}")
    def nova(who: Who, nova_id: UUID) -> NovaView:
        """A nova; of one that was merged, the one that it was merged into."""
        return NovaView.of(followed(who.store, nova_id))


def _add_corrections(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.post("/novae/by-hand", status_code=201)
    @needs(Role.EDITOR)
    @again(_nova_again)
    def create(who: Who, body: NewNovaBody) -> NovaView:
        """Make a nova by hand: with its name, and where and when it was found; nobody else is asked about it."""
        said = SaidOfNova(
            name=body.name, position=position_said(body.ra_deg, body.dec_deg), discovered=body.discovery_date
        )
        told: dict[str, Any] = {"aliases": tuple(body.aliases), "why": body.why}
        return NovaView.of(corrections.create_nova(catalogue.used_by(who), said, by=who.name, **told))

    @router.patch("/novae/{nova_id}")
    @needs(Role.EDITOR)
    @again(_nova_again)
    def correct(who: Who, nova_id: UUID, body: CorrectionBody) -> NovaView:
        """Correct the preferred name, the position or the discovery date of a nova, under the version that was read."""
        position = position_said(body.ra_deg, body.dec_deg)
        said = SaidOfNova(name=body.preferred_name, position=position, discovered=body.discovery_date)
        told: dict[str, Any] = {"version": body.version_counter, "why": body.why}
        return NovaView.of(corrections.correct(catalogue.used_by(who), nova_id, said, by=who.name, **told))


def _add_names(router: APIRouter, catalogue: NovaCatalogue) -> None:
    def names_again(request: Request, told: dict[str, Any]) -> NameList:
        return list_names(caller_of(request), UUID(told["nova_id"]))

    @router.get("/novae/{nova_id}/aliases")
    def list_names(who: Who, nova_id: UUID) -> NameList:
        """What a nova goes by."""
        return NameList.of(followed(who.store, nova_id))

    @router.post("/novae/{nova_id}/aliases", status_code=201)
    @again(names_again)
    def add_alias(who: Who, nova_id: UUID, body: AliasBody) -> NameList:
        """Have a nova go by another name; refused if it is another nova's, unless it is said to be shared."""
        here = catalogue.used_by(who)
        return NameList.of(
            nova_names.add_alias(here, nova_id, body.name, shared=body.shared, by=who.name, why=body.why)
        )

    @router.delete("/novae/{nova_id}/aliases")
    def remove_alias(who: Who, nova_id: UUID, name: Name) -> NameList:
        """Have a name mean a nova no more."""
        return NameList.of(nova_names.remove_alias(catalogue.used_by(who), nova_id, name, by=who.name))


def _add_workflows(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.post("/novae/{nova_id}/ingest", status_code=202)
    @again(_run_again)
    def ingest(who: Who, nova_id: UUID, body: RunBody | None = None) -> NovaRunView:
        """Look for a nova's papers and spectra, each in a run of its own."""
        said = body.correlation_id if body else None
        return NovaRunView.of(ingesting.ingest(catalogue.used_by(who), nova_id, by=who.name, correlation_id=said).run)

    @router.post("/novae/{nova_id}/references/refresh", status_code=202)
    @again(_run_again)
    def refresh(who: Who, nova_id: UUID, body: RunBody | None = None) -> NovaRunView:
        """Look for the papers about a nova."""
        said = body.correlation_id if body else None
        return NovaRunView.of(refreshing.refresh(catalogue.used_by(who), nova_id, by=who.name, correlation_id=said).run)

    @router.post("/novae/{nova_id}/names/check", status_code=202)
    @again(_run_again)
    def check_names(who: Who, nova_id: UUID, body: RunBody | None = None) -> NovaRunView:
        """Compare a nova's names with what the authorities call it."""
        here, said = catalogue.used_by(who), body.correlation_id if body else None
        return NovaRunView.of(reconciling.check_names(here, nova_id, by=who.name, correlation_id=said).run)


def _add_runs(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.get("/novae/{nova_id}/runs")
    def runs_of_nova(
        who: Who,
        nova_id: UUID,
        own: Annotated[bool, Query(description="Of a nova that was merged: those from before, which stay.")] = False,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> NovaRunPage:
        """The runs for a nova, in the order they began."""
        at = who.store.get(Nova.at(nova_id=nova_id)) if own else followed(who.store, nova_id)
        page = who.store.page(JobRun.of_nova(nova_id=at.nova_id), limit=limit, cursor=cursor)
        return NovaRunPage(items=[NovaRunView.of(run) for run in page.records], next=page.cursor)

    @router.get("/runs")
    def runs_of_name(who: Who, name: Name | None = None, limit: Limit = 50, cursor: Cursor = None) -> NovaRunPage:
        """The runs that began with a name, in the order they began."""
        if name is None:
            raise InvalidValue("say which name of a nova the runs began with, as ?name=V1324 Sco")
        query = NameRun.of_name(normalized_name=nova_names.checked_name(name))
        page = who.store.page(query, limit=limit, cursor=cursor)
        return NovaRunPage(items=[NovaRunView.of(run) for run in page.records], next=page.cursor)

    @router.get("/runs/{job_run_id}")
    def run(who: Who, job_run_id: UUID) -> NovaRunView:
        """A run, by its id alone."""
        return NovaRunView.of(find_run(who.store, job_run_id))

    @router.get("/runs/{job_run_id}/attempts")
    def attempts(who: Who, job_run_id: UUID, limit: Limit = 50, cursor: Cursor = None) -> NovaAttemptPage:
        """What a run tried, task by task."""
        page = who.store.page(attempts_of(find_run(who.store, job_run_id)), limit=limit, cursor=cursor)
        return NovaAttemptPage(items=[NovaAttemptView.of(each) for each in page.records], next=page.cursor)


def _add_papers(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.get("/novae/{nova_id}/references")
    def references(who: Who, nova_id: UUID, limit: Limit = 50, cursor: Cursor = None) -> PaperPage:
        """The papers about a nova."""
        query = Reference.of_nova(nova_id=followed(who.store, nova_id).nova_id)
        page = who.store.page(query, limit=limit, cursor=cursor)
        return PaperPage(items=[PaperView.of(each) for each in page.records], next=page.cursor)

    @router.get("/novae/{nova_id}/doubtful-items")
    def doubtful(who: Who, nova_id: UUID, limit: Limit = 50, cursor: Cursor = None) -> DoubtfulItemPage:
        """What was found for a nova and could not be read, as it came, with the reason."""
        query = DoubtfulItem.of_nova(nova_id=followed(who.store, nova_id).nova_id)
        page = who.store.page(query, limit=limit, cursor=cursor)
        items = [DoubtfulItemView(**shared_fields(DoubtfulItemView, each)) for each in page.records]
        return DoubtfulItemPage(items=items, next=page.cursor)


def _add_doubts(router: APIRouter, catalogue: NovaCatalogue) -> None:
    def doubt_again(request: Request, told: dict[str, Any]) -> DoubtView:
        return doubt(caller_of(request), UUID(told["job_run_id"]))

    @router.get("/doubts")
    def doubts(who: Who, limit: Limit = 50, cursor: Cursor = None) -> DoubtPage:
        """What waits for a person, the longest first."""
        page = who.store.page(Doubt.waiting(), limit=limit, cursor=cursor)
        return DoubtPage(items=[DoubtView.of(each) for each in page.records], next=page.cursor)

    @router.get("/doubts/{job_run_id}")
    def doubt(who: Who, job_run_id: UUID) -> DoubtView:
        """What a run could not know, and what was decided about it."""
        return DoubtView.of(decisions.find_doubt(who.store, job_run_id))

    @router.post("/doubts/{job_run_id}/decision")
    @again(doubt_again)
    def decide(who: Who, job_run_id: UUID, body: DecisionBody) -> DoubtView:
        """Decide: which nova it is, a new one, or none. Another run goes on with that."""
        return DoubtView.of(decisions.decide(catalogue.used_by(who), job_run_id, body, by=who.name))


def _add_states(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.post("/novae/{nova_id}/merge", status_code=202)
    @needs(Role.EDITOR)
    @again(_run_again)
    def merge(who: Who, nova_id: UUID, body: MergeBody) -> NovaRunView:
        """Say that a nova is another; at once its id answers with the other, and all that it has moves there."""
        here = catalogue.used_by(who)
        return NovaRunView.of(merging.merge(here, nova_id, body.into, by=who.name, why=body.why).run)

    @router.post("/novae/{nova_id}/deprecate")
    @needs(Role.EDITOR)
    @again(_nova_again)
    def deprecate(who: Who, nova_id: UUID, body: DeprecateBody | None = None) -> NovaView:
        """Say that a nova is none, and why."""
        why = body.why if body else None
        return NovaView.of(merging.deprecate(catalogue.used_by(who), nova_id, by=who.name, why=why))

    @router.post("/novae/{nova_id}/restore")
    @needs(Role.EDITOR)
    @again(_nova_again)
    def restore(who: Who, nova_id: UUID, body: RestoreBody | None = None) -> NovaView:
        """Take back that a nova is none."""
        why = body.why if body else None
        return NovaView.of(merging.restore(catalogue.used_by(who), nova_id, by=who.name, why=why))
