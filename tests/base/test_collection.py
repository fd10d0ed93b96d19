"""Nothing is collected while the program is loaded, and everything afterwards."""

import gc
import subprocess
import sys

from kimi_tui.base.collection import uncollected

_LOADING = """
import gc, weakref
from kimi_tui.base.collection import begin_collection, put_off_collection

class Ring:
    def __init__(self):
        self.itself = self

def alive(ring):
    for _ in range(3):
        [[] for _ in range(gc.get_threshold()[0] * 200)]
    return ring() is not None

put_off_collection()
early = weakref.ref(Ring())
print(alive(early))
begin_collection()
print(alive(weakref.ref(Ring())), gc.get_freeze_count() > 0)
before = gc.get_freeze_count()
begin_collection()
print(gc.get_freeze_count() == before)
"""


def test_garbage_is_collected_only_once_that_has_begun() -> None:
    # In a process of its own, whose collector nothing else sets.
    told = subprocess.run([sys.executable, "-c", _LOADING], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "False", "True", "True"]


def test_an_import_is_left_alone_by_a_collector_that_goes_on_afterwards() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
