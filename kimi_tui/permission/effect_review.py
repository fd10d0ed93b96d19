"""Reviews the effects of a command that has run in a workspace: which ones need the user's consent."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.secret_paths import is_credential
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.file_bounds import FileBounds
from kimi_tui.permission.git_index import indexed_files
from kimi_tui.permission.git_later_programs import ChangedFile, find_later_programs
from kimi_tui.permission.named_files import expand_files
from kimi_tui.permission.path_pattern import pattern_for
from kimi_tui.permission.rule import PathRule, Rule
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.subject import PathSubject
from kimi_tui.permission.writable_roots import WritableRoots

ChangeKind = Literal["create", "modify", "delete", "attributes"]
_CACHE_FOLDERS = frozenset(
    {
        ".hypothesis", ".mypy_cache", ".nyc_output", ".parcel-cache", ".pytest_cache", ".ruff_cache",
        ".turbo", "__pycache__",
    }
)  # fmt: skip
_CACHE_FILES = frozenset({".coverage", ".eslintcache"})
_GIT_DATA = re.compile(
    r"(?:[A-Z_]+_HEAD|HEAD|ORIG_HEAD|AUTO_MERGE|index|packed-refs|shallow|sharedindex\.\w+|gc\.(?:log|pid)"
    r"|(?:COMMIT|TAG|NOTES|EDIT)_\w+|(?:MERGE|SQUASH)_(?:MSG|MODE|RR))(?:\.lock)?"
    r"|(?:refs|logs)/.+|objects/(?!info/).+|objects|refs|logs|rr-cache/.+|rr-cache|lfs/objects/.+"
)
"""What git itself writes in its directory, and what can't make it run programs or use another repository."""
_MAX_REVIEWED = 3_000
"""If there are more changes, each one needs consent that isn't denied."""
_MAX_GRANT_RULES = 4
_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/~-])/[^\s'\"`:*?<>|()\[\]{}]+")
_SHARED_TEMP = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - replaced by a private directory


@frozen
class PathChange:
    """What happens to a path if the effects are committed."""

    path: Path
    """Absolute, links in its parents resolved."""
    kind: ChangeKind
    is_folder: bool = False
    source: str = ""
    """Where the new content of a file or link can be read; empty if only attributes change."""
    is_link: bool = False


@frozen(kw_only=True)
class EffectReview:
    """Result of a review."""

    changes: tuple[PathChange, ...] = ()
    """The changes, without those that can be dropped."""
    uncovered: tuple[PathChange, ...] = ()
    """Those that neither a rule nor the permission mode allows."""
    denied: tuple[PathChange, ...] = ()
    """Those that a rule denies."""
    dropped: tuple[PathChange, ...] = ()
    """Changes in the caches of tools that nothing allows: they're discarded without a question."""
    secrets: tuple[Path, ...] = ()
    """Files that are likely to contain secrets, and that the command has read or may have shown."""
    n_network_attempts: int = 0
    danger: str | None = None
    """Why the changes are dangerous; None if they aren't."""

    @property
    def needs_consent(self) -> bool:
        """Whether the user has to decide."""
        return bool(self.uncovered or self.secrets or self.n_network_attempts)

    def without_changes(self) -> "EffectReview":
        """Return the review of a command whose changes are discarded anyway, as are its network attempts."""
        return replace(self, uncovered=(), denied=(), n_network_attempts=0, danger=None)


def review_changes(
    rules: RuleSet, changes: Sequence[PathChange], *, accepts_edits: bool, created: Collection[Path]
) -> EffectReview:
    """Return which of `changes` need consent. Blocks.

    `accepts_edits` is the permission mode: it allows changes of files in the session's directories that
    aren't protected, but deletes only files that the agent has `created`.
    """
    kept: list[PathChange] = []
    uncovered: list[PathChange] = []
    denied: list[PathChange] = []
    dropped: list[PathChange] = []
    later_programs = find_later_programs(changed_files(changes))
    dangers = list(later_programs.values())
    with_members = _folders_with_changes(changes)
    folders = [change for change in changes if change.is_folder and change.path in with_members]
    is_limited = len(changes) > _MAX_REVIEWED
    forbidding = replace(rules, allow=()) if is_limited else rules
    for change in changes:
        if change.is_folder and change.path in with_members:
            continue  # its members decide
        assessment = forbidding.assess(PathSubject(change.path))
        verdict = forbidding.verdict(assessment) if not is_limited or rules.deny else None
        is_accepted = (
            accepts_edits
            and not is_limited
            and verdict is None
            and assessment.danger is None
            and (change.kind != "delete" or change.path in created)
        )
        if verdict == "deny":
            denied.append(change)
        elif change.path in later_programs:
            kept.append(change)
            uncovered.append(change)
        elif verdict == "allow" or is_accepted:
            kept.append(change)
        elif verdict is None and is_cache(change.path):
            dropped.append(change)
        else:
            kept.append(change)
            uncovered.append(change)
            if assessment.danger and not is_git_data(change):
                dangers.append(assessment.danger)
    needed = _folders_with_changes(kept)
    for folder in folders:
        (kept if folder.path in needed else dropped).append(folder)
    return EffectReview(
        changes=tuple(kept),
        uncovered=tuple(uncovered),
        denied=tuple(denied),
        dropped=tuple(dropped),
        danger=dangers[0] if dangers else None,
    )


def propose_effect_grant(rules: RuleSet, review: EffectReview) -> tuple[Rule, ...]:
    """Return the `Edit` rules that would allow the uncovered changes; empty if only this once is possible."""
    if review.danger is not None or any(is_git_data(change) for change in review.uncovered):
        return ()
    proposed: dict[Rule, PathSubject] = {}
    allowing = rules
    new_folders = {each.path for each in review.changes if each.is_folder and each.kind == "create"}
    for change in review.uncovered:
        subject = PathSubject(change.path)
        if allowing.verdict(allowing.assess(subject)) == "allow":
            continue
        new = allowing.propose_grant(allowing.assess(subject))
        if created := _outermost_created(change.path, new_folders):
            rule = _rule_for_new_folder(created, rules)
            new = () if rule is None else (rule,)
        if not new:
            return ()
        proposed.update(dict.fromkeys(new, subject))
        allowing = allowing.with_allowed(*new)
        if len(proposed) > _MAX_GRANT_RULES:
            return ()
    return tuple(rule for rule in proposed if not _is_covered(rule, proposed, rules))


def _is_covered(rule: Rule, proposed: Mapping[Rule, PathSubject], rules: RuleSet) -> bool:
    """Return whether another proposed rule, such as one for the directory, covers the file of `rule`."""
    subject = rules.assess(proposed[rule])
    others = (each for each in proposed if each != rule)
    return any(rules.with_allowed(other).verdict(subject) == "allow" for other in others)


def find_outside_path(rules: RuleSet, line: BashCommandLine) -> str:
    """Return a file that `line` names, and that a command in a workspace can't see or change; empty if none.

    Blocks.
    """
    roots = WritableRoots.resolve(rules.work_dir, rules.additional_dirs)
    bounds = FileBounds(roots, rules.readable_dirs)
    folders = roots.working_dirs_of(line.commands)
    for command in (*line.commands, *line.suspects):
        for word in (*command.arguments, *(each.target for each in command.redirections)):
            for path in expand_files(word, folders) or ():
                if is_outside(path, bounds):
                    return str(path)
    return ""


def find_outside_path_in_text(rules: RuleSet, text: str) -> str:
    """Return an existing file outside the bounds that `text`, the output of a command, names. Blocks."""
    roots = WritableRoots.resolve(rules.work_dir, rules.additional_dirs)
    bounds = FileBounds(roots, rules.readable_dirs)
    names = dict.fromkeys(match.group().rstrip(".,:;'\")") for match in _ABSOLUTE_PATH.finditer(text))
    return next((name for name in names if is_outside(Path(name), bounds)), "")


def is_outside(path: Path, bounds: FileBounds) -> bool:
    """Return whether a file exists that is outside the bounds, or could be created there."""
    try:
        real = Path(os.path.realpath(path))
        if bounds.contains(real) or real == Path("/"):
            return False
        if real in _SHARED_TEMP or real.parent in _SHARED_TEMP:
            return real not in _SHARED_TEMP and os.path.lexists(real)
        return os.path.lexists(real) or (real.parent != Path("/") and real.parent.is_dir())
    except (OSError, ValueError):
        return False


def find_tracked_credentials(rules: RuleSet, line: BashCommandLine) -> tuple[Path, ...]:
    """Return the credentials that git commands of `line` may show from the repository. Blocks."""
    roots = WritableRoots.resolve(rules.work_dir, rules.additional_dirs)
    folders = roots.working_dirs_of(line.commands)
    found = {
        path: None
        for command in (*line.commands, *line.suspects)
        for path in indexed_files(command, folders)
        if is_credential(path.name)
    }
    return tuple(path for path in found if needs_consent_to_read(rules, path))


def needs_consent_to_read(rules: RuleSet, path: Path) -> bool:
    """Return whether a file that is likely to contain secrets may not be shown to the model unasked."""
    real = Path(os.path.realpath(path))
    return rules.verdict(rules.assess(PathSubject(real, writes=False))) != "allow"


def is_cache(path: Path) -> bool:
    """Return whether `path` is in a directory in which tools keep what they can compute again."""
    return not _CACHE_FOLDERS.isdisjoint(path.parts) or path.name in _CACHE_FILES or _is_temporary(path.name)


def is_git_data(change: PathChange) -> bool:
    """Return whether a change is to data in a git directory. Such changes aren't listed individually."""
    parts = change.path.parts
    if ".git" not in parts or change.is_link:
        return False
    inside = parts[parts.index(".git") + 1 :]
    return bool(inside) and _GIT_DATA.fullmatch("/".join(inside)) is not None


def changed_files(changes: Iterable[PathChange]) -> list[ChangedFile]:
    """Return the files and links that are changed, with their new content, and the new directories."""
    return [
        ChangedFile(change.path, change.source, is_link=change.is_link, is_folder=change.is_folder)
        for change in changes
        if change.source or (change.is_folder and change.kind == "create")
    ]


def _is_temporary(name: str) -> bool:
    return name.startswith(".coverage.")


def _folders_with_changes(changes: Iterable[PathChange]) -> set[Path]:
    """Return the directories that contain a change."""
    folders: set[Path] = set()
    for change in changes:
        for parent in change.path.parents:
            if parent in folders:
                break
            folders.add(parent)
    return folders


def _outermost_created(path: Path, new_folders: Collection[Path]) -> Path | None:
    """Return the outermost directory of `path`, or `path` itself, that the command has created."""
    return next((each for each in (*reversed(path.parents), path) if each in new_folders), None)


def _rule_for_new_folder(path: Path, rules: RuleSet) -> Rule | None:
    root = Path(os.path.realpath(rules.work_dir))
    if not path.is_relative_to(root):
        return None
    return PathRule("Edit", pattern_for(path, root, is_work_dir=True).removeprefix("./") + "/**")
