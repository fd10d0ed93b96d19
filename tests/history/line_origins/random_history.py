"""Random history of a file whose lines have known authors: edits by the agent and by hand, formatters, moves,
renames, merges, checkouts and reverts.
"""

import difflib
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kimi_tui.history.line_origins.line_mapping import is_significant
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

USERS = "user"
COMMON = ("}", "", "    pass", "    return None", "else:", "    }", ")", "import os")
"""Lines that occur often, so that a text doesn't tell which of them is new."""
_WORDS = ("value", "order", "total", "index", "result", "buffer", "offset", "parser", "client", "record")


@dataclass(frozen=True)
class Line:
    """A line and who wrote it: the id of a call, or `USERS`."""

    text: str
    owner: str
    possible: frozenset[str] = frozenset()
    """Possible owners, if a merge took it from one of two texts that both have it: then nobody can tell."""

    def formatted(self, text: str) -> "Line":
        """Return the line with another layout."""
        return replace(self, text=text)


Content = list[Line]


@dataclass(frozen=True)
class _State:
    manifest: str
    path: str
    content: Content


class RandomHistory:
    """One file in a file history."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.project = FileHistoryFixture(folder)
        self.history = self.project.history
        self.path = "src/main.py"
        self.content: Content = []
        self.log: list[str] = []
        self._states: list[_State] = []
        self._number = 0
        self._write([self._line(USERS) for _ in range(self.random.randint(0, 30))])
        self.history.open()
        self._capture(USER)

    def run(self, steps: int) -> None:
        """Take random steps."""
        actions: list[Callable[[], None]] = [
            *[self.edit_by_agent] * 8,
            *[self.edit_by_hand] * 6,
            *[self.edit_during_command] * 2,
            self.format_by_agent,
            self.format_by_hand,
            self.move_block,
            self.rename,
            self.rename_and_edit,
            self.merge_by_user,
            self.check_out,
            *[self.revert] * 2,
        ]
        for _ in range(steps):
            action = self.random.choice(actions)
            self.log.append(action.__name__)
            action()

    @property
    def head(self) -> str:
        """The last state."""
        return self._states[-1].manifest

    def close(self) -> None:
        self.history.close()

    def edit_by_agent(self) -> None:
        author = self._call(command="")
        self._edit(author.call)
        self._capture(author)

    def edit_by_hand(self) -> None:
        for _ in range(self.random.choice((1, 1, 1, 2))):
            self._edit(USERS)
        self._capture(USER)

    def edit_during_command(self) -> None:
        """Both edit while a command runs whose changes a scan finds: its lines may be anyone's."""
        author = replace(self._call(command="./work"), began=1.0)
        for owner in self.random.sample((author.call, USERS, USERS), 2):
            self._edit(owner)
        self._capture(author)

    def merge_by_user(self) -> None:
        """Merge a branch that someone else wrote: lines in several places."""
        for _ in range(3):
            self._edit(USERS, only_insert=True)
        self._capture(replace(USER, command="git merge feature"))

    def format_by_agent(self) -> None:
        self._format()
        self._capture(self._call(command="ruff format"))

    def format_by_hand(self) -> None:
        self._format()
        self._capture(replace(USER, command="black ."))

    def move_block(self) -> None:
        """Move some lines within the file."""
        if len(self.content) < 8:
            return
        start = self.random.randrange(len(self.content) - 4)
        block, rest = self.content[start : start + 3], self.content[:start] + self.content[start + 3 :]
        if any(line.text.strip() in {it.strip() for it in COMMON} for line in block):
            return
        at = self.random.randrange(len(rest))
        self._write(rest[:at] + block + rest[at:])
        self._capture(self.random.choice([USER, self._call(command="")]))

    def rename(self) -> None:
        self._move_file()
        self._capture(self.random.choice([USER, self._call(command="git mv")]))

    def rename_and_edit(self) -> None:
        if len(self.content) < 12:
            return
        author = self._call(command="")
        self._move_file()
        self._edit(author.call, most=1)
        self._capture(author)

    def check_out(self) -> None:
        """Get back an earlier content in a way that isn't a revert, such as `git checkout`."""
        state = self.random.choice(self._states)
        self._write(state.content)
        self._capture(replace(USER, command="git checkout"))

    def revert(self) -> None:
        """Revert to an earlier state, with what the user has written since then kept."""
        state = self.random.choice(self._states)
        before = self.content
        self.project.revert(state.manifest)
        files = [path for path in sorted((self.project.work / "src").iterdir()) if path.is_file()]
        if not files:
            self._write([self._line(USERS)])
            self._capture(USER)
            return
        paths = [str(file.relative_to(self.project.work)) for file in files]
        self.path = next((path for path in (state.path, self.path) if path in paths), paths[0])
        texts = (self.project.work / self.path).read_text().split("\n")[:-1]
        if texts == [line.text for line in state.content]:
            self.content = list(state.content)
        else:
            self.content = [self._owner_after_merge(text, state.content, before) for text in texts]
        self._note(self.history.capture().manifest)

    def _owner_after_merge(self, shown: str, then: Content, now: Content) -> Line:
        text = shown.strip()
        lines = [line for line in (*then, *now) if line.text.strip() == text]
        if not lines or not is_significant(text.encode()):
            # From a version between the two that the user formatted, or from anywhere.
            every = (line for state in self._states for line in state.content)
            lines += [line for line in every if line.text.strip() == text]
        owners = {line.owner for line in lines}.union(*(line.possible for line in lines))
        return Line(shown, USERS if USERS in owners else min(owners, default=USERS), frozenset(owners))

    def _edit(self, owner: str, *, only_insert: bool = False, most: int = 6) -> None:
        """Replace, insert or delete some lines in one place."""
        content = list(self.content)
        start = self.random.randint(0, len(content))
        end = start if only_insert else min(len(content), start + self.random.choice((0, 0, 1, 2, 4)))
        added = [self._line(owner) for _ in range(self.random.randint(1 if start == end else 0, most))]
        # A line that stays the same isn't written.
        kept = {line.text: line for line in content[start:end]}
        self._write(content[:start] + [kept.get(line.text, line) for line in added] + content[end:])

    def _format(self) -> None:
        indent = self.random.choice(("", "    ", "        ", "\t"))
        formatted: Content = []
        for line in self.content:
            text = line.text.strip()
            if re.search(r"\([^)]", text) and self.random.random() < 0.3:
                name, _, rest = text.partition("(")
                formatted += [line.formatted(f"{indent}{name}("), line.formatted(f"{indent}    {rest}")]
            else:
                formatted.append(line.formatted(f"{indent}{text}" if text else ""))
        self._write(formatted)

    def _move_file(self) -> None:
        self._number += 1
        path = f"src/module{self._number}.py"
        (self.project.work / self.path).rename(self.project.work / path)
        self.path = path

    def _line(self, owner: str) -> Line:
        if self.random.random() < 0.2:
            return Line(self.random.choice(COMMON), owner)
        self._number += 1
        words = self.random.sample(_WORDS, 3)
        form = self.random.choice(
            ("    {0}_{n} = {1}", "{0}_{n}({1}, {2})", "def {0}_{n}({1}):", "# {0} {1} {n}")
        )
        return Line(form.format(*words, n=self._number), owner)

    def _call(self, *, command: str) -> ChangeAuthor:
        self._number += 1
        return replace(self.project.call(command), call=f"call{self._number}")

    def _write(self, content: Content) -> None:
        self.content = content
        file = self.project.work / self.path
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{line.text}\n" for line in content))

    def _capture(self, author: ChangeAuthor) -> None:
        self._note(self.history.capture(author).manifest)

    def _note(self, manifest: str) -> None:
        self._states.append(_State(manifest, self.path, list(self.content)))


def changed_lines(before: Content, after: Content) -> str:
    """Return a diff, for a failing test."""
    return "\n".join(difflib.unified_diff([it.text for it in before], [it.text for it in after], lineterm=""))
