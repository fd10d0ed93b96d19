"""Review screen: the changed files, their hunks, and comments on lines."""
