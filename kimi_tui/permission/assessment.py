"""Assessment of a permission request's subject: how dangerous it is, whatever the rules say."""

from typing import assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.danger import (
    danger_of_commands,
    danger_of_deception,
    danger_of_redirections,
    danger_of_write,
)
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
from kimi_tui.permission.writable_roots import WritableRoots


@frozen
class Assessment:
    """A subject and its danger. Each is computed once per request; rules and permission mode rely on it."""

    subject: Subject
    danger: str | None = None
    """A short reason why acting on the subject is dangerous; None if no danger is known."""
    blocks_command_rules: bool = False
    """Whether the danger is in the programs that a command runs. No rule for a program allows it then."""


def assess(subject: Subject, writable_roots: WritableRoots) -> Assessment:
    """Return the assessment of `subject` in a session that may change `writable_roots`."""
    match subject:
        case CommandSubject(line):
            if (danger := danger_of_commands(line, writable_roots)) is not None:
                return Assessment(subject, danger, blocks_command_rules=True)
            return Assessment(
                subject, danger_of_redirections(line, writable_roots) or danger_of_deception(line)
            )
        case PathSubject(path, writes, _):
            return Assessment(subject, danger_of_write(path, writable_roots) if writes else None)
        case McpSubject() | TaskSubject() | ToolSubject() | WebSubject() | SearchSubject():
            return Assessment(subject)
        case _:
            assert_never(subject)
