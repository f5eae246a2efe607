"""What a declaration compiles to: shapes, kinds of values, templates of keys, patterns of files."""
