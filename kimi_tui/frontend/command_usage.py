"""How often and how recently the user ran each command, kept across sessions (`docs/formats.md`)."""

import json
from pathlib import Path
from threading import Lock
from typing import Any

from kimi_tui.base.atomic_file import write_private_atomic

_HALF_LIFE_S = 14 * 86_400.0
"""Time after which a use counts half as much."""
_MAX_COMMANDS = 200
_MAX_BYTES = 100_000


class CommandUsage:
    """Counts the uses of commands. Recent uses count more than old uses."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "command-usage.json"
        self._uses: dict[str, tuple[float, float]] = {}
        """Weighted number of uses by command, and the time of the last use in seconds since the epoch."""
        self._lock = Lock()

    def load(self) -> None:
        """Read the file. A missing or damaged file means that no command was used."""
        with self._lock:
            self._uses = {**self._read(), **self._uses}

    def score(self, name: str, now: float) -> float:
        """Return the number of uses of a command, each weighted by its age at `now`."""
        count, time = self._uses.get(name, (0.0, now))
        return float(count * 0.5 ** (max(0.0, now - time) / _HALF_LIFE_S))

    def record(self, name: str, now: float) -> None:
        """Count a use at `now` and save the counts. Blocks.

        Raises OSError if saving fails. The use is still counted in memory.
        """
        with self._lock:
            # Another process may have recorded uses since this one read the file.
            self._uses = {**self._uses, **self._read()}
            self._uses[name] = (self.score(name, now) + 1.0, now)
            kept = sorted(self._uses, key=lambda it: -self.score(it, now))[:_MAX_COMMANDS]
            self._uses = {it: self._uses[it] for it in kept}
            write_private_atomic(self._file, json.dumps(self._uses))

    def _read(self) -> dict[str, tuple[float, float]]:
        try:
            with self._file.open("rb") as file:
                content: Any = json.loads(file.read(_MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(content, dict):
            return {}
        return {name: (float(entry[0]), float(entry[1])) for name, entry in content.items() if _is_use(entry)}


def _is_use(entry: Any) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == 2
        and all(isinstance(it, int | float) and 0 <= it < 1e12 for it in entry)
    )
