"""Runs kimi-tui with traced memory allocations: `python -m benchmarks.trace_memory OPTIONS`.

On SIGUSR1, a `tracemalloc` snapshot is written to the next number in the directory KIMI_TUI_SNAPSHOTS.
"""

import gc
import os
import signal
import tracemalloc
from itertools import count
from pathlib import Path


def main() -> None:
    """Run the program. The signal is handled from the start."""
    folder, numbers = Path(os.environ.pop("KIMI_TUI_SNAPSHOTS")), count()

    def take_snapshot(*_: object) -> None:
        gc.collect()
        snapshot = tracemalloc.take_snapshot().filter_traces(
            [tracemalloc.Filter(False, tracemalloc.__file__), tracemalloc.Filter(False, "<frozen *>")]
        )
        path = folder / str(next(numbers))
        snapshot.dump(str(path.with_suffix(".part")))
        path.with_suffix(".part").rename(path)

    signal.signal(signal.SIGUSR1, take_snapshot)
    tracemalloc.start()
    from kimi_tui.cli.main import run

    run()


if __name__ == "__main__":
    main()
