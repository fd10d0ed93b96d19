"""Tools that fetch web pages and search the web."""
