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
    """Whether the server calls the tool read-only. Calls need approval anyway, because this may be wrong."""
    unusable_reason: str = ""
    """Why the tool can't be used; usually empty."""


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
    """The server's reported name and version; empty if not reported."""
    instructions: str = ""
    """The server's instructions for the model."""
    tools: tuple[ToolInfo, ...] = ()
    prompts: tuple[PromptInfo, ...] = ()
    supports_completion: bool = False
    """Whether the server completes prompt arguments."""
    resources: tuple[ResourceInfo, ...] = ()
    templates: tuple[ResourceInfo, ...] = ()

    @property
    def has_any(self) -> bool:
        """Whether the server has any features."""
        return bool(self.tools or self.prompts or self.resources or self.templates)
