"""Trusted project configs: file paths with digests of the content that the user approved.

A project's config comes with a cloned repository and can allow commands. A changed file needs approval
again.
"""

from pathlib import Path
from typing import Any

from kimi_tui.base.atomic_file import write_private_atomic


class ProjectTrust:
    """Trusted project configs, stored in `trusted.json` in the data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "trusted.json"

    def is_trusted(self, path: Path, text: str) -> bool:
        """Return whether the user trusts this content at this path."""
        return self._read().get(str(path)) == _digest(text)

    def trust(self, path: Path, text: str) -> None:
        """Store that the user trusts this content. Raises OSError."""
        import json

        write_private_atomic(self._file, json.dumps({**self._read(), str(path): _digest(text)}, indent=1))

    def _read(self) -> dict[str, Any]:
        import json  # on demand, like hashlib, to keep startup fast

        try:
            data = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
