"""Archives are tried on every object store."""

from tests.objects.conftest import *  # noqa: F403
