"""Settings that can change while a session runs: model, thinking, permission modes."""

from dataclasses import dataclass, field

from kimi_tui.base.errors import ModelNotSet
from kimi_tui.base.thinking_effort import ThinkingEffort, nearest_effort
from kimi_tui.llm.provider import LLM, ChatProvider
from kimi_tui.tools.plan.plan_mode import PlanMode


@dataclass(slots=True)
class RuntimeSettings:
    """Owned by the engine and read by the soul at each step."""

    llm: LLM | None
    requested_effort: ThinkingEffort = "off"
    """Thinking effort that the user chose. The model may not support it."""
    yolo: bool = False
    afk: bool = False
    """Whether the user is away. Then everything is approved and questions are dismissed."""
    accept_edits: bool = False
    """Whether safe edits in the working directory need no approval."""
    plan_mode: PlanMode = field(default_factory=PlanMode)

    @property
    def approves_all(self) -> bool:
        """Whether requests are approved automatically."""
        return self.yolo or self.afk

    @property
    def chat_provider(self) -> ChatProvider:
        """The provider, set to the thinking level.

        Raises: ModelNotSet.
        """
        return self.require_llm().chat_provider.with_thinking(self.effort)

    @property
    def effort(self) -> ThinkingEffort:
        """Thinking effort that the model uses: the requested effort, or the nearest supported effort."""
        return nearest_effort(self.requested_effort, self.thinking_levels)

    @property
    def thinking_levels(self) -> tuple[ThinkingEffort, ...]:
        """Thinking levels of the model; empty without a model, or for a model that can't think."""
        return self.llm.thinking_levels if self.llm is not None else ()

    @property
    def capabilities(self) -> frozenset[str]:
        """The model's capabilities, as in `LLM`; empty without a model."""
        return self.llm.capabilities if self.llm is not None else frozenset()

    def require_llm(self) -> LLM:
        """Return the model.

        Raises: ModelNotSet.
        """
        if self.llm is None:
            raise ModelNotSet(
                "No model is configured.",
                hint="Connect one with /login or `kimi-tui login`, or set KIMI_API_KEY, OPENAI_API_KEY or"
                " ANTHROPIC_API_KEY. --demo works without a model.",
            )
        return self.llm
