"""Selection of the steps of a plan that are still possible, before the first step is run."""

import contextlib
from collections.abc import Collection, Mapping, Sequence

from kimi_tui.history.snapshots.dir_handles import PathRejected
from kimi_tui.history.snapshots.entry import Changes, parents_of
from kimi_tui.history.snapshots.file_writer import WriteTarget
from kimi_tui.history.snapshots.plan_step_runner import PlanStep, kind_of


def find_occupied_folders(
    target: WriteTarget, steps: Sequence[PlanStep], whole_folders: Collection[str]
) -> set[str]:
    """Return the directories that `steps` can't replace with files, since something else is in them.

    Such content isn't covered, or was created since the plan. `whole_folders` are renamed with everything in
    them.
    """
    replaced = {
        step.path
        for step in steps
        if step.writes_file and kind_of(step.now) == "folder" and step.path not in whole_folders
    }
    if not replaced:
        return set()
    paths = {step.path for step in steps}
    occupied: set[str] = set()
    with target.open_writer() as writer:
        for step in steps:
            inside = replaced.intersection((step.path, *parents_of(step.path)))
            if inside and kind_of(step.now) == "folder":
                with contextlib.suppress(OSError, PathRejected):
                    if any(f"{step.path}/{name}" not in paths for name in writer.names_in(step.path)):
                        occupied |= inside
    return occupied


def select_possible(
    steps: list[PlanStep], sources: Mapping[str, str], failed: dict[str, str], current_entries: Changes
) -> list[PlanStep]:
    """Return the steps that are still possible although others have failed. Add the rest to `failed`."""
    n_failed = -1
    while len(failed) > n_failed:
        n_failed = len(failed)
        steps = _without_broken_renames(steps, failed)
        steps = _without_uncarried(steps, sources, failed)
        steps = _without_blocked(steps, failed, current_entries)
    return steps


def _without_blocked(
    steps: list[PlanStep], failed: dict[str, str], current_entries: Changes
) -> list[PlanStep]:
    """Return `steps` without the blocked steps; add these to `failed`.

    A step is blocked if it replaces a directory with a file although something in the directory stays, or if
    it creates something below a file that stays.
    """
    staying = [path for path in failed if current_entries.get(path) is not None]
    needed = {parent: path for path in staying for parent in parents_of(path)}
    files = {path for path in staying if kind_of(current_entries[path]) != "folder"}
    for step in steps:
        if step.writes_file and kind_of(step.now) == "folder" and step.path in needed:
            failed[step.path] = failed[needed[step.path]]
        elif step.then is not None and (blocking := files.intersection(parents_of(step.path))):
            failed[step.path] = failed[blocking.pop()]
    return [step for step in steps if step.path not in failed]


def _without_broken_renames(steps: list[PlanStep], failed: dict[str, str]) -> list[PlanStep]:
    """Return `steps` without renames of files that failed at the other path; add these to `failed`."""
    for step in steps:
        other = step.renamed_from or step.renamed_to
        if other in failed and kind_of(step.source if step.renamed_from else step.now) != "folder":
            failed[step.path] = failed[other]
    return [step for step in steps if step.path not in failed]


def _without_uncarried(
    steps: list[PlanStep], sources: Mapping[str, str], failed: dict[str, str]
) -> list[PlanStep]:
    """Return `steps` without those that need a failed step at another path; add these to `failed`.

    A step needs the step that writes its content at another path. A step that writes content from another
    path, one of the `sources`, needs the step that removes the content there.
    """
    while broken := [
        step for step in steps if step.destination in failed or sources.get(step.path) in failed
    ]:
        for step in broken:
            other = step.destination if step.destination in failed else sources[step.path]
            failed[step.path] = failed[other]
        steps = [step for step in steps if step.path not in failed]
    return steps
