"""Finding slash commands: the session's own, and those that are lent."""

from kimi_tui.base.content import UserInput
from kimi_tui.engine.slash_book import PromptCommand, SlashBook, SlashCommand


async def nothing(_: str) -> None: ...


async def said(argument: str) -> UserInput:
    return f"please {argument}"


OWN = SlashCommand("clear", "Start over", nothing, aliases=("reset",))


def names(book: SlashBook) -> list[str]:
    return [command.name for command in book.commands]


def test_a_command_is_found_by_its_name_and_its_aliases() -> None:
    book = SlashBook([OWN])
    assert book.find("clear  now ") == (OWN, "now")
    assert book.find("reset") == (OWN, "")
    assert book.find("clearly") is None


def test_what_is_lent_is_found_until_something_else_is_lent() -> None:
    book = SlashBook([OWN])
    book.lend("skills", [PromptCommand("skill:tea", "Brew", said)])
    assert names(book) == ["clear", "skill:tea"]
    book.lend("skills", [PromptCommand("skill:milk", "Boil", said)])
    assert names(book) == ["clear", "skill:milk"]


def test_what_is_lent_never_replaces_a_command_of_the_session() -> None:
    book = SlashBook([OWN])
    book.lend("project", [PromptCommand("clear", "Mine", said), PromptCommand("reset", "Mine", said)])
    assert names(book) == ["clear"]


def test_a_change_is_told_once() -> None:
    told: list[str] = []
    book = SlashBook([OWN], changed=lambda: told.append("changed"))
    command = PromptCommand("skill:tea", "Brew", said)
    book.lend("skills", [command])
    book.lend("skills", [command])
    assert told == ["changed"]
