"""Reviews line by line: files and hunks have numbers."""

from dataclasses import replace
from typing import Any

from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import SlashCommandInfo
from tests.tui.conftest import SESSION
from tests.tui.timeline.sample_review import REVIEW, content


async def test_a_review_lists_files_and_hunks_by_number(open_linear_app: Any) -> None:
    session = replace(SESSION, slash_commands=(SlashCommandInfo("review", "Review the changes"),))
    async with open_linear_app(session=session) as driver:
        await driver.wait_for_prompt()
        driver.lines.type("/review 2", "/review --file 1", "/review --revert 1.2")
        await driver.wait_until(lambda: len(driver.commands_of(RunSlash)) == 3)
        lines = [command.line for command in driver.commands_of(RunSlash)]
        assert lines == ["review 2", "review --file 1", "review --revert 1.2"]
        driver.engine.send(REVIEW, content("src/shop/auth.py"), content("logo.png"))
        await driver.wait_until(lambda: "isn't text" in driver.lines.text or "binary" in driver.lines.text)
        text = driver.lines.text
        assert "Review from checkpoint 2 to now:" in text
        assert "1. src/shop/auth.py: changed, +4 −3, you edited other lines" in text
        assert "2. src/shop/blocked.py: added, +2 −0, viewed" in text
        assert "3. tests/shop/checkout/test_blocked_users.py: removed, +0 −1" in text
        assert "Hunk 1.1, line 43, +3 −3:" in text
        assert "Hunk 1.2, line 89, +1 −0: contains your own edits" in text
        assert "- 43     user = form.user\n" in text
        assert "+ 43     user = form.user.strip().casefold()\n" in text
        assert "/review --revert 1.1  revert it" in text
        assert "/review --revert 4  revert it" in text


async def test_a_read_only_review_offers_neither_comments_nor_reverts(open_linear_app: Any) -> None:
    async with open_linear_app(session=replace(SESSION, read_only=True)) as driver:
        await driver.wait_for_prompt()
        file = replace(content("src/shop/auth.py"), can_revert=False)
        driver.engine.send(replace(REVIEW, is_read_only=True), file)
        await driver.wait_until(lambda: "Hunk 1.2" in driver.lines.text)
        assert "/review --file N" in driver.lines.text
        assert "/comment" not in driver.lines.text
        assert "--revert" not in driver.lines.text


async def test_a_review_without_changes_says_so(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(replace(REVIEW, files=(), after=5))
        await driver.wait_until(lambda: "Review from checkpoint 2 to checkpoint 5:" in driver.lines.text)
        await driver.wait_until(lambda: "No changes." in driver.lines.text)
