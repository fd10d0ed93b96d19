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
from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.command_rules import CommandRules
from kimi_tui.permission.file_bounds import FileBounds, may_name_folder
from kimi_tui.permission.known_programs import runs_anything, runs_nothing_else
from kimi_tui.permission.path_pattern import exact_path_of, folder_pattern_for, pattern_for
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
from kimi_tui.permission.rule_matching import allows_path, allows_web, mentions
from kimi_tui.permission.safe_options import grant_prefix
from kimi_tui.permission.secret_reads import named_files
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
from kimi_tui.permission.touched_files import Match
from kimi_tui.permission.writable_roots import (
    WorkingDir,
    WritableRoots,
)

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

    def with_dir(self, folder: Path) -> "RuleSet":
        """Return a copy for which `folder` is one of the additional directories."""
        return replace(self, additional_dirs=(*self.additional_dirs, folder))

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

    def needs_no_question(self, assessment: Assessment) -> bool:
        """Return whether a subject is allowed by a rule, or is a file that may be read without asking."""
        match assessment.subject:
            case PathSubject(path, writes=False) if not is_private(path):
                return self.may_read(path)
            case SearchSubject():
                return self.verdict(assessment) in ("allow", None)
            case _:
                return self.verdict(assessment) == "allow"

    def may_read(self, path: Path, *, within: Path | None = None) -> bool:
        """Return whether the file or directory `path` (links resolved) may be read without asking.

        `within` is a directory for whose files the user has been asked, unless a rule is about them.
        """
        match self.verdict(self.assess(PathSubject(path, writes=False))):
            case "allow":
                return True
            case None:
                if within is not None and path.is_relative_to(within):
                    return True
                return FileBounds(self._writable_roots, self.readable_dirs).contains(path)
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
    def commands(self) -> CommandRules:
        """The allow rules, for commands."""
        return CommandRules(self.allow, self._writable_roots, self.readable_dirs)

    def _match_rules(self, rules: tuple[Rule, ...], subject: Subject) -> Match:
        if not rules:
            return "no"
        matches = {mentions(rule, subject, self._writable_roots) for rule in rules}
        return "yes" if "yes" in matches else "maybe" if "maybe" in matches else "no"

    def _allows(self, assessment: Assessment) -> bool:
        match assessment.subject:
            case CommandSubject(line):
                return ExactCommand(line.text) in self.allow or (
                    not assessment.blocks_command_rules and self.commands.find_line_problem(line) is None
                )
            case PathSubject(path, writes, is_folder):
                target = path / "any" if is_folder else path
                return allows_path(self.allow, target, "Edit" if writes else "Read", self._writable_roots)
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

    def find_rules(self, assessment: Assessment) -> tuple[Rule, ...]:
        """Return the rules that decide about a subject; empty if none applies."""
        for rules in (self.deny, self.ask):
            matches = [mentions(rule, assessment.subject, self._writable_roots) for rule in rules]
            for match in ("yes", "maybe"):
                if match in matches:
                    return (rules[matches.index(match)],)
        if self.verdict(assessment) != "allow":
            return ()
        used = dict.fromkeys(self.allow)
        for rule in self.allow:  # leave out the rules that the verdict doesn't depend on
            others = tuple(each for each in used if each != rule)
            if replace(self, allow=others).verdict(assessment) == "allow":
                del used[rule]
        return tuple(used)

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
            if self.commands.find_execution_problem(command, folders) is not None:
                rule = self._propose_for_command(command, folders)
                if rule is None:
                    return None
                rules[rule] = None
            for redirection in command.redirections:
                if redirection.writes and not self.commands.allows_write(redirection.target, folders):
                    for path in self._writable_roots.resolve_word(redirection.target, folders) or ():
                        path_rule = self._propose_for_path(path, writes=True)
                        rules.update({} if path_rule is None else {path_rule: None})
        proposed = tuple(rules)
        return proposed if self.with_allowed(*proposed).commands.find_line_problem(line) is None else None

    def _propose_for_command(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> Rule | None:
        """Return a rule for `command`: with a wildcard if its options are known to be safe, else exact."""
        return next(
            (
                rule
                for rule in _candidate_rules(command)
                if self.with_allowed(rule).commands.find_execution_problem(command, folders) is None
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
        is_work_dir = root == roots.work_dir
        folder = PathRule("Edit", folder_pattern_for(path, root, is_work_dir=is_work_dir))
        if self._allows_file_in(path.parent, root):
            return folder
        return PathRule("Edit", pattern_for(path, root, is_work_dir=is_work_dir))

    def _allows_file_in(self, folder: Path, root: Path) -> bool:
        """Return whether a rule allows changes of a single file in `folder`, so that more are expected."""
        work_dir = self._writable_roots.work_dir
        return any(
            isinstance(rule, PathRule)
            and rule.access == "Edit"
            and (path := exact_path_of(rule.pattern, work_dir)) is not None
            and path.parent == folder
            and folder != root
            for rule in self.allow
        )


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
