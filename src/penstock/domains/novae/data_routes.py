"""The API under /api/nc for datasets, files, the quarantine desk and bundles: parse, call one action, render."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Query, Request

from penstock.auth.access import again, needs
from penstock.auth.caller import caller_of
from penstock.domains.novae import bundles, contributions, dropped_objects, product_discovery, quarantine
from penstock.domains.novae.cross_references import cross_references
from penstock.domains.novae.data_bodies import AnnounceFile, ClearBody, DroppedBody, RejectBody
from penstock.domains.novae.data_records import StrayObject
from penstock.domains.novae.data_views import (
    BundleView,
    ContributionView,
    CrossReferenceList,
    DatasetPage,
    DatasetView,
    EventReceipt,
    EvidenceView,
    ReplayView,
    StrayPage,
    WaitingDatasetPage,
    bundle_view,
    contribution_view,
    cross_reference_view,
    dataset_in_list,
    dataset_view,
    evidence_view,
    replay_view,
    stray_view,
    waiting_view,
)
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.datasets import WORK, find_dataset
from penstock.domains.novae.nova_bodies import RunBody
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_views import NovaRunView
from penstock.domains.novae.routes import Cursor, Limit, Who, _run_again
from penstock.domains.novae.runs import Origin, begin, followed
from penstock.domains.novae.states import DatasetType
from penstock.domains.novae.store_events import read_events
from penstock.schema.role import Role


def add_data_routes(router: APIRouter, catalogue: NovaCatalogue) -> None:
    """Add them to the router of the domain."""
    for add in (_add_datasets, _add_contributions, _add_events, _add_desk, _add_bundles):
        add(router, catalogue)


def _add_datasets(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.post("/novae/{nova_id}/discover", status_code=202)
    @again(_run_again)
    def discover(who: Who, nova_id: UUID, body: RunBody | None = None) -> NovaRunView:
        """Ask every provider what it has of a nova; each product is downloaded in a run of its own."""
        here, origin = catalogue.used_by(who), Origin(body.correlation_id if body else None)
        wanted = product_discovery.Discovery(nova_id=nova_id)
        return NovaRunView.of(begin(here, product_discovery.DISCOVER, wanted, by=who.name, origin=origin).run)

    @router.get("/novae/{nova_id}/datasets")
    def datasets(
        who: Who,
        nova_id: UUID,
        dataset_type: DatasetType | None = None,
        provider: Annotated[str | None, Query(max_length=100, description="Together with the type.")] = None,
        waiting: Annotated[bool, Query(description="Only those that wait for work; tell the type.")] = False,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> DatasetPage:
        """The datasets of a nova, or of one type, or those one provider has."""
        here = followed(who.store, nova_id).nova_id
        if waiting:
            kind = dataset_type or DatasetType.SPECTRA
            query = Dataset.by_eligibility(nova_id=here, eligibility=WORK[kind])
        else:
            query = Dataset.of_nova(nova_id=here, dataset_type=dataset_type, provider=provider)
        page = who.store.page(query, limit=limit, cursor=cursor)
        return DatasetPage(items=[dataset_in_list(each) for each in page.records], next=page.cursor)

    @router.get("/novae/{nova_id}/datasets/{dataset_id}")
    def dataset(who: Who, nova_id: UUID, dataset_id: UUID) -> DatasetView:
        """A dataset, with URLs of its files."""
        here = catalogue.used_by(who)
        return dataset_view(here, find_dataset(who.store, followed(who.store, nova_id).nova_id, dataset_id))

    @router.post("/novae/{nova_id}/datasets/{dataset_id}/work", status_code=202)
    @again(_run_again)
    def work_again(who: Who, nova_id: UUID, dataset_id: UUID) -> NovaRunView:
        """Have a dataset downloaded or ingested that waits for it; one that is done is skipped."""
        here = catalogue.used_by(who)
        return NovaRunView.of(contributions.work_again(here, nova_id, dataset_id, by=who.name))

    @router.get("/novae/{nova_id}/datasets/{dataset_id}/evidence")
    def evidence(who: Who, nova_id: UUID, dataset_id: UUID) -> EvidenceView:
        """What a dataset proved to be, now and before, with the evidence and all attempts."""
        here = catalogue.used_by(who)
        return evidence_view(here, quarantine.evidence(here, nova_id, dataset_id))

    @router.get("/novae/{nova_id}/datasets/{dataset_id}/replay")
    def replay(who: Who, nova_id: UUID, dataset_id: UUID) -> ReplayView:
        """Choose the profile again from the stored inputs, and compare."""
        return replay_view(quarantine.replay(catalogue.used_by(who), nova_id, dataset_id))

    @router.get("/novae/{nova_id}/cross-references")
    def papers_and_data(who: Who, nova_id: UUID) -> CrossReferenceList:
        """Which papers and which datasets of a nova belong together."""
        found = cross_references(who.store, followed(who.store, nova_id).nova_id)
        return CrossReferenceList(items=[cross_reference_view(each) for each in found])


def _add_contributions(router: APIRouter, catalogue: NovaCatalogue) -> None:
    def told_again(request: Request, told: dict[str, Any]) -> ContributionView:
        here = catalogue.used_by(caller_of(request))
        return contribution_view(contributions.contribution_of(here, UUID(told["contribution_id"])))

    @router.post("/novae/{nova_id}/files", status_code=201)
    @again(told_again)
    def announce(who: Who, nova_id: UUID, body: AnnounceFile) -> ContributionView:
        """Announce a spectrum or a table of photometry: the answer says where to send it."""
        here = catalogue.used_by(who)
        return contribution_view(contributions.announce(here, nova_id, body.wanted(), by=who.name))

    @router.get("/files/{contribution_id}")
    def contribution(who: Who, contribution_id: UUID) -> ContributionView:
        """What becomes of a file; and where to send what is missing of it, for whoever has announced it."""
        found = contributions.contribution_of(catalogue.used_by(who), contribution_id)
        return contribution_view(found if who.may_send(found.contribution.sent_by) else found.without_place())

    @router.post("/files/{contribution_id}/complete", status_code=202)
    @again(told_again)
    def complete(who: Who, contribution_id: UUID) -> ContributionView:
        """Say that a file is there; it is verified, becomes a dataset, and that is worked on."""
        here = catalogue.used_by(who)
        taken = contributions.complete(here, contribution_id, by=who.name)
        return contribution_view(contributions.ReservedFile(taken, None))


def _add_events(router: APIRouter, catalogue: NovaCatalogue) -> None:
    def receipt_again(request: Request, told: dict[str, Any]) -> EventReceipt:
        return EventReceipt(**told)

    @router.post("/events/objects", status_code=202)
    @again(receipt_again)
    def receive(who: Who, body: Annotated[dict[str, Any], Body()]) -> EventReceipt:
        """Take the event of an object store: as S3 sends it, also within SNS and SQS, or as EventBridge does."""
        return EventReceipt(**dropped_objects.receive(catalogue.used_by(who), read_events(body), by=who.name))

    @router.post("/events/dropped", status_code=202)
    @again(lambda request, told: EventReceipt(received=1, repeated=0, ignored=0))
    def dropped(who: Who, body: DroppedBody) -> EventReceipt:
        """Say that a file lies in the bucket."""
        dropped_objects.drop(catalogue.used_by(who), body.key, bucket=body.bucket, by=who.name)
        return EventReceipt(received=1, repeated=0, ignored=0)

    @router.get("/events/strays")
    def strays(who: Who, limit: Limit = 50, cursor: Cursor = None) -> StrayPage:
        """Objects that are nobody's, with the reason."""
        page = who.store.page(StrayObject.told(), limit=limit, cursor=cursor)
        return StrayPage(items=[stray_view(each) for each in page.records], next=page.cursor)


