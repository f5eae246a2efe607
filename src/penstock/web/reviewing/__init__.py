"""Reviews at the service: items, notes, decisions, what viewers draw, and links for guests."""
