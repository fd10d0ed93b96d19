"""The models of a session: which ones there are, each built when it is first used."""

from collections.abc import Sequence

from kimi_tui.base.errors import ConfigError, KimiTuiError, ModelNotSet
from kimi_tui.base.secrets import keep_hidden
from kimi_tui.base.value import value
from kimi_tui.config.resolved_model import ResolvedModel, resolve_model
from kimi_tui.config.settings import Settings
from kimi_tui.llm.capabilities import known_capabilities
from kimi_tui.llm.creation import create_provider
from kimi_tui.llm.provider import LLM, Price, ProviderSettings

_DEMO = ResolvedModel(name="demo", type="demo", model="demo", max_context_size=200_000)


@value(kw_only=True)
class ModelWish:
    """Which model a session should start with; the first that is named counts, else the default one."""

    asked_for: str | None = None
    last_used: str | None = None
    """By the session, when it is resumed; it may be configured no more."""
    of_agent: str | None = None
    demo: bool = False
    demo_when_nothing_is_configured: bool = False
    """Only where somebody sees that it is the demo."""


class Models:
    """The configured models, and the demo when it is used."""

    def __init__(self, settings: Settings, *, session_id: str) -> None:
        self._settings = settings
        self._session_id = session_id
        self._built: dict[str, LLM] = {}
        self.keys: set[str] = set()
        """Of the models that were used."""
        self._left: list[LLM] = []
        """Built of earlier settings; a turn may still use them."""
        self.problems: tuple[KimiTuiError, ...] = ()
        """What kept the session from starting with a model."""

    @property
    def names(self) -> Sequence[str]:
        """Names that `named` takes."""
        return tuple(sorted(self._settings.models))

    def starting(self, wish: ModelWish) -> LLM:
        """The model to start with. Raises ModelNotSet and ConfigError."""
        nothing = not self._settings.models and wish.asked_for is None
        if wish.demo or (nothing and wish.demo_when_nothing_is_configured):
            return self._take(_DEMO)
        last_used = wish.last_used if wish.last_used in self._settings.models else None
        return self._take(resolve_model(self._settings, wish.asked_for or last_used or wish.of_agent))

    def starting_if_any(self, wish: ModelWish) -> LLM | None:
        """As `starting`, for whoever can connect a model later: what keeps it away is among `problems`."""
        try:
            return self.starting(wish)
        except (ConfigError, ModelNotSet) as error:
            self.problems = (error,)
            return None

    def named(self, name: str) -> LLM:
        """The configured model of that name. Raises ConfigError."""
        if name not in self._settings.models:
            raise ConfigError(
                f"There is no model “{name}”.",
                hint=f"Configured are: {', '.join(self.names) or 'none'}.",
            )
        return self._take(resolve_model(self._settings, name))

    def use(self, settings: Settings) -> None:
        """Take models from these settings from now on."""
        self._settings = settings
        self._left += self._built.values()
        self._built = {}

    async def aclose(self) -> None:
        """Close the connections of every model that was used."""
        for llm in (*self._left, *self._built.values()):
            await llm.chat_provider.aclose()

    def _take(self, model: ResolvedModel) -> LLM:
        if model.name not in self._built:
            self.keys |= {model.api_key} - {""}
            keep_hidden((model.api_key, *model.headers.values()))
            self._built[model.name] = _built(model, session_id=self._session_id)
        return self._built[model.name]


def _built(model: ResolvedModel, *, session_id: str) -> LLM:
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
            capabilities=model.capabilities,
        )
    )
    price = model.price
    return LLM(
        chat_provider=provider,
        kind=model.type,
        name=model.name,
        max_context_size=model.max_context_size,
        capabilities=known_capabilities(model.type, model.model)
        if model.capabilities is None
        else model.capabilities,
        price=None if price is None else Price(input=price.input, output=price.output, cached=price.cached),
    )
