"""Manifest ids: references from checkpoints to file states (`history/snapshots/manifest.py`)."""

import re

_MANIFEST_ID = re.compile(r"[\w.-]+:\d+")


def is_manifest(text: str | None) -> bool:
    """Return whether a checkpoint's `files` is a manifest id, and not the reason for a missing manifest."""
    return text is not None and _MANIFEST_ID.fullmatch(text) is not None
