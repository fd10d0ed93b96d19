"""Tools that search for files and in their contents."""
