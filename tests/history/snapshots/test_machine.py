"""Any sequence of edits by the agent and the user, and of jumps: nothing of the user's is lost."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from kimi_tui.history.snapshots.blobs import digest_of
from tests.history.snapshots.place import Place

ROUNDS = int(os.environ.get("KIMI_TUI_TRAVELS", "40"))
PATHS = ("a", "b", "d/a", "d/b", "d/e/f", "x")
LINES = st.lists(st.sampled_from(["1\n", "2\n", "3\n", "4\n", "\n"]), max_size=6).map("".join)


class Times(RuleBasedStateMachine):
    """One session's files, changed by two."""

    states = Bundle("states")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.counter = 0
        self.left: set[str] = set()
        """Every text that was on disk when somebody else than the user began to change it."""
        self.only_agent_since: dict[str, bool] = {}
        self.touched: dict[str, set[str]] = {}
        """The paths that the agent or a jump changed since each state."""

    @initialize()
    def begin(self) -> None:
        self.place = Place(self.folder)
        self.place.history.open()

    def teardown(self) -> None:
        self.place.history.close()
        shutil.rmtree(self.folder)

    @rule(target=states)
    def checkpoint(self) -> tuple[str, dict[str, str]]:
        state = self.place.checkpoint()
        self.only_agent_since[state] = True
        self.touched.setdefault(state, set())
        return state, self.place.files()

    @rule(path=st.sampled_from(PATHS), text=LINES)
    def agent_writes(self, path: str, text: str) -> None:
        with self.not_you(), self.place.agent():
            self.write(path, text)

    @rule(path=st.sampled_from(PATHS), text=LINES)
    def agent_appends(self, path: str, text: str) -> None:
        with self.not_you(), self.place.agent():
            self.write(path, self.place.files().get(path, "") + text)

    @rule(path=st.sampled_from(PATHS))
    def agent_deletes(self, path: str) -> None:
        with self.not_you(), self.place.agent():
            self.delete(path)

    @rule(path=st.sampled_from(PATHS), text=LINES, at_the_end=st.booleans())
    def you_write(self, path: str, text: str, at_the_end: bool) -> None:
        self.counter += 1
        mine = f"yours {self.counter}\n"
        old = self.place.files().get(path, "")
        self.write(path, old + mine if at_the_end else mine + text)
        self.you_changed_something()

    @rule(path=st.sampled_from(PATHS))
    def you_delete(self, path: str) -> None:
        self.delete(path)
        self.you_changed_something()

    @rule(state=states)
    def go_to(self, state: tuple[str, dict[str, str]]) -> None:
        manifest, files = state
        plan = self.place.history.plan(manifest)
        before = self.place.files()
        touched = set(self.touched[manifest])
        left = [item.path for item in plan.items if item.action in {"keep", "conflict"}]
        with self.not_you():
            self.place.revert(manifest)
        now = self.place.files()
        for path in (before.keys() | now.keys()) - touched:
            assert now.get(path) == before.get(path)
        if self.only_agent_since[manifest]:
            assert now == files
        for path in left:
            assert now.get(path) == before.get(path)
        self.place.revert(plan.head)
        assert self.place.files() == before
        self.place.revert(plan.target)
        assert self.place.files() == now

    @rule(state=states)
    def go_to_with_every_tick(self, state: tuple[str, dict[str, str]]) -> None:
        plan = self.place.history.plan(state[0])
        before = self.place.files()
        with self.not_you():
            self.place.history.execute(plan, {item.path for item in plan.items})
        self.place.revert(plan.head)
        assert self.place.files() == before

    @rule()
    def restart(self) -> None:
        self.place.history.close()
        self.place = Place(self.folder)
        self.place.history.open()

    @invariant()
    def what_was_left_can_be_had_again(self) -> None:
        for text in self.left:
            assert self.place.store.blobs.read(digest_of(text.encode())) == text.encode()

    @contextmanager
    def not_you(self) -> Iterator[None]:
        before = self.place.files()
        self.left |= set(before.values())
        yield
        now = self.place.files()
        changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        for touched in self.touched.values():
            touched |= changed

    def you_changed_something(self) -> None:
        self.only_agent_since = dict.fromkeys(self.only_agent_since, False)

    def write(self, path: str, text: str) -> None:
        whole = self.place.work / path
        for parent in reversed(whole.relative_to(self.place.work).parents):
            place = self.place.work / parent
            if place.is_file():
                place.unlink()
            place.mkdir(exist_ok=True)
        if whole.is_dir():
            shutil.rmtree(whole)
        whole.write_text(text)

    def delete(self, path: str) -> None:
        whole = self.place.work / path
        if whole.is_file():
            whole.unlink()


TestTimes = Times.TestCase
TestTimes.settings = settings(
    max_examples=ROUNDS, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
