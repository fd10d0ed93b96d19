"""Which project configs the user trusts: a file's path and the digest of the text that was looked at.

A project config comes with a cloned folder, and may allow commands; a change of it asks anew.
"""

from pathlib import Path
from typing import Any

from kimi_tui.base.private_file import replace_private_file


class Trust:
    """The trusted project configs of a share dir, kept in its `trusted.json`."""

    def __init__(self, share_dir: Path) -> None:
        self._file = share_dir / "trusted.json"

    def covers(self, path: Path, text: str) -> bool:
        """Whether the user said yes to this very text at this path."""
        return self._read().get(str(path)) == _digest(text)

    def grant(self, path: Path, text: str) -> None:
        """Remember the user's yes. Raises OSError."""
        import json

        replace_private_file(self._file, json.dumps({**self._read(), str(path): _digest(text)}, indent=1))

    def _read(self) -> dict[str, Any]:
        import json  # as hashlib, for those who have a project's config

        try:
            data = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
