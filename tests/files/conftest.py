"""Files beside records are tried on every object store."""

import pytest

from penstock import Store
from tests.files.streams import DOMAIN
from tests.objects.conftest import *  # noqa: F403


@pytest.fixture
def anywhere(films: Store) -> Store:
    """A store for what does not depend on the engine."""
    films.ensure(DOMAIN)
    return films
