"""Who calls, and what they may do, how often."""