def _add_desk(router: APIRouter, catalogue: NovaCatalogue) -> None:
    @router.get("/quarantine")
    def waits(who: Who, limit: Limit = 50, cursor: Cursor = None) -> WaitingDatasetPage:
        """The datasets that wait for a person, the longest first, whichever nova they are of."""
        found, following = quarantine.waiting(catalogue.used_by(who), limit=limit, cursor=cursor)
        return WaitingDatasetPage(items=[waiting_view(each) for each in found], next=following)

    @router.post("/novae/{nova_id}/datasets/{dataset_id}/clear", status_code=202)
    @needs(Role.EDITOR)
    @again(_run_again)
    def clear(who: Who, nova_id: UUID, dataset_id: UUID, body: ClearBody | None = None) -> NovaRunView:
        """Have a dataset judged again, with what you say of it: one that waits, was refused, or is read wrongly."""
        told = (body or ClearBody()).model_dump()
        return NovaRunView.of(quarantine.clear(catalogue.used_by(who), nova_id, dataset_id, **told, by=who.name).run)

    def dataset_again(request: Request, told: dict[str, Any]) -> DatasetView:
        path = request.path_params
        here = catalogue.used_by(caller_of(request))
        nova_id = followed(here.store, UUID(str(path["nova_id"]))).nova_id
        return dataset_view(here, find_dataset(here.store, nova_id, UUID(told["dataset_id"])))

    @router.post("/novae/{nova_id}/datasets/{dataset_id}/reject")
    @needs(Role.EDITOR)
    @again(dataset_again)
    def reject(who: Who, nova_id: UUID, dataset_id: UUID, body: RejectBody) -> DatasetView:
        """Say that a dataset is of no use, and why; one that is valid is withdrawn by that."""
        here = catalogue.used_by(who)
        return dataset_view(here, quarantine.reject(here, nova_id, dataset_id, reason=body.reason, by=who.name))


def _add_bundles(router: APIRouter, catalogue: NovaCatalogue) -> None:
    def bundle_again(request: Request, told: dict[str, Any]) -> BundleView:
        here = catalogue.used_by(caller_of(request))
        return bundle_view(here, bundles.bundle_of(here, UUID(told["nova_id"])))

    @router.get("/novae/{nova_id}/bundle")
    def bundle(who: Who, nova_id: UUID) -> BundleView:
        """The bundle of a nova, with signed URLs while it has all there is."""
        here = catalogue.used_by(who)
        return bundle_view(here, bundles.bundle_of(here, nova_id))

    @router.post("/novae/{nova_id}/bundle", status_code=202)
    @again(bundle_again)
    def ask_bundle(who: Who, nova_id: UUID) -> BundleView:
        """Have the bundle of a nova made, if something has changed since the last one."""
        here = catalogue.used_by(who)
        return bundle_view(here, bundles.ask_bundle(here, nova_id, by=who.name))
