"""What the user may change while a session runs: the model, thinking, yolo."""

from dataclasses import dataclass

from kimi_tui.base.errors import ModelNotSet
from kimi_tui.llm.provider import LLM, ChatProvider


@dataclass(slots=True)
class Behaviour:
    """Owned by the engine, read by the soul at each step."""

    llm: LLM | None
    thinking: bool = False
    yolo: bool = False

    @property
    def chat_provider(self) -> ChatProvider:
        """The provider with its thinking effort. Raises ModelNotSet."""
        return self.require_llm().chat_provider.with_thinking("high" if self.thinking else "off")

    @property
    def capabilities(self) -> frozenset[str]:
        """What the model can do, as in `LLM`; nothing without a model."""
        return self.llm.capabilities if self.llm is not None else frozenset()

    def require_llm(self) -> LLM:
        """The model. Raises ModelNotSet."""
        if self.llm is None:
            raise ModelNotSet(
                "No model is configured.",
                hint="Set KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY, or start with --demo.",
            )
        return self.llm
