"""What a server offers: tools, prompts and resources, as it told of them."""

from typing import Any

from kimi_tui.base.value import value


@value(kw_only=True)
class ToolOffer:
    """A tool by its server's words."""

    name: str
    description: str = ""
    input_schema: dict[str, Any]
    reads_only: bool = False
    """Whether the server says that it changes nothing. It may be wrong: consent is asked for all the same."""
    problem: str = ""
    """Why it can't be used; empty as a rule."""


@value
class PromptArgument:
    """What a prompt wants to know."""

    name: str
    description: str = ""
    required: bool = False


@value(kw_only=True)
class PromptOffer:
    """A prompt by its server's words."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@value(kw_only=True)
class ResourceOffer:
    """A resource, or a template of some."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""


@value(kw_only=True)
class Offer:
    """All that a server offers."""

    title: str = ""
    """Its own name and version; empty when it didn't say."""
    instructions: str = ""
    """What it wants a model to know before it uses any of this."""
    tools: tuple[ToolOffer, ...] = ()
    prompts: tuple[PromptOffer, ...] = ()
    completes: bool = False
    """Whether it says what a prompt's arguments may be."""
    resources: tuple[ResourceOffer, ...] = ()
    templates: tuple[ResourceOffer, ...] = ()

    @property
    def is_something(self) -> bool:
        """Whether there is anything to use."""
        return bool(self.tools or self.prompts or self.resources or self.templates)
