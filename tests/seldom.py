"""Tests left to `make test-long`: each takes seconds, and what it shows is also shown by a quicker one beside it."""

from __future__ import annotations

import os

import pytest

SELDOM: dict[str, tuple[str, ...]] = {
    "one of its variants is tried always": (
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[assetcreator]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[console_growth]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[console_live]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[jobs]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[musicvideo]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[processes]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[service]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[spectra_memory]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[speech]",
        "tests/bench/test_bench.py::test_every_topic_measures_penstock[tasks]",
        "tests/bench/test_bench.py::test_whoever_ends_the_process_finds_the_groups_before[9]",
        "tests/domains/novae/test_data_killed.py::test_killed_at_every_write_of_discovery_and_download[sqlite-data1",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[True-aux.csv]",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[True-con.csv]",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[True-source.json]",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[False-derived]",
        "tests/astronomy/products/test_pictures.py::test_no_machine_changes_a_picture[settings of its own]",
        "tests/astronomy/spectra/test_truth.py::test_a_good_sample_is_valid_with_the_axis_that_its_own_bytes_tell"
        "[eso/CORALIE_s1d.fits]",
        "tests/media/test_apart.py::test_a_picture_of_everyday_is_taken[gif]",
        "tests/media/test_apart.py::test_a_picture_of_everyday_is_taken[png]",
        "tests/studio/modelling/test_sculptor.py::test_a_thing_or_whoever_is_seen_from_the_side_looks_alike_from_behind"
        "_and_nobody_has_two_faces[character-QUADRUPED",
        "tests/studio/modelling/test_sculptor.py::test_a_thing_or_whoever_is_seen_from_the_side_looks_alike_from_behind"
        "_and_nobody_has_two_faces[prop",
        "tests/studio/test_asset_chain.py::test_a_model_is_to_others_what_it_is_said_to_be[dog]",
        "tests/studio/test_asset_chain.py::test_a_model_is_to_others_what_it_is_said_to_be[sword]",
        "tests/web/test_personal.py::test_no_route_tells_anybody_else_what_is_personal[viewer]",
        "tests/web/test_proxies.py::test_no_proxy_opens_a_door[Apache]",
        "tests/web/test_proxies.py::test_no_proxy_opens_a_door[Caddy]",
        "tests/web/test_proxies.py::test_no_proxy_opens_a_door[CloudFront]",
        "tests/web/test_proxies.py::test_no_proxy_opens_a_door[Envoy]",
        "tests/web/test_proxies.py::test_no_proxy_opens_a_door[Traefik]",
        "tests/web/test_siege.py::test_half_open_requests_take_no_more_files_than_there_are[300-asyncio]",
        "tests/web/test_siege.py::test_bodies_that_stall_are_not_kept",
        "tests/web/test_siege.py::test_idle_uploads_to_one_url_stop_nobody_else",
        "tests/web/test_siege.py::test_large_bodies_of_others_are_read_beside_the_event_loop",
        "tests/web/test_told.py::test_a_process_that_can_write_nothing_is_not_ready[full",
        "tests/web/test_told.py::test_a_process_that_can_write_nothing_is_not_ready[read-only",
    ),
    "tried always on another engine": (
        "tests/domains/assetcreator/test_isolation.py::test_the_key_of_a_project_reaches_nothing_of_another[dynoxide]",
        "tests/domains/assetcreator/test_isolation.py::test_the_key_of_a_project_reaches_nothing_of_another[postgres]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_a_merge[dynoxide]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_a_merge[postgres]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_an_initialization[postgres]",
        "tests/domains/novae/test_story.py::test_a_name_becomes_spectra_a_light_curve_and_a_bundle[postgres]",
        "tests/domains/videos/test_browser.py::test_a_film_plays_at_every_level_and_every_picture_is_where_it_was[s3]",
        "tests/engines/test_contention.py::test_eight_processes_write_the_same_records_and_none_is_in_the_way_of_another"
        "[dynamodb-local]",
        "tests/engines/test_engine_suite.py::TestEveryEngine::test_many_records_of_many_bytes_come_back[dynamodb-local]",
        "tests/kernel/test_audit_attacks.py::test_every_attack_is_found_and_named[postgres",
        "tests/runtime/test_growth.py::test_a_day_of_traffic_ends_within_every_bound[dynoxide]",
        "tests/web/operating/test_bounded.py::test_a_jobs_page_takes_the_same_of_a_long_job_as_of_a_short_one[dynoxide]",
        "tests/web/operating/test_bounded.py::test_what_an_answer_takes_does_not_grow_with_what_there_is[dynoxide]",
        "tests/work/test_crashes.py::test_jobs_end_right_though_workers_are_killed_and_the_broker_forgets[dynoxide-celery]",
        "tests/work/test_crashes.py::test_jobs_end_right_though_workers_are_killed_and_the_broker_forgets[postgres-inline]",
        "tests/work/test_crashes.py::test_jobs_end_right_though_workers_are_killed_and_the_broker_forgets[sqlite-celery]",
    ),
    "the same in the console is tried always, with less or elsewhere": (
        "tests/browser/test_work.py::test_a_seventh_tab_shows_what_needs_somebody_as_the_first_does",
        "tests/browser/test_work.py::test_ten_thousand_dead_letters_are_tried_again_by_two_clicks",
    ),
    "another domain's is tried always": (
        "tests/domains/musicvideo/test_celery.py::",
        "tests/domains/videos/test_celery.py::",
        "tests/cli/test_up.py::test_work_that_the_api_takes_in_is_done_by_workers_of_celery",
    ),
    "about what only those meet who change it": (
        "tests/cli/test_new.py::test_it_passes_the_type_checker",
        "tests/domains/assetcreator/test_showcase.py::",
        "tests/media/test_apart.py::test_small_films_of_many_pixels_take_no_more_than_one_may",
        "tests/domains/novae/test_commands.py::test_the_demonstration_leaves_plots_and_a_bundle",
        "tests/domains/novae/test_commands.py::test_a_name_that_nobody_knows_gets_an_answer_that_helps",
        "tests/kernel/test_audit.py::TestTheCommand::test_a_digest_kept_elsewhere_is_asked_for_by_project",
        "tests/kernel/test_audit.py::TestTheCommand::test_seal_seals_and_says_when_there_is_nothing_to_seal",
        "tests/kernel/test_pooling.py::TestThroughAProxy::",
        "tests/servers/test_servers.py::",
        "tests/studio/test_asset_chain.py::test_the_same_order_gives_the_same_bytes_in_another_process[sword]",
        "tests/studio/test_concept.py::test_every_subject_of_the_catalogue_is_drawn_as_one_piece_within_its_frame",
        "tests/studio/test_flat_exporter.py::test_every_place_has_its_layers_which_go_on_where_they_end_and_looks_like",
    ),
}
"Beginnings of their names, by why they may wait."


def leave_to_long_runs(items: list[pytest.Item]) -> None:
    """Mark those that there are."""
    beginnings = tuple(beginning for group in SELDOM.values() for beginning in group)
    for item in items:
        if item.nodeid.startswith(beginnings) or _is_tried_elsewhere(item):
            item.add_marker(pytest.mark.long)


def _is_tried_elsewhere(item: pytest.Item) -> bool:
    """What a domain does `anywhere` is tried always on SQLite, whose engine is PostgreSQL's too, and on another engine.

    On PostgreSQL itself only what is marked is, and all that the kernel does. Whoever names engines has all of it.
    """
    if os.environ.get("PENSTOCK_TEST_ENGINES") or not item.nodeid.startswith("tests/domains/"):
        return False
    place = getattr(item, "callspec", None)
    on_postgres = place is not None and place.params.get("anywhere") == "postgres"
    return on_postgres and item.get_closest_marker("every_engine") is None
