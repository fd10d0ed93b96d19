"""From settings to models: which ones there are, and how each is built."""

from collections.abc import Callable, Mapping
from functools import partial

from kimi_tui.config.resolved_model import ResolvedModel, resolve_model
from kimi_tui.config.settings import Settings
from kimi_tui.engine.options import EngineOptions
from kimi_tui.llm.capabilities import known_capabilities
from kimi_tui.llm.creation import create_provider
from kimi_tui.llm.provider import LLM, Price, ProviderSettings

DEMO = ResolvedModel(name="demo", type="demo", model="demo", max_context_size=200_000)


def model_makers(settings: Settings, *, session_id: str) -> Mapping[str, Callable[[], LLM]]:
    """Each configured model's name, and the function that builds it. Building raises ConfigError."""
    return {
        name: partial(_build_named, settings, name, session_id=session_id) for name in sorted(settings.models)
    }


def starting_model(
    options: EngineOptions, *, last_used: str | None, of_agent: str | None, session_id: str
) -> LLM:
    """The model that a session starts with: the one asked for, last used in it, its agent's, or the default.

    The demo only when it was asked for, or when nothing at all is configured and somebody is there to see
    that it is the demo. Raises ModelNotSet and ConfigError.
    """
    if options.demo or (options.interactive and not options.settings.models and options.model is None):
        return build_model(DEMO, session_id=session_id)
    name = options.model or (last_used if last_used in options.settings.models else None) or of_agent
    return build_model(resolve_model(options.settings, name), session_id=session_id)


def build_model(model: ResolvedModel, *, session_id: str) -> LLM:
    """A model, ready to be asked."""
    provider = create_provider(
        ProviderSettings(
            kind=model.type,
            model=model.model,
            base_url=model.base_url,
            api_key=model.api_key,
            headers=dict(model.headers) or None,
            max_output_tokens=model.max_output_tokens,
            idle_timeout_s=model.idle_timeout_s,
            scripts=model.scripts,
            session_id=session_id,
        )
    )
    known = known_capabilities(model.type, model.model)
    return LLM(
        chat_provider=provider,
        kind=model.type,
        name=model.name,
        max_context_size=model.max_context_size,
        capabilities=model.capabilities if model.capabilities is not None else known,
        price=Price(input=model.price.input, output=model.price.output, cached=model.price.cached)
        if model.price is not None
        else None,
    )


def _build_named(settings: Settings, name: str, *, session_id: str) -> LLM:
    return build_model(resolve_model(settings, name), session_id=session_id)
