"""The simulated object store keeps every promise that needs no URL."""

from __future__ import annotations

import pytest

from penstock.ports.clock import SystemClock
from penstock.testing.object_promises.copies import Copies
from penstock.testing.object_promises.keys import KeyPromises
from penstock.testing.object_promises.listings import Listings
from penstock.testing.object_promises.parts import UploadsInParts
from penstock.testing.object_promises.puts import Puts
from penstock.testing.object_promises.races import Races
from penstock.testing.object_promises.reads import ReadPromises
from penstock.testing.simulation.objects import SimulatedObjects

BY_URL = {
    "test_parts_in_any_order_become_one_object",
    "test_a_part_sent_again_replaces_the_former",
    "test_a_dropped_upload_is_gone",
}
"Those that send something to a URL."


class TestSimulatedObjects(Puts, ReadPromises, Listings, Copies, KeyPromises, Races, UploadsInParts):
    @pytest.fixture
    def known_as(self) -> str:
        return "simulated"

    @pytest.fixture
    def objects(self, request: pytest.FixtureRequest) -> SimulatedObjects:
        if request.function.__name__ in BY_URL:
            pytest.skip("nobody listens at its URLs")
        return SimulatedObjects(SystemClock())
