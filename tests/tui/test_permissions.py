"""Permissions dialog: rules with their sources, revoking, editing, and confirming earlier grants."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.dialogs.permissions import PermissionsDialog
from kimi_tui.tui.screen.main_screen import MainScreen
from kimi_tui.wire.permissions import (
    ChangePermission,
    ConfirmGrants,
    ListPermissions,
    PermissionChanged,
    PermissionList,
    PermissionRule,
)
from tests.tui.conftest import AppHarness

FILE = "/home/me/.kimi-tui/config.toml"
PUSH = PermissionRule(
    list="deny", rule="Bash(git push *)", source="user", place=FILE, line=9, file_changed="2026-01-30"
)
MODE = PermissionRule(
    list="allow",
    rule="Reading in the working directory, added directories, system directories and toolchains",
    source="mode", place="built in", is_editable=False,
)  # fmt: skip
LOG = PermissionRule(
    list="allow", rule="Bash(git log *)", source="user", place=FILE, line=4, added="2026-01-31"
)
GRANT = PermissionRule(
    list="allow", rule="Edit(./src/a.py)", source="session", added="2026-02-01", needs_confirmation=True
)
RULES = PermissionList((PUSH, MODE, LOG, GRANT))
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])


async def open_permissions(harness: AppHarness) -> None:
    await harness.type_text("/permissions")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, PermissionsDialog))
    await harness.wait_until(lambda: harness.commands_of(ListPermissions))
    harness.engine.send(RULES)
    await harness.wait_until(lambda: "git log" in harness.screen_text())


async def wait_for_command(harness: AppHarness, kind: type, count: int = 1) -> Any:
    await harness.wait_until(lambda: len(harness.commands_of(kind)) == count)
    return harness.commands_of(kind)[-1]


@SIZES
async def test_each_rule_is_shown_with_its_source_and_date(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(size=size) as harness:
        await open_permissions(harness)
        text = harness.screen_text()
        for heading in ("Denied", "Allowed"):
            assert heading in text
        assert "config.toml, line 9" in text
        assert "file changed 2026-01-30" in text
        await harness.driver.press("down", "down")
        await harness.wait_until(lambda: "added 2026-01-31" in harness.screen_text())
        await harness.driver.press("down")
        await harness.wait_until(lambda: "Not in effect until you allow it again" in harness.screen_text())


async def test_a_rule_is_edited_with_the_keyboard_only(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_permissions(harness)
        await harness.driver.press("down", "down", "enter")
        await harness.driver.press("left", "left", *"--oneline ", "enter")
        changed = await wait_for_command(harness, ChangePermission)
        assert changed == ChangePermission(
            "allow", "Bash(git log *)", "user", FILE, "Bash(git log --oneline *)"
        )
        harness.engine.send(PermissionChanged("Bash(git log *)"))
        await harness.wait_until(lambda: "Saved" in harness.screen_text())


async def test_an_invalid_rule_is_reported_and_can_be_corrected(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_permissions(harness)
        await harness.driver.press("down", "down", "enter", "backspace", "enter")
        await wait_for_command(harness, ChangePermission)
        harness.engine.send(PermissionChanged("Bash(git log *)", problem="That isn't a rule."))
        await harness.wait_until(lambda: "That isn't a rule." in harness.screen_text())
        await harness.driver.press(")", "escape", "escape")
        await harness.wait_until(lambda: isinstance(harness.app.screen, MainScreen))


async def test_revoking_a_rule_needs_a_confirmation(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_permissions(harness)
        await harness.driver.press("ctrl+x")
        await harness.wait_until(lambda: "Calls that it matches may then run" in harness.screen_text())
        await harness.driver.press("n", "enter")
        assert not harness.commands_of(ChangePermission)
        await harness.driver.press("ctrl+x", "y", "enter")
        changed = await wait_for_command(harness, ChangePermission)
        assert changed == ChangePermission("deny", "Bash(git push *)", "user", FILE, None)


async def test_a_rule_is_revoked_with_the_mouse_only(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_permissions(harness)
        await harness.driver.click("#permissions ChoiceList", offset=(4, 4))
        await harness.wait_until(lambda: "added 2026-01-31" in harness.screen_text())
        await click_hint(harness, "revoke")
        await click_hint(harness, "revoke")
        changed = await wait_for_command(harness, ChangePermission)
        assert changed.rule == "Bash(git log *)"
        harness.engine.send(PermissionChanged("Bash(git log *)"))
        await harness.wait_until(lambda: "Saved" in harness.screen_text())
        await click_hint(harness, "close")
        await harness.wait_until(lambda: isinstance(harness.app.screen, MainScreen))


async def test_built_in_permissions_cannot_be_changed(open_app: Any) -> None:
    async with open_app() as harness:
        await open_permissions(harness)
        await harness.driver.press("down", "ctrl+x", "enter")
        await harness.wait_until(lambda: "Permission mode: built in" in harness.screen_text())
        await harness.driver.press("enter")
        assert not harness.commands_of(ChangePermission)


async def test_grants_of_an_earlier_run_are_confirmed_when_the_session_is_resumed(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        harness.engine.send(PermissionList((GRANT, replace(GRANT, rule="Bash(ls *)")), is_question=True))
        await harness.wait_until(lambda: isinstance(harness.app.screen, PermissionsDialog))
        await harness.wait_until(lambda: "Allow again?" in harness.screen_text())
        await harness.driver.press("ctrl+y")
        confirmed = await wait_for_command(harness, ConfirmGrants)
        assert confirmed == ConfirmGrants(keep=True, rules=("Edit(./src/a.py)", "Bash(ls *)"))
        await harness.wait_until(lambda: isinstance(harness.app.screen, MainScreen))


async def test_typing_ahead_confirms_no_grant(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        harness.engine.send(PermissionList((GRANT,), is_question=True))
        await harness.wait_until(lambda: isinstance(harness.app.screen, PermissionsDialog))
        await harness.driver.press(*"yes", "enter", "y", "enter", "escape", "escape")
        await harness.wait_until(lambda: isinstance(harness.app.screen, MainScreen))
        assert not harness.commands_of(ConfirmGrants)
        assert not harness.commands_of(ChangePermission)


async def test_rules_with_control_characters_are_shown_safely(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/permissions")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(ListPermissions))
        harness.engine.send(PermissionList((replace(LOG, rule="Bash(echo [red]\x1b[31m *)"),)))
        await harness.wait_until(lambda: "[red]" in harness.screen_text())
        assert "\x1b" not in harness.screen_text()


async def click_hint(harness: AppHarness, label: str) -> None:
    """Click the key hint with this label."""
    lines = harness.screen_text().splitlines()
    row = next(index for index in reversed(range(len(lines))) if f" {label}" in lines[index])
    await harness.driver.click(offset=(lines[row].index(f" {label}") + 1, row))
