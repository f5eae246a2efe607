"""Where declarations run."""
