"""The rules of a session: their verdict on an operation, and the rules that would allow it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, assert_never

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.base.secret_paths import is_private
from kimi_tui.permission.assessment import Assessment, assess
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.bulk_writes import may_overwrite_control_files
from kimi_tui.permission.file_bounds import FileBounds, may_name_folder
from kimi_tui.permission.git_repository_scope import git_stays_in_work_dir
from kimi_tui.permission.known_programs import runs_anything, runs_nothing_else
from kimi_tui.permission.path_pattern import folder_pattern_for, is_exact, matches_path, pattern_for
from kimi_tui.permission.read_only_commands import is_read_only_command
from kimi_tui.permission.rule import (
    SAMPLING,
    CommandPrefix,
    ExactCommand,
    McpRule,
    PathRule,
    Rule,
    ToolRule,
    WebRule,
    format_exact,
)
from kimi_tui.permission.rule_matching import Match, allows, allows_web, mentions
from kimi_tui.permission.safe_options import grant_prefix
from kimi_tui.permission.secret_reads import may_create_secrets, may_show_secrets, named_files
from kimi_tui.permission.subject import (
    CommandSubject,
    McpSubject,
    PathSubject,
    SearchSubject,
    Subject,
    TaskSubject,
    ToolSubject,
    WebSubject,
)
from kimi_tui.permission.writable_roots import (
    WorkingDir,
    WritableRoots,
    is_harmless_device,
    may_be_network_file,
    protected_reason,
)
from kimi_tui.permission.write_targets import write_targets

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Permission rules in force. Deny wins over ask, ask over allow.

    Raises ConfigError for an allow rule that would allow any program.
    """

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    work_dir: Path = field(kw_only=True)
    additional_dirs: tuple[Path, ...] = field(default=(), kw_only=True)
    readable_dirs: tuple[Path, ...] = field(default=(), kw_only=True)
    """Directories with files that the session shows the model, such as skills and the output of commands."""
    _writable_roots: WritableRoots = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_writable_roots", WritableRoots.resolve(self.work_dir, self.additional_dirs)
        )
        for rule in self.allow:
            if isinstance(rule, CommandPrefix) and runs_anything(rule.words):
                raise ConfigError(
                    msg("The rule {rule} would allow any program to run.", rule=rule),
                    hint="Name the program, as in Bash(python -m pytest *) or Bash(npm run test *).",
                )

    def with_allowed(self, *rules: Rule) -> "RuleSet":
        """Return a copy that also allows `rules`. Raises ConfigError."""
        return replace(self, allow=tuple(dict.fromkeys((*self.allow, *rules))))

    def assess(self, subject: Subject) -> Assessment:
        """Return `subject` with its danger, for `verdict` and `propose_grant`."""
        return assess(subject, self._writable_roots)

    def verdict(self, assessment: Assessment) -> Verdict | None:
        """Return what the rules say about a subject; None if no rule applies.

        If it depends on run time whether a deny rule applies, the verdict is "ask".
        """
        subject = assessment.subject
        deny_match, ask_match = self._match_rules(self.deny, subject), self._match_rules(self.ask, subject)
        if deny_match == "yes":
            return "deny"
        if deny_match == "maybe" or ask_match != "no":
            return "ask"
        return "allow" if self._allows(assessment) else None

    def may_read(self, path: Path) -> bool:
        """Return whether the file or directory `path` (links resolved) may be read without asking."""
        match self.verdict(self.assess(PathSubject(path, writes=False))):
            case "allow":
                return True
            case None:
                return self._bounds.contains(path)
            case _:
                return False

    def find_sensitive_reads(self, subject: Subject) -> tuple[Path, ...]:
        """Return the files with secrets or outside the bounds that acting on `subject` may show the model."""
        match subject:
            case PathSubject(path, writes=False):
                return () if self._is_harmless_to_read(path) else (path,)
            case CommandSubject(line):
                folders = self._writable_roots.working_dirs_of(line.commands)
                named = (path for command in line.commands for path in named_files(command, folders))
                return tuple(path for path in named if not self._is_harmless_to_read(path))
            case _:
                return ()

    def _is_harmless_to_read(self, path: Path) -> bool:
        inside = FileBounds(self._writable_roots, self.readable_dirs).contains(path)
        return inside and not is_private(path)

    def propose_grant(self, assessment: Assessment) -> tuple[Rule, ...]:
        """Return the rules that would allow operations like this one; empty if each one needs approval."""
        if assessment.danger is not None:
            return ()
        rules = self._propose_rules(assessment.subject)
        return rules if rules and self.with_allowed(*rules).verdict(assessment) == "allow" else ()

    @property
    def _bounds(self) -> FileBounds:
        patterns = (
            rule.pattern for rule in self.allow if isinstance(rule, PathRule) and rule.access == "Read"
        )
        return FileBounds(self._writable_roots, self.readable_dirs, tuple(patterns))

    def _match_rules(self, rules: tuple[Rule, ...], subject: Subject) -> Match:
        if not rules:
            return "no"
        matches = {mentions(rule, subject, self._writable_roots) for rule in rules}
        return "yes" if "yes" in matches else "maybe" if "maybe" in matches else "no"

    def _allows(self, assessment: Assessment) -> bool:
        match assessment.subject:
            case CommandSubject(line):
                return ExactCommand(line.text) in self.allow or (
                    not assessment.blocks_command_rules and self._allows_line(line)
                )
            case PathSubject(path, writes, is_folder):
                target = path / "any" if is_folder else path
                return self._allows_path(target, "Edit" if writes else "Read")
            case McpSubject(server, tool):
                allows_all_tools = tool != SAMPLING and McpRule(server, "*") in self.allow
                return allows_all_tools or McpRule(server, tool) in self.allow
            case ToolSubject(tool):
                return ToolRule(tool) in self.allow
            case WebSubject() | SearchSubject():
                return allows_web(self.allow, assessment.subject)
            case TaskSubject():
                return False
            case _:
                assert_never(assessment.subject)

    def _allows_line(self, line: BashCommandLine) -> bool:
        """Return whether rules allow all that `line` runs, reads and writes. It isn't dangerous."""
        if not line.commands:
            return False
        if not git_stays_in_work_dir(line.commands, self._writable_roots, is_read_only_command):
            return False
        folders = self._writable_roots.working_dirs_of(line.commands)
        if not all(map(is_read_only_command, line.commands)) and may_create_secrets(line.commands, folders):
            return False
        return all(self._allows_command(command, folders) for command in line.commands)

    def _allows_command(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> bool:
        inputs = [each.target for each in command.redirections if each.reads]
        if any(map(may_be_network_file, inputs)) or not self._bounds.contain_words(inputs, folders):
            return False
        if command.redirections and self._may_show_secrets(
            replace(command, words=command.words[:1]), folders
        ):
            return False
        return self._allows_execution(command, folders) and all(
            self._allows_write(each.target, folders) for each in command.redirections if each.writes
        )

    def _allows_execution(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> bool:
        if not command.words:
            return all(each.is_harmless for each in command.assignments)
        if command.head is None or not all(
            self._writable_roots.may_write(word, folders) for word in write_targets(command)
        ):
            return False
        if "/" in command.head and not command.head.startswith("/") and len(folders) > 1:
            return False  # after a cd, the relative path names another file
        leaves_roots = command.program == "cd" and not all(
            folder and self._writable_roots.contains(folder) for folder in folders
        )
        needs_exact_rule = (
            leaves_roots
            or may_overwrite_control_files(command, folders, self._writable_roots)
            or self._may_show_secrets(command, folders)
        )
        kinds = ExactCommand if needs_exact_rule else CommandPrefix | ExactCommand
        return any(
            isinstance(rule, kinds) and allows(rule, command, self._bounds, folders) for rule in self.allow
        )

    def _may_show_secrets(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> bool:
        return may_show_secrets(command, folders, may_read=lambda path: self._allows_path(path, "Read"))

    def _allows_write(self, word: Word, folders: tuple[WorkingDir, ...]) -> bool:
        if is_harmless_device(word):
            return True
        targets = (
            self._writable_roots.resolve_word(word, folders)
            if word.is_literal or word.text.startswith("~")
            else None
        )
        return targets is not None and all(self._allows_path(path, "Edit") for path in targets)

    def _allows_path(self, path: Path, access: Literal["Edit", "Read"]) -> bool:
        matches = is_exact if access == "Edit" and protected_reason(path) else matches_path
        is_secret_elsewhere = (
            access == "Read" and is_private(path) and not self._writable_roots.contains(path)
        )
        return any(
            isinstance(rule, PathRule)
            and rule.access == access
            and not (is_secret_elsewhere and rule.pattern.endswith("*"))
            and matches(rule.pattern, path, self._writable_roots.work_dir)
            for rule in self.allow
        )

    def _propose_rules(self, subject: Subject) -> tuple[Rule, ...]:
        match subject:
            case CommandSubject(line):
                if not line.commands:
                    return ()
                return self._propose_for_line(line) or (ExactCommand(line.text),)
            case PathSubject(path, writes, is_folder):
                rule = self._propose_for_path(path / "any" if is_folder else path, writes=writes)
                return () if rule is None else (rule,)
            case McpSubject(server, tool):
                return (McpRule(server, tool),)
            case ToolSubject(tool):
                return (ToolRule(tool),)
            case WebSubject(domain):
                return (WebRule(domain),)
            case TaskSubject() | SearchSubject():
                return ()
            case _:
                assert_never(subject)

    def _propose_for_line(self, line: BashCommandLine) -> tuple[Rule, ...] | None:
        """Return a rule for each command not yet allowed; None if a command can't be allowed on its own."""
        folders = self._writable_roots.working_dirs_of(line.commands)
        rules: dict[Rule, None] = {}
        for command in line.commands:
            if not self._allows_execution(command, folders):
                rule = self._propose_for_command(command, folders)
                if rule is None:
                    return None
                rules[rule] = None
            for redirection in command.redirections:
                if redirection.writes and not self._allows_write(redirection.target, folders):
                    for path in self._writable_roots.resolve_word(redirection.target, folders) or ():
                        path_rule = self._propose_for_path(path, writes=True)
                        rules.update({} if path_rule is None else {path_rule: None})
        proposed = tuple(rules)
        return proposed if self.with_allowed(*proposed)._allows_line(line) else None

    def _propose_for_command(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> Rule | None:
        """Return a rule for `command`: with a wildcard if its options are known to be safe, else exact."""
        return next(
            (
                rule
                for rule in _candidate_rules(command)
                if self.with_allowed(rule)._allows_execution(command, folders)
            ),
            None,
        )

    def _propose_for_path(self, path: Path, *, writes: bool) -> Rule | None:
        roots = self._writable_roots
        root = next(
            (each for each in (roots.work_dir, *roots.additional_dirs) if path.is_relative_to(each)), None
        )
        is_inside = root is not None and path != root
        if not writes:
            if not is_private(path) and may_name_folder(path, roots):
                return PathRule("Read", folder_pattern_for(path, Path("/"), is_work_dir=False))
            base = root if root is not None and is_inside else Path("/")
            return PathRule("Read", pattern_for(path, base, is_work_dir=base == roots.work_dir))
        if root is None or not is_inside:
            return None
        return PathRule("Edit", folder_pattern_for(path, root, is_work_dir=root == roots.work_dir))


def _candidate_rules(command: SimpleCommand) -> Iterable[CommandPrefix | ExactCommand]:
    """Yield the rules that may cover what `command` runs, the most useful one first."""
    special = command.special_assignments
    if not command.words or not all(each.value.is_literal and not each.appends for each in special):
        return
    prefix = grant_prefix(command)
    if prefix is not None and not runs_anything(prefix):
        yield CommandPrefix(prefix, tuple((each.name, each.value.text) for each in special))
    if runs_nothing_else(command) and all(word.is_literal for word in command.words):
        yield ExactCommand(format_exact(command))
