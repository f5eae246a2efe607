"""What the service shows and does for those who work with a system and those who operate it, by responsibility."""
