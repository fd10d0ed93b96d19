"""Connecting a model: available services and servers, and results of connection attempts.

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
    """Default URL, or the URL that the existing key is configured for."""
    model: str
    """Default model, used to test the connection. Empty if the user must choose one."""
    key_variable: str
    key: KeyOrigin = ""
    """Source of an existing key, never the key itself; empty without a key."""
    title: str = ""
    """Name shown to the user; empty for a service that the front end knows by `name`."""


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
    """Whether the scan of this machine is still running. After the scan, ModelSources is sent again."""


@frozen
class ConnectModel(BaseCommand):
    """Test a model with a small request, save its configuration and use it. The reply is ModelConnected."""

    scheduling = "concurrent"

    id: str
    provider: str
    """Name of a service, or a name for the user's own server."""
    model: str
    api_key: str = ""
    """Empty to use an existing key, or if the server needs no key. Never part of the repr."""
    base_url: str = ""
    """Empty for the service's default URL."""
    max_context_size: int = 0
    """Tokens; 0 to use the known or reported size."""

    def __repr__(self) -> str:
        """Return a representation without the API key."""
        return f"ConnectModel(id={self.id!r}, provider={self.provider!r}, model={self.model!r})"


@frozen
class FindModels(BaseCommand):
    """Find available models.

    The reply is a ModelSources, followed by another one that includes the servers on this machine.
    """

    scheduling = "concurrent"


@frozen
class ModelConnected:
    """Reply to ConnectModel. Not in kimi-cli."""

    id: str
    model: str = ""
    """Name of the model that is now in use; empty if the attempt failed."""
    what: str = ""
    """After a failure, the cause in one sentence. Otherwise, which settings were saved and where."""
    hint: str = ""
    choices: tuple[str, ...] = field(default=())
    """The server's models, if the requested model isn't among them."""


@frozen
class CancelConnection(BaseCommand):
    """Cancel a ConnectModel that is being tested: nothing is saved, and there is no reply."""

    scheduling = "immediate"

    id: str
    """ID of the ConnectModel."""


SetupCommand = FindModels | ConnectModel | CancelConnection
