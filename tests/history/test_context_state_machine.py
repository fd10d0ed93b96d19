"""Any order of operations and disk errors.

The state in memory always equals what a restore would find, it can always be sent, and no message is lost.
"""

import asyncio
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kimi_tui.base.errors import JournalWriteError
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from tests.history.file_systems import FailingFileSystem
from tests.history.messages import assert_sendable, assistant_calls, assistant_message, reopen, tool_result

ROUNDS = int(os.environ.get("KIMI_TUI_TRAVELS", "40"))


class ContextMachine(RuleBasedStateMachine):
    """A session in which every message is a new unique word."""

    @initialize()
    def set_up(self):
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.file = self.folder / "session" / "context.jsonl"
        self.fs = FailingFileSystem()
        self.context = Context(self.file, fs=self.fs)
        self.n_words = 0
        self.words: list[str] = []
        self.new_words: list[str] = []
        self.ids: set[int] = set()
        self.uids: set[str] = set()
        self.step = None
        self.was_just_reverted = False

    def teardown(self):
        if hasattr(self, "runner"):
            self.runner.close()
            shutil.rmtree(self.folder)

    def next_word(self) -> str:
        self.n_words += 1
        self.new_words.append(f"word-{self.n_words}-")
        return self.new_words[-1]

    def run_work(self, work):
        return self.runner.run(work)

    def attempt_work(self, work) -> bool:
        """Run `work`, which the disk may refuse. Return whether it succeeded."""
        new_words, self.new_words = self.new_words, []
        try:
            self.result = self.run_work(work)
        except JournalWriteError:
            assert self.fs.failing_calls
            return False
        self.words += new_words
        return True

    @rule(call=st.sampled_from(["open", "write", "fsync", "link", "rename"]))
    def a_call_fails(self, call):
        self.fs.failing_calls = {call}

    @rule()
    def no_call_fails(self):
        self.fs.failing_calls = set()

    @rule()
    def the_user_sends_a_message(self):
        if self.attempt_work(self.context.append_message(user_message(self.next_word()))):
            self.step = None

    @rule(
        n_calls=st.integers(0, 3), answered=st.sets(st.integers(0, 2)), tokens=st.none() | st.integers(0, 99)
    )
    def a_step(self, n_calls, answered, tokens):
        calls = [f"call_{index}" for index in range(n_calls)]
        indexes = [index for index in sorted(answered, reverse=True) if index < n_calls]
        results = [tool_result(f"call_{index}", self.next_word()) for index in indexes]
        response = assistant_calls(self.next_word(), *calls)
        if self.attempt_work(self.context.append_step([response, *results], token_count=tokens)):
            self.step = None

    @rule(n_calls=st.integers(1, 3))
    def a_step_begins(self, n_calls):
        step = assistant_calls(self.next_word(), *(f"call_{index}" for index in range(n_calls)))
        if self.attempt_work(self.context.record_pending(step)):
            self.step = step

    @precondition(lambda self: self.step is not None)
    @rule(index=st.integers(0, 2))
    def a_tool_finishes(self, index):
        if f"call_{index}" in {call.id for call in self.step.tool_calls}:
            self.attempt_work(self.context.record_pending(tool_result(f"call_{index}", "finished")))

    @precondition(lambda self: self.step is not None)
    @rule()
    def a_step_ends(self):
        if self.attempt_work(self.context.append_step([self.step], token_count=5)):
            self.step = None

    @rule(shown=st.booleans())
    def a_checkpoint(self, shown):
        newest = self.context.checkpoints[-1].uid if self.context.checkpoints else None
        if not self.attempt_work(self.context.checkpoint(shown)):
            return
        checkpoint = self.result
        assert checkpoint.id not in self.ids
        assert checkpoint.parent in {None, *self.uids}
        if not self.was_just_reverted:
            assert checkpoint.parent == newest
        self.ids.add(checkpoint.id)
        self.uids.add(checkpoint.uid)
        self.was_just_reverted = False
        self.step = None

    @precondition(lambda self: self.context.checkpoints)
    @rule(data=st.data(), keep=st.booleans())
    def a_revert(self, data, keep):
        target = data.draw(st.sampled_from(list(self.context.checkpoints)))
        before = [checkpoint for checkpoint in self.context.checkpoints if checkpoint.id < target.id]
        if self.attempt_work(self.context.revert_to(target.id, keep_user_message=keep)):
            assert list(self.context.checkpoints) == before
            self.mark_reverted()

    @rule()
    def a_clear(self):
        if self.attempt_work(self.context.clear()):
            assert self.context.history == []
            self.mark_reverted()

    @rule()
    def a_compaction(self):
        if self.attempt_work(
            self.context.replace([user_message(self.next_word()), assistant_message(self.next_word())])
        ):
            self.mark_reverted()

    @rule(data=st.data())
    def a_switch(self, data):
        branches = self.run_work(self.context.branches())
        if branches:
            branch = data.draw(st.sampled_from(branches))
            if self.attempt_work(self.context.restore_from_rotation(branch.number)):
                # A branch has a label for its last step; the current branch gets it with the next checkpoint.
                shown = [replace(checkpoint, label="") for checkpoint in branch.checkpoints]
                assert [replace(it, label="") for it in self.context.checkpoints] == shown
                self.mark_reverted()

    @rule()
    def another_prompt(self):
        self.run_work(self.context.set_system_prompt(f"prompt {self.n_words}"))

    @rule(torn=st.sampled_from([b"", b"{", b'{"role":"user","content":"x', b"\0\0"]))
    def the_process_dies(self, torn):
        if self.file.exists():
            with self.file.open("ab") as file:
                file.write(torn)
        self.context = Context(self.file, fs=self.fs)
        self.run_work(self.context.restore())
        self.step = None

    def mark_reverted(self):
        self.was_just_reverted = True
        self.step = None

    @invariant()
    def memory_equals_a_restore(self):
        if not hasattr(self, "context") or not self.file.exists():
            return
        copy = self.folder / "copy"
        shutil.copytree(self.file.parent, copy)
        restored = self.run_work(reopen(copy / self.file.name))
        history = list(self.context.history)
        assert list(restored.history[: len(history)]) == history
        assert self.step is not None or len(restored.history) == len(history)
        assert list(restored.checkpoints) == list(self.context.checkpoints)
        assert restored.n_checkpoints == self.context.n_checkpoints
        assert restored.token_count == self.context.token_count
        if self.step is None:
            assert restored.token_count_with_pending == self.context.token_count_with_pending
        assert_sendable(restored.history)
        assert_sendable(history)
        shutil.rmtree(copy)

    @invariant()
    def every_message_is_on_disk(self):
        if hasattr(self, "file") and self.file.exists():
            lines = [path.read_text() for path in self.file.parent.iterdir()]
            assert not [word for word in self.words if not any(word in text for text in lines)]


ContextMachine.TestCase.settings = settings(
    max_examples=ROUNDS, stateful_step_count=25, deadline=None, database=None
)
test_any_order_of_events = ContextMachine.TestCase
