"""Python API: runs one session of the agent inside another program (`docs/python-api.md`)."""
