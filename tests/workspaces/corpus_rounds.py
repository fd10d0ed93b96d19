"""Run the corpus and print what differs.

Usage: `python -m tests.workspaces.corpus_rounds [OPTIONS] [TEXT ...]`.
Only commands whose name contains a TEXT run. `--direct` compares two direct runs.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.corpus.command_corpus import command_corpus
from tests.workspaces.corpus.corpus_command import CorpusCommand
from tests.workspaces.corpus_environment import CorpusEnvironment, RootSetup
from tests.workspaces.corpus_runner import CorpusResult, CorpusRunner


def main() -> int:
    """Run the commands. Return 1 if a tree differs."""
    parser = argparse.ArgumentParser(prog="corpus_rounds", description=__doc__)
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--user", type=int, metavar="UID")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    root_setup = None
    folder = Path(options.folder or tempfile.mkdtemp(prefix="corpus-"))
    folder.mkdir(exist_ok=True)
    if options.user:
        root_setup = RootSetup()
        os.chown(folder, options.user, options.user)
        os.setgroups([])
        os.setresgid(options.user, options.user, options.user)
        os.setresuid(options.user, options.user, options.user)
    part, parts = map(int, options.part.split("/"))
    commands = [
        it for it in command_corpus() if not options.texts or any(text in it.name for text in options.texts)
    ][part - 1 :: parts]
    environment = CorpusEnvironment(folder / f"part{part}", root_setup=root_setup)
    started = time.monotonic()
    results = asyncio.run(_run(environment, commands, is_direct=options.direct))
    _print_summary(results, time.monotonic() - started)
    environment.remove(environment.area)
    return int(any(it.differences for it in results))


async def _run(
    environment: CorpusEnvironment, commands: list[CorpusCommand], *, is_direct: bool
) -> list[CorpusResult]:
    runner = CorpusRunner(environment)
    workspaces = Workspaces(environment.data_dir, choice="none" if is_direct else "auto")
    print(await workspaces.status(environment.template), flush=True)
    results: list[CorpusResult] = []
    try:
        for command in commands:
            if is_direct:
                results.append(await runner.compare_direct_runs(command))
            else:
                results.append(await runner.compare_with_workspace(command, workspaces))
            _print(results[-1])
    finally:
        await workspaces.close()
    return results


def _print(result: CorpusResult) -> None:
    kind = "awkward" if result.command.is_awkward else "ordinary"
    if result.differences or result.how in ("detected", "skipped"):
        print(f"{result.how}: {result.command.name!r} ({kind}) {result.reason}", flush=True)
        for line in result.differences[:3]:
            print(f"    {line[:220]}", flush=True)


def _print_summary(results: list[CorpusResult], seconds: float) -> None:
    for is_awkward, kind in ((False, "ordinary"), (True, "awkward")):
        chosen = [it for it in results if it.command.is_awkward == is_awkward]
        counts = Counter(it.how for it in chosen)
        different = sum(1 for it in chosen if it.differences)
        print(f"{kind}: {len(chosen)} commands, {dict(counts)}, {different} differ")
    print(f"{seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
