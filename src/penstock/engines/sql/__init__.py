"""PostgreSQL and SQLite, one engine: each entity is a table with typed columns."""
