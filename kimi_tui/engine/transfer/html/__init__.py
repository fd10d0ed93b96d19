"""Export of a session as one HTML page."""
