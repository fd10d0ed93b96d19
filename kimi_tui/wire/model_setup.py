"""Connecting a model: available services and servers, and results of attempts.

API keys are never sent back.
"""

from dataclasses import field
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand

KeyOrigin = Literal["", "stored", "environment"]


@frozen
class ModelService:
    """A service that needs only an API key."""

    name: str
    base_url: str
    """Its default URL, or the URL that the existing key is configured for."""
    model: str
    """Default model, used to test the connection. Empty if the user must choose one."""
    key_variable: str
    key: KeyOrigin = ""
    """Where an existing key is stored; never the key itself."""
    title: str = ""
    """Name for the user; empty for a well-known one."""


@frozen
class LocalModel:
    """A model of a server on this machine."""

    name: str
    max_context_size: int | None = None
    """Tokens; None if the server doesn't report it."""


@frozen
class LocalServer:
    """A running model server on this machine."""

    name: str
    base_url: str
    models: tuple[LocalModel, ...] = ()


@frozen
class ModelSources:
    """Reply to FindModels. Not in kimi-cli."""

    services: tuple[ModelService, ...] = ()
    servers: tuple[LocalServer, ...] = ()
    looking: bool = False
    """Whether the scan of this machine is still running, after which ModelSources is sent again."""


@frozen
class ConnectModel(BaseCommand):
    """Test a model with a small request, save its configuration and use it. The reply is ModelConnected."""

    scheduling = "concurrent"

    id: str
    provider: str
    """Name of a service, or a name for the user's own server."""
    model: str
    api_key: str = ""
    """Empty to use an existing key, or if none is needed. Never part of the repr."""
    base_url: str = ""
    """Empty for the service's default URL."""
    max_context_size: int = 0
    """Tokens; 0 to use the known or reported size."""

    def __repr__(self) -> str:
        """Return a representation without the API key."""
        return f"ConnectModel(id={self.id!r}, provider={self.provider!r}, model={self.model!r})"


@frozen
class FindModels(BaseCommand):
    """Find available models. ModelSources is sent immediately, and again with the servers on this machine."""

    scheduling = "concurrent"


@frozen
class ModelConnected:
    """Reply to ConnectModel. Not in kimi-cli."""

    id: str
    model: str = ""
    """Name of the model that is now in use; empty if the attempt failed."""
    what: str = ""
    """Why it failed, in one sentence; otherwise what was saved where."""
    hint: str = ""
    choices: tuple[str, ...] = field(default=())
    """The server's models, if it doesn't have the requested one."""


@frozen
class CancelConnection(BaseCommand):
    """Cancel a ConnectModel that is being tested: nothing is saved, and there is no reply."""

    scheduling = "immediate"

    id: str
    """ID of the ConnectModel."""


SetupCommand = FindModels | ConnectModel | CancelConnection
