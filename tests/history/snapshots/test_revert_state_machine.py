"""Any sequence of edits by the agent and the user, and of reverts: none of the user's changes is lost."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from kimi_tui.history.snapshots.blob_store import digest_of
from kimi_tui.history.snapshots.hunk import find_hunks
from kimi_tui.history.snapshots.plan import ItemVersion
from kimi_tui.wire.timeline import FileChoice
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

ROUNDS = int(os.environ.get("KIMI_TUI_TRAVELS", "40"))
PATHS = ("a", "b", "d/a", "d/b", "d/e/f", "x")
LINES = st.lists(st.sampled_from(["1\n", "2\n", "3\n", "4\n", "\n"]), max_size=6).map("".join)


class RevertMachine(RuleBasedStateMachine):
    """The files of one session, changed by the agent and the user."""

    states = Bundle("states")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.counter = 0
        self.overwritten: set[str] = set()
        """Every text that was on disk before the agent or a revert made a change."""
        self.only_agent_since: dict[str, bool] = {}
        self.changed_paths: dict[str, set[str]] = {}
        """The paths that the agent or a revert has changed since each state."""

    @initialize()
    def set_up(self) -> None:
        self.project = FileHistoryFixture(self.folder)
        self.project.history.open()

    def teardown(self) -> None:
        self.project.history.close()
        shutil.rmtree(self.folder)

    @rule(target=states)
    def checkpoint(self) -> tuple[str, dict[str, str]]:
        state = self.project.checkpoint()
        self.only_agent_since[state] = True
        self.changed_paths.setdefault(state, set())
        return state, self.project.files()

    @rule(path=st.sampled_from(PATHS), text=LINES)
    def agent_writes(self, path: str, text: str) -> None:
        with self.author_not_user(), self.project.agent():
            self.write(path, text)

    @rule(path=st.sampled_from(PATHS), text=LINES)
    def agent_appends(self, path: str, text: str) -> None:
        with self.author_not_user(), self.project.agent():
            self.write(path, self.project.files().get(path, "") + text)

    @rule(path=st.sampled_from(PATHS))
    def agent_deletes(self, path: str) -> None:
        with self.author_not_user(), self.project.agent():
            self.delete(path)

    @rule(path=st.sampled_from(PATHS), text=LINES, at_the_end=st.booleans())
    def you_write(self, path: str, text: str, at_the_end: bool) -> None:
        self.counter += 1
        own_line = f"yours {self.counter}\n"
        old = self.project.files().get(path, "")
        self.write(path, old + own_line if at_the_end else own_line + text)
        self.note_user_change()

    @rule(path=st.sampled_from(PATHS))
    def you_delete(self, path: str) -> None:
        self.delete(path)
        self.note_user_change()

    @rule(state=states)
    def revert(self, state: tuple[str, dict[str, str]]) -> None:
        manifest, files = state
        plan = self.project.history.plan(manifest)
        before = self.project.files()
        changed_paths = set(self.changed_paths[manifest])
        kept = [item.path for item in plan.items if item.action in {"keep", "conflict"}]
        with self.author_not_user():
            self.project.revert(manifest)
        now = self.project.files()
        for path in (before.keys() | now.keys()) - changed_paths:
            assert now.get(path) == before.get(path)
        if self.only_agent_since[manifest]:
            assert now == files
        for path in kept:
            assert now.get(path) == before.get(path)
        self.project.revert(plan.head)
        assert self.project.files() == before
        self.project.revert(plan.target)
        assert self.project.files() == now

    @rule(state=states)
    def revert_all_items(self, state: tuple[str, dict[str, str]]) -> None:
        plan = self.project.history.plan(state[0])
        before = self.project.files()
        with self.author_not_user():
            self.project.history.execute(plan, {item.path for item in plan.items})
        self.project.revert(plan.head)
        assert self.project.files() == before

    @rule(state=states, random=st.randoms(use_true_random=False))
    def revert_chosen_parts(self, state: tuple[str, dict[str, str]], random: Random) -> None:
        plan = self.project.history.plan(state[0])
        before = self.project.files()
        choices = {}
        for item in plan.items:
            version = random.choice([*item.versions, ItemVersion("checkpoint", item.then)])
            texts = self.project.history.contents(item.now, version.then)
            hunks = find_hunks(*texts) if texts is not None else []
            ids = tuple(hunk.id for hunk in hunks if random.random() < 0.5)
            choice = version.choice if item.versions else None
            choices[item.path] = FileChoice(item.path, choice, ids if hunks else None)
        with self.author_not_user():
            self.project.history.execute(plan, set(), choices=choices)
        self.project.revert(plan.head)
        assert self.project.files() == before

    @rule()
    def restart(self) -> None:
        self.project.history.close()
        self.project = FileHistoryFixture(self.folder)
        self.project.history.open()

    @invariant()
    def overwritten_contents_are_stored(self) -> None:
        for text in self.overwritten:
            assert self.project.store.blobs.read(digest_of(text.encode())) == text.encode()

    @contextmanager
    def author_not_user(self) -> Iterator[None]:
        before = self.project.files()
        self.overwritten |= set(before.values())
        yield
        now = self.project.files()
        changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        for changed_paths in self.changed_paths.values():
            changed_paths |= changed

    def note_user_change(self) -> None:
        self.only_agent_since = dict.fromkeys(self.only_agent_since, False)

    def write(self, path: str, text: str) -> None:
        full_path = self.project.work / path
        for parent in reversed(full_path.relative_to(self.project.work).parents):
            folder = self.project.work / parent
            if folder.is_file():
                folder.unlink()
            folder.mkdir(exist_ok=True)
        if full_path.is_dir():
            shutil.rmtree(full_path)
        full_path.write_text(text)

    def delete(self, path: str) -> None:
        full_path = self.project.work / path
        if full_path.is_file():
            full_path.unlink()


TestRevertMachine = RevertMachine.TestCase
TestRevertMachine.settings = settings(
    max_examples=ROUNDS, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
