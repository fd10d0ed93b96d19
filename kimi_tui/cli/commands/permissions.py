"""`kimi-tui permissions`: shows what the permission rules say about a command, a file or a page."""

from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.config.configured_rules import list_configured_rules
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.engine.build.initial_rules import initial_rules
from kimi_tui.permission.assessment import Assessment
from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.subject import CommandSubject, PathSubject, Subject, WebSubject
from kimi_tui.permission.web_domain import domain_of
from kimi_tui.tools.path_scope import PathScope

app = new_app("Show what the permission rules say about a command, file or page.")

_Command = Annotated[
    str | None, typer.Argument(metavar="CMD", help="Command line, as the agent would run it.")
]
_Read = Annotated[str | None, typer.Option("--read", metavar="FILE", help="Test reading FILE.")]
_Edit = Annotated[str | None, typer.Option("--edit", metavar="FILE", help="Test changing FILE.")]
_Fetch = Annotated[str | None, typer.Option("--fetch", metavar="URL", help="Test fetching URL.")]


@app.command("test")
def show_verdict(
    command: _Command = None, read: _Read = None, edit: _Edit = None, fetch: _Fetch = None
) -> int:
    """Show the verdict, the rule and the question. Exit with 4 unless the call is allowed."""
    rules = _read_rules()
    is_allowed = _print_verdict(rules, rules.assess(_parse_subject(command, read, edit, fetch)))
    return ExitCode.DONE if is_allowed else ExitCode.DENIED


@app.command("explain")
def explain_verdict(
    command: _Command = None, read: _Read = None, edit: _Edit = None, fetch: _Fetch = None
) -> None:
    """Show the verdict with its reasons: each command, and why no rule allows it."""
    rules = _read_rules()
    assessment = rules.assess(_parse_subject(command, read, edit, fetch))
    _print_verdict(rules, assessment)
    if isinstance(assessment.subject, CommandSubject):
        _print_commands(rules, assessment.subject)


@app.command("list")
def list_rules() -> None:
    """List the rules of the config files with their sources and dates."""
    work_dir = current_dir()
    config = read_config(data_dir=data_dir(), work_dir=work_dir)
    rules = list_configured_rules(config, data_dir=data_dir(), work_dir=work_dir)
    for rule in rules:
        place = f"{rule.place}:{rule.line}" if rule.line else rule.place
        date = rule.added or (f"file changed {rule.file_changed}" if rule.file_changed else "")
        print_line(f"{rule.list} {rule.rule} ({', '.join(each for each in (place, date) if each)})")
    if not rules:
        print_line("No permission rules configured.")


def _read_rules() -> RuleSet:
    work_dir = current_dir()
    settings = settings_of(read_config(data_dir=data_dir(), work_dir=work_dir))
    return initial_rules(settings.permissions, PathScope(work_dir))


def _parse_subject(command: str | None, read: str | None, edit: str | None, fetch: str | None) -> Subject:
    if sum(each is not None for each in (command, read, edit, fetch)) != 1:
        raise UsageError(
            "Give one command, or one of --read, --edit and --fetch.",
            hint="Write `kimi-tui permissions test 'git push'`, for example.",
        )
    if command is not None:
        return CommandSubject.parse(command)
    if fetch is not None:
        return WebSubject(domain_of(fetch) or fetch)
    path = (current_dir() / Path(read or edit or "").expanduser()).resolve()
    return PathSubject(path, writes=edit is not None)


def _print_verdict(rules: RuleSet, assessment: Assessment) -> bool:
    """Print verdict, rule and question. Return whether no question is needed."""
    is_denied = rules.verdict(assessment) == "deny"
    is_allowed = not is_denied and rules.needs_no_question(assessment)
    print_line("Verdict: denied" if is_denied else "Verdict: allowed" if is_allowed else "Verdict: asks")
    for rule in rules.find_rules(assessment):
        print_line(msg("Rule: {rule}", rule=rule))
    if not is_denied and not is_allowed:
        _print_question(rules, assessment)
    return is_allowed


def _print_question(rules: RuleSet, assessment: Assessment) -> None:
    if assessment.danger is not None:
        print_line(msg("Dangerous: {danger}", danger=assessment.danger))
    grant = " and ".join(map(str, rules.propose_grant(assessment)))
    if grant:
        print_line(msg("“Always allow” adds the rule {rule}", rule=grant))
    else:
        print_line("“Always allow” isn't offered.")


def _print_commands(rules: RuleSet, subject: CommandSubject) -> None:
    for command in subject.line.commands:
        print_line(msg("Runs: {command}", command=_format_command(command)))
    if subject.line.unparsable_reason:
        print_line(msg("It can't be parsed: {reason}.", reason=subject.line.unparsable_reason))
    elif (problem := rules.commands.find_line_problem(subject.line)) is not None:
        print_line(msg("No rule allows it: {reason}.", reason=problem))


def _format_command(command: SimpleCommand) -> str:
    assignments = (f"{each.name}={each.value.text}" for each in command.assignments)
    redirections = (f"{each.operator} {each.target.text}" for each in command.redirections)
    return " ".join((*assignments, *(word.text for word in command.words), *redirections))
