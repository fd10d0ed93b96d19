"""Durations and deadlines use the monotonic clock; only dates use the wall clock."""

import ast
from functools import cache

from tests.codebase.source_trees import nodes_of, syntax_trees

DATES = {
    "base/ids.py": "ids sort by creation time",
    "config/session_start.py": "the prompt contains the date",
    "history/kimi_cli/session_state.py": "dates of imported sessions",
    "engine/recording/recorder.py": "dates of recorded messages",
    "engine/attempts/attempt_run.py": "dates of attempts that earlier processes ran",
    "engine/background_work.py": "dates of tasks that may outlive the process",
    "engine/files/session_files.py": "compares calls with those of other processes",
    "engine/session/grant_store.py": "dates of grants",
    "engine/subagents/store.py": "dates of sub-agents on disk",
    "cli/commands/web.py": "ages of links",
    "web/web_token_store.py": "dates of tokens",
    "history/context.py": "dates of checkpoints",
    "history/journal_reader.py": "dates of repairs",
    "history/rebuild.py": "dates of repairs",
    "history/session.py": "dates of sessions",
    "history/open_sessions.py": "shows the age of dates on disk",
    "permission/secret_file_index.py": "compares modification times with when they are read",
    "history/snapshots/stat_cache.py": "compares modification times with those of the previous scan",
    "history/snapshots/manifest.py": "dates of snapshots",
    "history/snapshots/project_store.py": "expires snapshots by age; a clock change removes none",
    "llm/transport/http_errors.py": "parses a Retry-After date; the wait is bounded",
    "tools/background/tasks.py": "dates of tasks that may outlive the process",
    "tools/background/task_list.py": "shows the age of dates on disk",
    "tools/background/task_output.py": "shows the age of dates on disk",
    "mcp/token_store.py": "tokens expire at a date",
    "linear/commands.py": "shows the age of dates on disk",
    "tui/attempts/attempts_dialog.py": "shows how long attempts of any process have run",
    "tui/dialogs/sessions.py": "shows the age of dates on disk",
    "tui/dialogs/message_search.py": "shows the age of dates on disk",
    "tui/options.py": "shows the age of dates on disk",
    "fleet/attempt.py": "dates of attempts",
    "fleet/attempt_runner.py": "dates of attempts",
    "fleet/fleet_database.py": "dates of claims",
    "frontend/fleet/progress.py": "shows the age of dates in a database that other processes write",
    "frontend/fleet/task_list.py": "shows the age of dates in a database that other processes write",
    "frontend/drafts.py": "detects abandoned drafts by file age where processes can't be checked",
}
"""Modules that may read the wall clock, and why. None of them measures a timeout."""
WALL_CLOCKS = {
    ("time", "time"),
    ("time", "time_ns"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
}


@cache
def modules_that_read_the_wall_clock() -> set[str]:
    found = set()
    for path, tree in syntax_trees().items():
        for node in nodes_of(tree):
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
                found.add(path.as_posix())
    return found


def test_only_dates_use_the_wall_clock() -> None:
    new = modules_that_read_the_wall_clock() - DATES.keys()
    assert not new, f"use time.monotonic for durations; if {sorted(new)} need dates, add them here"


def test_every_exception_is_still_needed() -> None:
    assert DATES.keys() <= modules_that_read_the_wall_clock()
