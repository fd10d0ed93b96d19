"""Creation: settings turned into a provider. Each module is imported when one of its kind is wanted."""

from typing import assert_never

from kimi_tui.llm.provider import ChatProvider, ProviderSettings


def create_provider(settings: ProviderSettings) -> ChatProvider:
    """The provider that `settings` describe; nothing is connected and no SDK imported before its first
    request.

    Raises ConfigError for a base URL, key or header that can't be used.
    """
    match settings.kind:
        case "kimi":
            from kimi_tui.llm.kimi import KIMI
            from kimi_tui.llm.openai_chat import OpenAIChatProvider

            return OpenAIChatProvider(settings, KIMI)
        case "openai":
            from kimi_tui.llm.openai_chat import OpenAIChatProvider

            return OpenAIChatProvider(settings)
        case "anthropic":
            from kimi_tui.llm.anthropic_messages import AnthropicMessagesProvider

            return AnthropicMessagesProvider(settings)
        case "scripted":
            from kimi_tui.llm.scripted import ScriptedProvider

            return ScriptedProvider(settings)
        case "demo":
            from kimi_tui.llm.demo import DemoProvider

            return DemoProvider(settings)
        case _:
            assert_never(settings.kind)
