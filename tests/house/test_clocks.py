"""How long something takes, and until when it may, is measured by clocks that nobody sets."""

import ast
from functools import cache
from pathlib import Path

import kimi_tui

ROOT = Path(kimi_tui.__file__).parent
DATES = {
    "agentspec/prompt.py": "tells the model the date",
    "base/identity.py": "makes ids that sort by time",
    "cli/kimi_cli/sessions.py": "dates what is imported",
    "engine/recorder.py": "dates what is recorded",
    "engine/side_work.py": "dates tasks that may outlive the process",
    "engine/subagents/records.py": "dates sub-agents on disk",
    "history/context.py": "dates checkpoints",
    "history/ledger.py": "dates repairs",
    "history/rebuilding.py": "dates repairs",
    "history/session.py": "dates sessions",
    "history/snapshots/known.py": "holds files' times against those of the look before",
    "history/snapshots/manifest.py": "dates states",
    "history/snapshots/store.py": "collects states by their dates; one that jumps costs none",
    "llm/statuses.py": "reads a Retry-After that is a date; how long that is has a bound",
    "tools/background/tasks.py": "dates tasks that may outlive the process",
    "tools/background/task_list.py": "tells how long ago, of dates on disk",
    "tools/background/task_output.py": "tells how long ago, of dates on disk",
    "tools/mcp/token_file.py": "tokens end at a date",
    "tui/linear/commands.py": "tells how long ago, of dates on disk",
    "tui/dialogs/sessions.py": "tells how long ago, of dates on disk",
    "tui/options.py": "tells how long ago, of dates on disk",
    "tui/prompt/drafts.py": "tells abandoned drafts by files' dates, where processes can't be asked",
}
"""Who may ask what time it is, and what for: none of it a time-out."""
WALL_CLOCKS = {
    ("time", "time"),
    ("time", "time_ns"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
}


@cache
def users_of_wall_clocks() -> set[str]:
    found = set()
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "time.time" not in text and "datetime" not in text and "from time import" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            is_used = (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and (node.value.id, node.attr) in WALL_CLOCKS
            )
            is_imported = (
                isinstance(node, ast.ImportFrom)
                and node.module == "time"
                and any(("time", name.name) in WALL_CLOCKS for name in node.names)
            )
            if is_used or is_imported:
                found.add(path.relative_to(ROOT).as_posix())
    return found


def test_only_dates_are_read_off_the_wall_clock() -> None:
    new = users_of_wall_clocks() - DATES.keys()
    assert not new, f"time.monotonic measures time; if {sorted(new)} need dates, say so here"


def test_no_excuse_is_left_over() -> None:
    assert DATES.keys() <= users_of_wall_clocks()
