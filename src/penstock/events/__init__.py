"""What has happened and what is due: the feed, the relay, schedules."""
