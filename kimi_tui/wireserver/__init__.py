"""The Wire over stdio as JSON-RPC."""
