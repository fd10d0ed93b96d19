"""Features that a server announces: tools, prompts and resources."""

from typing import Any

from kimi_tui.base.frozen import frozen


@frozen(kw_only=True)
class ToolInfo:
    """A tool as described by its server."""

    name: str
    description: str = ""
    input_schema: dict[str, Any]
    is_read_only: bool = False
    """Whether the server says that it changes nothing. That may be wrong, so calls need approval anyway."""
    unusable_reason: str = ""
    """Why it can't be used; usually empty."""


@frozen
class PromptArgument:
    """An argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


@frozen(kw_only=True)
class PromptInfo:
    """A prompt as described by its server."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@frozen(kw_only=True)
class ResourceInfo:
    """A resource or a resource template."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""


@frozen(kw_only=True)
class ServerFeatures:
    """All features of a server."""

    title: str = ""
    """The server's own name and version; empty if it doesn't give them."""
    instructions: str = ""
    """The server's instructions for the model."""
    tools: tuple[ToolInfo, ...] = ()
    prompts: tuple[PromptInfo, ...] = ()
    supports_completion: bool = False
    """Whether it completes prompt arguments."""
    resources: tuple[ResourceInfo, ...] = ()
    templates: tuple[ResourceInfo, ...] = ()

    @property
    def has_any(self) -> bool:
        """Whether there is any feature."""
        return bool(self.tools or self.prompts or self.resources or self.templates)
