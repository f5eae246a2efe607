"""Pictures of every screen of the console, with what the five systems have made: `make shots`."""
