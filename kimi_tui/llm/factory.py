"""Factory of chat providers. Each provider's module is imported when it's first needed."""

from typing import assert_never

from kimi_tui.llm.provider import ChatProvider, ProviderSettings


def create_provider(settings: ProviderSettings) -> ChatProvider:
    """Return the provider for `settings`.

    The first request imports the client library and connects. Raises ConfigError for an invalid base URL,
    key or header.
    """
    match settings.kind:
        case "kimi":
            from kimi_tui.llm.openai.kimi import KIMI
            from kimi_tui.llm.openai.provider import OpenAIChatProvider

            return OpenAIChatProvider(settings, KIMI)
        case "openai":
            from kimi_tui.llm.openai.provider import OpenAIChatProvider

            return OpenAIChatProvider(settings)
        case "openai_responses":
            from kimi_tui.llm.openai.responses_provider import ResponsesProvider

            return ResponsesProvider(settings)
        case "anthropic":
            from kimi_tui.llm.anthropic.provider import AnthropicMessagesProvider

            return AnthropicMessagesProvider(settings)
        case "scripted":
            from kimi_tui.llm.scripted.provider import ScriptedProvider

            return ScriptedProvider(settings)
        case "demo":
            from kimi_tui.llm.demo.provider import DemoProvider

            return DemoProvider(settings)
        case _:
            assert_never(settings.kind)
