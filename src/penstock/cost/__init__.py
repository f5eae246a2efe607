"""What reads and writes take, and what that costs."""
