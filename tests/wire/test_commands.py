"""Commands carry how the engine schedules them, outside of their JSON form."""

from typing import get_args

import pytest

from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.wire.base_command import BaseCommand
from kimi_tui.wire.commands import Command, Redo, Revert, RunShell, SwitchBranch, Undo


@pytest.mark.parametrize("command", get_args(Command))
def test_every_command_says_how_it_is_scheduled(command: type) -> None:
    assert issubclass(command, BaseCommand)


def test_the_json_form_of_a_command_has_its_fields_only() -> None:
    assert to_jsonable(Undo(("a.py",))) == {"paths": ["a.py"], "choices": []}
    assert to_jsonable(RunShell("1", "ls")) == {"id": "1", "command": "ls", "on_terminal": False}


@pytest.mark.parametrize("command", [Revert(1), Undo(), Redo(), SwitchBranch(1)])
def test_what_moves_the_conversation_needs_an_idle_session(command: BaseCommand) -> None:
    assert command.needs_idle
    assert command.scheduling == "revert"


def test_only_a_shell_command_on_the_terminal_delays_other_commands() -> None:
    assert RunShell("1", "ls").scheduling == "concurrent"
    assert RunShell("1", "vi", on_terminal=True).scheduling == "in_order"
