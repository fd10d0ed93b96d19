"""A session of 1,000 steps exported as an HTML page: its size, and the time that it takes."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.figure import Figure
from benchmarks.home import KIMI_TUI, new_home, serve_model
from benchmarks.project import make_project, sample_files
from benchmarks.scale import Scale

WORKLOAD = "HTML page"
_MAX_MB = 2.0
_STEPS_PER_PROMPT = 40
_FILES = 20


def measure(scale: Scale) -> list[Figure]:
    """Measure the export of a session whose steps read, edit and run commands."""
    prompts = scale.choose(25, 5, 1)
    with new_home() as home:
        home.work_dir.rmdir()
        make_project(home.work_dir, 10 * _FILES)
        files = [str(file.relative_to(home.work_dir)) for file in sample_files(home.work_dir, _FILES)]
        for number in range(prompts):
            steps = range(number * _STEPS_PER_PROMPT, (number + 1) * _STEPS_PER_PROMPT)
            with serve_model([*_responses(files, steps), {"words": 150}]) as (url, _):
                home.configure(url)
                resumed = ["--continue"] if number else []
                home.run(
                    KIMI_TUI, "--print", "--yolo", "--quiet", *resumed, "-p", f"part {number} of the work"
                )
        (journal,) = home.path.glob("share/tui-sessions/*/*/context.jsonl")
        page = home.path / "page.html"
        used = home.run(KIMI_TUI, "sessions", "export", journal.parent.name, "--html", "-o", str(page))
        page_mb, journal_mb = page.stat().st_size / 1e6, journal.stat().st_size / 1e6
    name = f"page of {prompts * _STEPS_PER_PROMPT:,} steps"
    return [
        Figure(WORKLOAD, name, page_mb, "MB", journal_mb, "the journal"),
        Figure(WORKLOAD, "the same", page_mb, "MB", target=_MAX_MB),
        Figure(WORKLOAD, "CPU of the export", used.ru_utime + used.ru_stime, "s"),
    ]


def _responses(files: Sequence[str], steps: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Return responses that call a tool each: in turn, a file is read, edited and searched."""
    for step in steps:
        turn = step // 3
        path, earlier = files[turn % len(files)], turn - len(files)
        number = path.removesuffix(".py").rpartition("module")[2]
        old, new = (
            f"# module {number}" if at < 0 else f"# module {number}\n# edited by turn {at}"
            for at in (earlier, turn)
        )
        match step % 3:
            case 0:
                call = ["ReadFile", {"path": path}]
            case 1:
                call = ["EditFile", {"path": path, "edit": {"old": f"{old}\n", "new": f"{new}\n"}}]
            case _:
                call = [
                    "Bash",
                    {"command": f"grep -rn 'the {turn % 10}\\|as' {path}; seq {step} {step + 40}"},
                ]
        yield {"words": 40, "calls": [call]}
