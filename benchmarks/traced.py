"""The program with its allocations traced: `python -m benchmarks.traced OPTIONS`.

At SIGUSR1 a snapshot (`tracemalloc`) goes to the next number in the folder that KIMI_TUI_SNAPSHOTS names.
"""

import gc
import os
import signal
import tracemalloc
from itertools import count
from pathlib import Path


def main() -> None:
    """Run it; the signal is taken from the start."""
    folder, numbers = Path(os.environ.pop("KIMI_TUI_SNAPSHOTS")), count()

    def take(*_: object) -> None:
        gc.collect()
        snapshot = tracemalloc.take_snapshot().filter_traces(
            [tracemalloc.Filter(False, tracemalloc.__file__), tracemalloc.Filter(False, "<frozen *>")]
        )
        path = folder / str(next(numbers))
        snapshot.dump(str(path.with_suffix(".part")))
        path.with_suffix(".part").rename(path)

    signal.signal(signal.SIGUSR1, take)
    tracemalloc.start()
    from kimi_tui.cli.main import run

    run()


if __name__ == "__main__":
    main()
