"""A running system: its settings, its parts put together, its service."""
