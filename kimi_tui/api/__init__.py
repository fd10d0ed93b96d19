"""The Python API: one session of the agent inside another program (`docs/python-api.md`)."""
