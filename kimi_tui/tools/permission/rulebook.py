"""The rules of a session: what they say of an act, and which rule would allow it."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, assert_never

from kimi_tui.base.errors import ConfigError
from kimi_tui.tools.approval import CommandSubject, McpSubject, PathSubject, Subject, TaskSubject, ToolSubject
from kimi_tui.tools.permission.carrying import may_replace_own_files
from kimi_tui.tools.permission.command_line import CommandLine, parse_command
from kimi_tui.tools.permission.danger import danger_of, danger_of_commands
from kimi_tui.tools.permission.matching import Likelihood, allows, speaks_of
from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.path_pattern import folder_pattern_for, matches, names, pattern_for
from kimi_tui.tools.permission.places import (
    Folder,
    Places,
    is_harmless_device,
    may_be_network_file,
    protection_of,
)
from kimi_tui.tools.permission.programs import grant_prefix, runs_anything, stands_alone
from kimi_tui.tools.permission.reading import part_only_reads
from kimi_tui.tools.permission.repositories import git_stays_home
from kimi_tui.tools.permission.rule import (
    SAMPLING,
    CommandPrefix,
    ExactCommand,
    McpRule,
    PathRule,
    Rule,
    ToolRule,
    exact_text,
)
from kimi_tui.tools.permission.secret_files import may_show_secrets, names_secrets_to_come
from kimi_tui.tools.permission.writes import written_words

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules in force: deny wins over ask, ask over allow. Raises ConfigError for one that allows too much."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    work_dir: Path = field(kw_only=True)
    additional_dirs: tuple[Path, ...] = field(default=(), kw_only=True)
    _places: Places = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", Places.of(self.work_dir, self.additional_dirs))
        for rule in self.allow:
            if isinstance(rule, CommandPrefix) and runs_anything(rule.words):
                raise ConfigError(
                    f"The rule {rule} would allow any program to run.",
                    hint="Name what may run, as in Bash(python -m pytest *) or Bash(npm run test *).",
                )

    def with_allowed(self, *rules: Rule) -> "RuleBook":
        """The same book with `rules` allowed too. Raises ConfigError."""
        return replace(self, allow=tuple(dict.fromkeys((*self.allow, *rules))))

    def verdict(self, subject: Subject) -> Verdict | None:
        """What the rules say of `subject`; None when they are silent.

        What may turn out to be forbidden only while it runs is to be asked.
        """
        denied, asked = self._spoken_of(self.deny, subject), self._spoken_of(self.ask, subject)
        if denied == "yes":
            return "deny"
        if denied == "maybe" or asked != "no":
            return "ask"
        return "allow" if self._allows(subject) else None

    def grant_for(self, subject: Subject) -> tuple[Rule, ...]:
        """The rules that would allow acts like `subject`; none when they must be asked for each time."""
        if danger_of(subject, work_dir=self.work_dir, additional_dirs=self.additional_dirs) is not None:
            return ()
        rules = self._proposed(subject)
        return rules if rules and self.with_allowed(*rules).verdict(subject) == "allow" else ()

    def _spoken_of(self, rules: tuple[Rule, ...], subject: Subject) -> Likelihood:
        if not rules:
            return "no"
        answers = {speaks_of(rule, subject, self._places) for rule in rules}
        return "yes" if "yes" in answers else "maybe" if "maybe" in answers else "no"

    def _allows(self, subject: Subject) -> bool:
        match subject:
            case CommandSubject(command):
                return ExactCommand(command) in self.allow or self._allows_line(parse_command(command))
            case PathSubject(path, writes):
                return self._allows_path(path, "Edit" if writes else "Read")
            case McpSubject(server, tool):
                every_tool = tool != SAMPLING and McpRule(server, "*") in self.allow
                return every_tool or McpRule(server, tool) in self.allow
            case ToolSubject(tool):
                return ToolRule(tool) in self.allow
            case TaskSubject():
                return False
            case _:
                assert_never(subject)

    def _allows_line(self, line: CommandLine) -> bool:
        if not line.parts or danger_of_commands(line, self._places) is not None:
            return False
        if not git_stays_home(line.parts, self._places, part_only_reads):
            return False
        folders = self._places.folders_of(line.parts)
        if not all(map(part_only_reads, line.parts)) and names_secrets_to_come(line.parts, folders):
            return False
        return all(self._allows_part(part, folders) for part in line.parts)

    def _allows_part(self, part: Part, folders: tuple[Folder, ...]) -> bool:
        if any(each.reads and may_be_network_file(each.target) for each in part.redirections):
            return False
        if part.redirections and self._shows_secrets(replace(part, words=part.words[:1]), folders):
            return False
        return self._allows_running(part, folders) and all(
            self._allows_writing(each.target, folders) for each in part.redirections if each.writes
        )

    def _allows_running(self, part: Part, folders: tuple[Folder, ...]) -> bool:
        if not part.words:
            return all(each.is_harmless for each in part.assignments)
        if part.head is None or not all(
            self._places.writes_freely(word, folders) for word in written_words(part)
        ):
            return False
        if "/" in part.head and not part.head.startswith("/") and len(folders) > 1:
            return False  # after a cd it is another file
        leaves = part.program == "cd" and not all(folder and self._places.holds(folder) for folder in folders)
        exactly = (
            leaves or may_replace_own_files(part, folders, self._places) or self._shows_secrets(part, folders)
        )
        kinds = ExactCommand if exactly else CommandPrefix | ExactCommand
        return any(isinstance(rule, kinds) and allows(rule, part) for rule in self.allow)

    def _shows_secrets(self, part: Part, folders: tuple[Folder, ...]) -> bool:
        return may_show_secrets(part, folders, consented=lambda path: self._allows_path(path, "Read"))

    def _allows_writing(self, word: Word, folders: tuple[Folder, ...]) -> bool:
        if is_harmless_device(word):
            return True
        targets = (
            self._places.targets(word, folders) if word.is_literal or word.text.startswith("~") else None
        )
        return targets is not None and all(self._allows_path(path, "Edit") for path in targets)

    def _allows_path(self, path: Path, access: Literal["Edit", "Read"]) -> bool:
        decide = names if access == "Edit" and protection_of(path) else matches
        return any(
            isinstance(rule, PathRule)
            and rule.access == access
            and decide(rule.pattern, path, self._places.work_dir)
            for rule in self.allow
        )

    def _proposed(self, subject: Subject) -> tuple[Rule, ...]:
        match subject:
            case CommandSubject(command):
                line = parse_command(command)
                if not line.parts:
                    return ()
                return self._proposed_for_line(line) or (ExactCommand(command),)
            case PathSubject(path, writes):
                rule = self._proposed_for_path(path, writes=writes)
                return () if rule is None else (rule,)
            case McpSubject(server, tool):
                return (McpRule(server, tool),)
            case ToolSubject(tool):
                return (ToolRule(tool),)
            case TaskSubject():
                return ()
            case _:
                assert_never(subject)

    def _proposed_for_line(self, line: CommandLine) -> tuple[Rule, ...] | None:
        """A rule for each part that none covers yet; None when a part can't be allowed by itself."""
        folders = self._places.folders_of(line.parts)
        rules: dict[Rule, None] = {}
        for part in line.parts:
            if not self._allows_running(part, folders):
                rule = _rule_for(part)
                if rule is None:
                    return None
                rules[rule] = None
            for redirection in part.redirections:
                if redirection.writes and not self._allows_writing(redirection.target, folders):
                    for path in self._places.targets(redirection.target, folders) or ():
                        written = self._proposed_for_path(path, writes=True)
                        rules.update({} if written is None else {written: None})
        proposed = tuple(rules)
        return proposed if self.with_allowed(*proposed)._allows_line(line) else None

    def _proposed_for_path(self, path: Path, *, writes: bool) -> Rule | None:
        places = self._places
        root = next(
            (each for each in (places.work_dir, *places.additional_dirs) if path.is_relative_to(each)), None
        )
        inside = root is not None and path != root
        if not writes:
            base = root if root is not None and inside else Path("/")
            return PathRule("Read", pattern_for(path, base, is_work_dir=base == places.work_dir))
        if root is None or not inside:
            return None
        return PathRule("Edit", folder_pattern_for(path, root, is_work_dir=root == places.work_dir))


def _rule_for(part: Part) -> Rule | None:
    """The narrowest useful rule for what `part` runs."""
    special = part.special_assignments
    if not part.words or not all(each.value.is_literal and not each.appends for each in special):
        return None
    prefix = grant_prefix(part.words)
    if prefix is not None:
        return CommandPrefix(prefix, tuple((each.name, each.value.text) for each in special))
    if not stands_alone(part) or not all(word.is_literal for word in part.words):
        return None
    return ExactCommand(exact_text(part))
