"""Which commands rules allow, and why they don't allow a command."""

from dataclasses import replace
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.bulk_writes import may_overwrite_control_files
from kimi_tui.permission.file_bounds import FileBounds
from kimi_tui.permission.git_repository_scope import git_stays_in_work_dir
from kimi_tui.permission.read_only_commands import is_read_only_command
from kimi_tui.permission.rule import CommandPrefix, ExactCommand, PathRule, Rule
from kimi_tui.permission.rule_coverage import find_coverage_problem
from kimi_tui.permission.rule_matching import allows_path, names_command
from kimi_tui.permission.secret_reads import may_create_secrets, may_show_secrets
from kimi_tui.permission.writable_roots import (
    WorkingDir,
    WritableRoots,
    is_harmless_device,
    may_be_network_file,
)
from kimi_tui.permission.write_targets import write_targets


@frozen
class CommandRules:
    """Allow rules, applied to commands."""

    rules: tuple[Rule, ...]
    writable_roots: WritableRoots
    readable_dirs: tuple[Path, ...] = ()

    @property
    def _bounds(self) -> FileBounds:
        patterns = (
            rule.pattern for rule in self.rules if isinstance(rule, PathRule) and rule.access == "Read"
        )
        return FileBounds(self.writable_roots, self.readable_dirs, tuple(patterns))

    def find_line_problem(self, line: BashCommandLine) -> str | None:
        """Return why the rules don't allow all that `line` runs, ignoring dangers; None if they do."""
        if not line.commands:
            return line.unparsable_reason or msg("it is empty")
        if not git_stays_in_work_dir(line.commands, self.writable_roots, is_read_only_command):
            return msg("git could run programs from a repository's configuration")
        folders = self.writable_roots.working_dirs_of(line.commands)
        if not all(map(is_read_only_command, line.commands)) and may_create_secrets(line.commands, folders):
            return msg("it may show a secret that it creates first")
        problems = (self._find_command_problem(command, folders) for command in line.commands)
        return next((problem for problem in problems if problem is not None), None)

    def _find_command_problem(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> str | None:
        inputs = [each.target for each in command.redirections if each.reads]
        if any(map(may_be_network_file, inputs)):
            return msg("its input may come from the network")
        if not self._bounds.contain_words(inputs, folders):
            return msg("its input is outside the directories that a rule with * covers")
        if command.redirections and self._may_show_secrets(
            replace(command, words=command.words[:1]), folders
        ):
            return msg("its input is likely to contain secrets")
        for each in command.redirections:
            if each.writes and not self.allows_write(each.target, folders):
                return msg("no Edit rule covers {path}", path=each.target.text)
        return self.find_execution_problem(command, folders)

    def find_execution_problem(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> str | None:
        """Return why the rules don't allow `command`, without its redirections; None if they do."""
        if not command.words:
            is_harmless = all(each.is_harmless for each in command.assignments)
            return None if is_harmless else msg("it sets variables that change other commands")
        if command.head is None:
            return msg("{argument} isn't known before the command runs", argument=command.words[0].text)
        outside = next(
            (word for word in write_targets(command) if not self.writable_roots.may_write(word, folders)),
            None,
        )
        if outside is not None:
            return msg("it may write {path}, which needs an exact rule", path=outside.text)
        if "/" in command.head and not command.head.startswith("/") and len(folders) > 1:
            return msg("after cd, {program} may be another program", program=command.head)
        return self._find_rule_problem(command, folders)

    def _find_rule_problem(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> str | None:
        rules = [
            rule
            for rule in self.rules
            if isinstance(rule, CommandPrefix | ExactCommand) and names_command(rule, command)
        ]
        if any(isinstance(rule, ExactCommand) for rule in rules):
            return None
        if not rules:
            return msg("no rule covers {command}", command=" ".join(word.text for word in command.words))
        leaves_roots = command.program == "cd" and not all(
            folder and self.writable_roots.contains(folder) for folder in folders
        )
        if leaves_roots:
            return msg("it leaves the working directory")
        if may_overwrite_control_files(command, folders, self.writable_roots):
            return msg("it may overwrite files of git or kimi-tui")
        if self._may_show_secrets(command, folders):
            return msg("it may show files that are likely to contain secrets")
        problems = [
            find_coverage_problem(command, len(rule.words), self._bounds, folders)
            for rule in rules
            if isinstance(rule, CommandPrefix)
        ]
        return None if None in problems else problems[0]

    def _may_show_secrets(self, command: SimpleCommand, folders: tuple[WorkingDir, ...]) -> bool:
        return may_show_secrets(
            command, folders, may_read=lambda path: allows_path(self.rules, path, "Read", self.writable_roots)
        )

    def allows_write(self, word: Word, folders: tuple[WorkingDir, ...]) -> bool:
        """Return whether the rules allow a redirection to `word`."""
        if is_harmless_device(word):
            return True
        targets = (
            self.writable_roots.resolve_word(word, folders)
            if word.is_literal or word.text.startswith("~")
            else None
        )
        return targets is not None and all(
            allows_path(self.rules, path, "Edit", self.writable_roots) for path in targets
        )
