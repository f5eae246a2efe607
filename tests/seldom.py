"""Tests left to `make test-long`: each takes seconds, and what it shows is also shown by a quicker one beside it."""

from __future__ import annotations

import os
from collections import Counter

import pytest

_ALONG = "tests/evolution/proof/test_proof.py::test_a_thousand_records_come_along_while_both_write_and_somebody_dies"

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
        "tests/domains/novae/test_data_killed.py::test_killed_at_every_write_of_discovery_and_download"
        "[sqlite-every third-data1",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[True-aux.csv]",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[True-con.csv]",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[True-source.json]",
        "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything[False-derived]",
        "tests/astronomy/products/test_pictures.py::test_no_machine_changes_a_picture[settings of its own]",
        "tests/astronomy/spectra/test_truth.py::test_a_good_sample_is_valid_with_the_axis_that_its_own_bytes_tell"
        "[eso/CORALIE_s1d.fits]",
        "tests/media/test_apart.py::test_a_picture_of_everyday_is_taken[gif]",
        "tests/runtime/test_celery_logs.py::test_every_line_is_an_object[Celery's own]",
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
        "tests/web/test_siege.py::test_a_database_that_is_locked_stops_what_writes_only",
        "tests/web/test_siege.py::test_bodies_that_stall_are_not_kept",
        "tests/web/test_siege.py::test_idle_uploads_to_one_url_stop_nobody_else",
        "tests/web/test_siege.py::test_large_bodies_of_others_are_read_beside_the_event_loop",
        "tests/web/test_told.py::test_a_process_that_can_write_nothing_is_not_ready[full",
        "tests/web/test_told.py::test_a_process_that_can_write_nothing_is_not_ready[read-only",
    ),
    "what is installed from the wheel is tried always beside its source": (
        "tests/cli/test_new.py::test_the_environment_has_penstock_from_the_wheel_and_finds_all_domains",
        "tests/cli/test_new.py::test_its_tests_pass",
        "tests/cli/test_new.py::test_one_domain_can_be_served_alone",
    ),
    "each part of it is tried always by itself": (
        "tests/cli/test_ending.py::test_killed_and_started_again_it_goes_on_at_once",
        "tests/cli/test_moving.py::test_a_copy_is_refused_writes_to_and_abandoned",
        "tests/domains/musicvideo/test_samples.py::test_every_video_is_taken_or_refused_with_a_reason",
        "tests/domains/novae/test_commands.py::test_a_name_is_looked_up_judged_decided_about_and_bundled",
        "tests/studio/test_asset_chain.py::test_a_model_is_to_others_what_it_is_said_to_be[ranger]",
        "tests/transfer/test_five_systems.py::",
        "tests/attacks/test_attacks.py::test_it_stays_alive_and_useful[many_speakers]",
        "tests/attacks/test_attacks.py::test_it_stays_alive_and_useful[many_streams]",
        "tests/attacks/test_attacks.py::test_it_stays_alive_and_useful[texts_that_grow]",
        "tests/web/test_schemathesis.py::test_histories_have_no_undescribed_answer",
    ),
    "tried always on another engine": (
        "tests/faults/test_killed.py::test_a_crew_that_is_killed_a_few_times_finishes_its_work[sqlite]",
        "tests/files/test_held_folders.py::test_what_lies_in_a_held_folder_is_no_orphan_and_what_lies_beside_it_is"
        "[seaweedfs]",
        "tests/domains/musicvideo/test_story.py::test_a_sentence_becomes_a_film[postgres]",
        "tests/domains/novae/test_story.py::test_a_name_becomes_spectra_a_light_curve_and_a_bundle[dynoxide]",
        "tests/domains/videos/test_view_crowd.py::test_two_thousand_views_from_eight_processes_are_two_thousand[postgres]",
        "tests/domains/videos/test_view_crowd.py::test_two_thousand_views_from_eight_processes_are_two_thousand[sqlite]",
        "tests/kernel/test_audit_attacks.py::test_every_attack_is_found_and_named[dynoxide",
        "tests/runtime/test_growth.py::test_a_day_of_traffic_ends_within_every_bound[postgres]",
        "tests/transfer/test_live_copy.py::test_a_copy_that_is_killed_at_any_step_goes_on[postgres]",
        "tests/transfer/test_live_copy.py::test_a_copy_that_is_killed_in_the_stop_opens_the_store_until_it_stops_it_again"
        "[postgres]",
        "tests/transfer/test_live_copy.py::test_a_difference_is_told_and_writers_go_on_where_they_were[postgres]",
        "tests/transfer/test_live_copy.py::test_a_feed_goes_on_in_the_other_store_and_misses_nothing[postgres]",
        "tests/transfer/test_live_copy.py::test_a_store_moves_while_it_is_written_to[postgres]",
        "tests/domains/assetcreator/test_isolation.py::test_the_key_of_a_project_reaches_nothing_of_another[dynoxide]",
        "tests/domains/assetcreator/test_isolation.py::test_the_key_of_a_project_reaches_nothing_of_another[postgres]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_a_merge[dynoxide]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_a_merge[postgres]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_an_initialization[dynoxide]",
        "tests/domains/novae/test_killed.py::test_killed_at_every_write_of_an_initialization[postgres]",
        "tests/domains/novae/test_story.py::test_a_name_becomes_spectra_a_light_curve_and_a_bundle[postgres]",
        "tests/domains/videos/test_browser.py::test_a_film_plays_at_every_level_and_every_picture_is_where_it_was[s3]",
        "tests/engines/test_contention.py::test_eight_processes_write_the_same_records_and_none_is_in_the_way_of_another"
        "[dynamodb-local]",
        "tests/engines/test_engine_suite.py::TestEveryEngine::test_many_records_of_many_bytes_come_back[dynamodb-local]",
        f"{_ALONG}[dynamodb-local-a field",
        f"{_ALONG}[dynamodb-local-a new field",
        f"{_ALONG}[dynamodb-local-a new index",
        f"{_ALONG}[dynamodb-local-an index of others",
        f"{_ALONG}[dynamodb-local-another key",
        f"{_ALONG}[dynamodb-local-another name",
        f"{_ALONG}[dynamodb-local-another table",
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

_FIELDS = "tests/evolution/test_field_migration.py"
A_FEW: dict[str, int] = {
    "tests/astronomy/spectra/test_mutations.py::test_a_changed_file_is_valid_only_with_the_axis_of_its_own_cards": 4,
    "tests/astronomy/spectra/test_truth.py::test_a_good_sample_is_valid_with_the_axis_that_its_own_bytes_tell": 4,
    "tests/bench/test_bench.py::test_every_topic_measures_penstock": 3,
    "tests/cli/test_audit.py::test_a_forged_name_neither_stops_verifying_nor_steers_the_terminal": 3,
    "tests/cli/test_audit.py::test_an_age_that_is_none_is_refused": 3,
    "tests/deploy/test_deploy.py::test_every_command_runs_as_it_is_written": 3,
    "tests/domains/musicvideo/test_upload_types.py::test_a_film_or_sound_of_any_usual_kind_is_taken": 3,
    "tests/domains/musicvideo/test_upload_types.py::test_a_small_sample_has_one_verdict": 4,
    "tests/domains/novae/test_commands.py::test_what_cannot_be_meant_is_said_in_a_sentence": 3,
    "tests/domains/novae/test_odd_files.py::test_a_file_may_be_called_anything": 3,
    "tests/house/test_expressions.py::test_an_expression_that_is_slow_would_be_found": 3,
    "tests/kernel/test_merged_page.py::test_all_pages_are_all_records_once_and_in_order": 5,
    "tests/media/speech/test_texts.py::test_what_a_text_becomes_is_told_from_its_characters": 4,
    "tests/media/test_content_type.py::test_no_piece_can_be_repeated_until_the_sniffer_stands_still": 3,
    "tests/studio/modelling/test_animator.py::test_every_clip_ends_as_it_begins_and_never_jumps": 3,
    "tests/studio/modelling/test_retopologist.py::test_a_mesh_is_within_its_budget_and_still_closed": 3,
    "tests/studio/test_artist.py::test_four_pictures_show_one_figure_from_four_sides": 4,
    "tests/studio/test_filmer.py::test_a_picture_that_was_given_is_the_character": 3,
    "tests/studio/test_filmer.py::test_every_place_can_be_filmed_at_any_hour_and_size": 5,
    "tests/studio/test_filmer.py::test_no_move_of_the_camera_shows_where_the_world_ends": 3,
    "tests/studio/test_flat_exporter.py::test_whatever_it_is_it_moves_within_its_cell": 4,
    "tests/studio/test_lip_sync.py::test_a_film_from_elsewhere_is_sung_in": 4,
    "tests/studio/test_lip_sync.py::test_words_that_are_not_there_are_not_sung": 4,
    "tests/studio/test_prompts_obeyed.py::test_every_creature_has_a_mouth_where_lips_find_it": 7,
    "tests/studio/test_prompts_obeyed.py::test_the_writer_asks_for_nothing_that_cannot_be_drawn": 5,
    "tests/studio/test_prompts_obeyed.py::test_what_is_held_is_in_a_hand_that_closes_around_it": 7,
    "tests/studio/test_prompts_obeyed.py::test_who_and_where_are_as_the_prompt_says_and_nothing_is_left_out": 4,
    "tests/transfer/test_backup.py::test_a_damaged_backup_restores_nothing_and_says_what_is_damaged": 2,
    "tests/transfer/test_export.py::TestDamage::test_a_record_that_does_not_fit_its_declaration_is_named": 3,
    "tests/web/test_paging.py::test_all_pages_are_all_records_whatever_their_sizes": 3,
    f"{_FIELDS}::test_both_write_all_the_while_and_everything_is_read_as_it_was_written": 4,
    f"{_FIELDS}::test_killed_again_and_again_it_is_gone_on_with_and_comes_to_its_end": 4,
    "tests/evolution/test_changed_index.py::test_both_write_all_the_while_and_no_answer_is_wrong": 4,
    "tests/evolution/test_moved_records.py::test_both_write_all_the_while_and_every_answer_is_right": 4,
}
"Those with many variants that take seconds together: one of so many of them is tried always, and all on long runs."


def leave_to_long_runs(items: list[pytest.Item]) -> None:
    """Mark those that there are."""
    beginnings = tuple(beginning for group in SELDOM.values() for beginning in group)
    turns: Counter[str] = Counter()
    for item in items:
        if item.nodeid.startswith(beginnings) or _is_tried_elsewhere(item) or not _has_its_turn(item, turns):
            item.add_marker(pytest.mark.long)


def _has_its_turn(item: pytest.Item, turns: Counter[str]) -> bool:
    name = item.nodeid.partition("[")[0]
    if name not in A_FEW or item.get_closest_marker("long") is not None:
        return True
    turns[name] += 1
    return turns[name] % A_FEW[name] == 1


_BUILT_ON_THE_KERNEL = ("tests/domains/", "tests/review/", "tests/web/")


def _is_tried_elsewhere(item: pytest.Item) -> bool:
    """What is tried on DynamoDB Local is tried always on dynoxide, which speaks the same protocol; a mark may name it.

    What is done `anywhere` by what is built on the kernel is tried always on SQLite, whose engine is PostgreSQL's too,
    and on another engine; on PostgreSQL itself only what is marked is, and all that the kernel does. Whoever names
    engines has all of it.
    """
    place = getattr(item, "callspec", None)
    if os.environ.get("PENSTOCK_TEST_ENGINES") or place is None:
        return False
    everywhere = item.get_closest_marker("every_engine")
    if any(isinstance(value, str) and value == "dynamodb-local" for value in place.params.values()):
        return everywhere is None or "dynamodb-local" not in everywhere.args
    on_postgres = item.nodeid.startswith(_BUILT_ON_THE_KERNEL) and place.params.get("anywhere") == "postgres"
    return on_postgres and everywhere is None
