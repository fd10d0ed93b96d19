"""Lookup of built-in and registered slash commands."""

from kimi_tui.base.content_parts import UserInput
from kimi_tui.engine.slash.registry import PromptCommand, SlashCommand, SlashRegistry


async def do_nothing(_: str) -> None: ...


async def build_prompt(argument: str) -> UserInput:
    return f"please {argument}"


BUILTIN = SlashCommand("clear", "Start over", do_nothing, aliases=("reset",))


def names(registry: SlashRegistry) -> list[str]:
    return [command.name for command in registry.commands]


def test_a_command_is_found_by_its_name_and_its_aliases() -> None:
    registry = SlashRegistry([BUILTIN])
    assert registry.find("clear  now ") == (BUILTIN, "now")
    assert registry.find("reset") == (BUILTIN, "")
    assert registry.find("clearly") is None


def test_registering_replaces_the_providers_commands() -> None:
    registry = SlashRegistry([BUILTIN])
    registry.register("skills", [PromptCommand("skill:tea", "Brew", build_prompt)])
    assert names(registry) == ["clear", "skill:tea"]
    registry.register("skills", [PromptCommand("skill:milk", "Boil", build_prompt)])
    assert names(registry) == ["clear", "skill:milk"]


def test_registered_commands_never_override_built_in_ones() -> None:
    registry = SlashRegistry([BUILTIN])
    registry.register(
        "project",
        [PromptCommand("clear", "Mine", build_prompt), PromptCommand("reset", "Mine", build_prompt)],
    )
    assert names(registry) == ["clear"]


class CountingInfo:
    """Counts how often the session info is sent."""

    times_sent = 0

    def send_info(self) -> None:
        self.times_sent += 1


def test_only_changes_are_reported() -> None:
    info = CountingInfo()
    registry = SlashRegistry([BUILTIN], info=info)
    command = PromptCommand("skill:tea", "Brew", build_prompt)
    registry.register("skills", [command])
    registry.register("skills", [command])
    assert info.times_sent == 1
