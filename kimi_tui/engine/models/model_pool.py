"""Models of a session, each built when it is first used."""

from collections.abc import Sequence

from kimi_tui.base.errors import ConfigError, KimiTuiError, ModelNotSet
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import register_secrets
from kimi_tui.config.resolved_model import ResolvedModel, provider_kind, resolve_model
from kimi_tui.config.settings import Settings
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.metering.gate import SpendingGate
from kimi_tui.llm.provider import LLM, ChatProvider, Price, ProviderSettings
from kimi_tui.llm.thinking_levels import thinking_levels
from kimi_tui.wire.session import ModelDetails

_DEMO = ResolvedModel(name="demo", type="demo", model="demo", max_context_size=200_000)


@frozen(kw_only=True)
class ModelSelection:
    """Candidates for the initial model, in order of precedence. The default model is used if all are None."""

    requested: str | None = None
    last_used: str | None = None
    """Previous model of a resumed session. Ignored if it's no longer configured."""
    agent_default: str | None = None
    demo: bool = False
    demo_if_unconfigured: bool = False
    """Whether to use the demo model if no model is configured. Set only if the user can see this."""


class ModelPool:
    """Builds and caches the configured models and the demo model."""

    def __init__(self, settings: Settings, *, session_id: str, gate: SpendingGate | None = None) -> None:
        """`gate` has to permit each model call."""
        self._settings = settings
        self._session_id = session_id
        self._gate = gate
        self._built: dict[str, LLM] = {}
        self._details: tuple[ModelDetails, ...] | None = None
        self.used_keys: set[str] = set()
        """API keys of the models that were used."""
        self._retired: list[LLM] = []
        """Models built from earlier settings. A running turn may still use them."""
        self.problems: tuple[KimiTuiError, ...] = ()
        """Errors that prevented the initial model from being used."""

    @property
    def names(self) -> Sequence[str]:
        """Names that `get` accepts."""
        return tuple(sorted(self._settings.models))

    @property
    def details(self) -> tuple[ModelDetails, ...]:
        """Details of the models in `names`, in the same order."""
        if self._details is None:
            self._details = tuple(_details_of(name, self._settings) for name in self.names)
        return self._details

    def resolve_initial(self, selection: ModelSelection) -> LLM:
        """Return the initial model. Raises ModelNotSet and ConfigError."""
        is_unconfigured = not self._settings.models and selection.requested is None
        if selection.demo or (is_unconfigured and selection.demo_if_unconfigured):
            return self._get_or_build(_DEMO)
        last_used = selection.last_used if selection.last_used in self._settings.models else None
        return self._get_or_build(
            resolve_model(self._settings, selection.requested or last_used or selection.agent_default)
        )

    def resolve_initial_if_any(self, selection: ModelSelection) -> LLM | None:
        """Like `resolve_initial`, but return None on failure and add the error to `problems`."""
        try:
            return self.resolve_initial(selection)
        except (ConfigError, ModelNotSet) as error:
            self.problems = (error,)
            return None

    def get(self, name: str) -> LLM:
        """Return the configured model `name`. Raises ConfigError."""
        if name not in self._settings.models:
            raise ConfigError(
                msg("Unknown model “{name}”.", name=name),
                hint=msg("Configured models: {names}.", names=", ".join(self.names) or "none"),
            )
        return self._get_or_build(resolve_model(self._settings, name))

    def apply_settings(self, settings: Settings) -> None:
        """Use the models of `settings`. Models already in use stay open until `aclose`."""
        self._settings = settings
        self._retired += self._built.values()
        self._built = {}
        self._details = None

    async def aclose(self) -> None:
        """Close the connections of all models that were built."""
        for llm in (*self._retired, *self._built.values()):
            await llm.chat_provider.aclose()

    def _get_or_build(self, model: ResolvedModel) -> LLM:
        if model.name not in self._built:
            self.used_keys |= {model.api_key} - {""}
            register_secrets((model.api_key, *model.headers.values()))
            self._built[model.name] = _build_llm(model, session_id=self._session_id, gate=self._gate)
        return self._built[model.name]


def _details_of(name: str, settings: Settings) -> ModelDetails:
    """Return the details of a configured model. Requires neither the model's key nor its server."""
    model = settings.models[name]
    provider = settings.providers.get(model.provider)
    kind = provider_kind(provider.type) if provider is not None else None
    described = ProviderSettings(kind=kind or "openai", model=model.model, capabilities=model.capabilities)
    return ModelDetails(
        name=name,
        model=model.model,
        provider=model.provider,
        max_context_size=model.max_context_size,
        input_price=model.price.input if model.price is not None else None,
        output_price=model.price.output if model.price is not None else None,
        capabilities=tuple(sorted(capabilities_of(described))),
        thinking_levels=thinking_levels(described),
        display_name=model.display_name,
    )


def _build_llm(model: ResolvedModel, *, session_id: str, gate: SpendingGate | None) -> LLM:
    settings = ProviderSettings(
        kind=model.type,
        model=model.model,
        base_url=model.base_url,
        api_key=model.api_key,
        headers=dict(model.headers) or None,
        max_output_tokens=model.max_output_tokens,
        temperature=model.temperature,
        top_p=model.top_p,
        thinking_keep=model.thinking_keep,
        reasoning_key=model.reasoning_key,
        idle_timeout_s=model.idle_timeout_s,
        scripts=model.scripts,
        session_id=session_id,
        capabilities=model.capabilities,
    )
    provider: ChatProvider = create_provider(settings)
    price = (
        None
        if model.price is None
        else Price(input=model.price.input, output=model.price.output, cached=model.price.cached)
    )
    if gate is not None:
        from kimi_tui.llm.metering.metered_provider import MeteredModel, MeteredProvider

        metered = MeteredModel(
            service=model.base_url or model.type, price=price, max_output_tokens=model.max_output_tokens
        )
        provider = MeteredProvider(provider, gate, metered)
    return LLM(
        chat_provider=provider,
        kind=model.type,
        name=model.name,
        max_context_size=model.max_context_size,
        max_output_tokens=model.max_output_tokens,
        capabilities=capabilities_of(settings),
        thinking_levels=thinking_levels(settings),
        price=price,
    )
