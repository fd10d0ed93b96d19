"""Random edits by two attempts and the user: no line is lost, and every conflict is shown."""

import os
import random
from pathlib import Path

from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.planning.adoption import AdoptedChanges, combine_adopted
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

ROUNDS = int(os.environ.get("KIMI_TUI_ADOPTIONS", "40"))
NAMES = ("a.txt", "b.txt", "c.txt")

Texts = dict[str, list[str]]


def edit(texts: Texts, who: str, chance: random.Random) -> Texts:
    """Return the files after some edits, whose new lines name their author and are unique."""
    edited = {name: list(lines) for name, lines in texts.items()}
    for number in range(chance.randint(1, 4)):
        name = chance.choice(NAMES)
        line = f"{who} {number} {chance.random()}"
        lines = edited.setdefault(name, []) if chance.random() < 0.9 else None
        if lines is None:
            edited.pop(name, None)
            continue
        at = chance.randint(0, len(lines))
        match chance.choice(("insert", "replace", "delete")):
            case "replace" if at < len(lines):
                lines[at] = line
            case "delete" if at < len(lines):
                del lines[at]
            case _:
                lines.insert(at, line)
    return edited


def write(work: Path, texts: Texts) -> None:
    for name in NAMES:
        if name in texts:
            (work / name).write_text("".join(f"{line}\n" for line in texts[name]))
        else:
            (work / name).unlink(missing_ok=True)


def changes_of(project: FileHistoryFixture, base: str, texts: Texts, name: str) -> AdoptedChanges:
    """Return the change from the state `base` to `texts`, as an attempt makes it."""
    write(project.work, texts)
    before = project.history.state(base)
    after = project.history.state(project.checkpoint())
    paths = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    new: Changes = {path: after.get(path) for path in paths}
    old: Changes = {path: before.get(path) for path in paths}
    return AdoptedChanges(name=name, changes=new, base=old)


def check_round(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder.mkdir()
    project = FileHistoryFixture(folder)
    project.history.open()
    start: Texts = {
        name: [f"base {name} {number}" for number in range(chance.randint(0, 8))] for name in NAMES[:2]
    }
    write(project.work, start)
    base = project.checkpoint()
    made = {name: edit(start, name, chance) for name in ("one", "two")}
    adopted = [changes_of(project, base, texts, name) for name, texts in made.items()]
    mine = edit(start, "me", chance)
    write(project.work, mine)
    plan = project.history.plan(combine_adopted(adopted, project.history.blobs))
    project.history.execute(plan, {item.path for item in plan.items if item.is_selected})
    result = {
        name: (project.work / name).read_text().splitlines() if (project.work / name).exists() else None
        for name in NAMES
    }
    project.history.close()
    conflicts = {item.path for item in plan.items if item.action in ("conflict", "keep", "not covered")}
    for name in NAMES:
        ours, lines = mine.get(name), result[name]
        if name in conflicts:
            assert lines == ours, (seed, name)
            continue
        deleted_by = [who for who, texts in made.items() if name in start and name not in texts]
        if deleted_by:
            assert ours in (start.get(name), None), (seed, name)
            continue
        kept = set(lines or ())
        assert {line for line in ours or () if line.startswith("me ")} <= kept, (seed, name)
        for who, texts in made.items():
            assert {line for line in texts.get(name, ()) if line.startswith(who)} <= kept, (seed, name, who)
        versions = [texts.get(name, []) for texts in (*made.values(), mine)]
        removed = {line for line in start.get(name, ()) if any(line not in it for it in versions)}
        assert not removed & kept, (seed, name)
        assert set(start.get(name, ())) - removed <= kept, (seed, name)


def test_no_line_is_lost_and_every_conflict_is_shown(tmp_path: Path) -> None:
    for seed in range(ROUNDS):
        check_round(tmp_path / str(seed), seed)
