"""Who may do what is tried through the service."""

from tests.web.conftest import *  # noqa: F403
