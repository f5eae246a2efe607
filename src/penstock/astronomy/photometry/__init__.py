"""Light curves in tables: with a ticket that describes the columns, or recognised by what they are."""
