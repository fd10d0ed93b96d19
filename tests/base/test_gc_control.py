"""Garbage collection is paused during startup and resumed afterwards."""

import gc
import subprocess
import sys

from kimi_tui.base.gc_control import gc_paused

_PROGRAM = """
import gc, weakref
from kimi_tui.base.gc_control import resume_gc, pause_gc

class Ring:
    def __init__(self):
        self.itself = self

def alive(ring):
    for _ in range(3):
        [[] for _ in range(gc.get_threshold()[0] * 200)]
    return ring() is not None

pause_gc()
early = weakref.ref(Ring())
print(alive(early))
resume_gc()
print(alive(weakref.ref(Ring())), gc.get_freeze_count() > 0)
before = gc.get_freeze_count()
resume_gc()
print(gc.get_freeze_count() == before)
"""


def test_garbage_is_collected_only_after_resuming() -> None:
    # In a separate process, because the test session configures its own collector.
    process = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["True", "False", "True", "True"]


def test_collection_is_paused_and_resumed_afterwards() -> None:
    assert gc.isenabled()
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
