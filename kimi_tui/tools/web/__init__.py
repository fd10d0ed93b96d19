"""What reaches the web: fetching pages and searching."""
