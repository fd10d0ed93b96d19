"""Connecting a model: what there is to connect, and how an attempt went. A key goes one way only."""

from dataclasses import field
from typing import Literal

from kimi_tui.base.value import value

KeyOrigin = Literal["", "stored", "environment"]


@value
class ModelService:
    """A service that needs nothing but a key."""

    name: str
    base_url: str
    """Where it usually is, or where the key that is there already goes."""
    model: str
    """The model that it is tried with."""
    key_variable: str
    key: KeyOrigin = ""
    """Where a key is already; never the key itself."""


@value
class LocalModel:
    """A model that a server of this machine offers."""

    name: str
    max_context_size: int | None = None
    """Tokens; None when the server doesn't say."""


@value
class LocalServer:
    """A server of this machine that answers."""

    name: str
    base_url: str
    models: tuple[LocalModel, ...] = ()


@value
class ModelSources:
    """Ours: the answer to LookForModels."""

    services: tuple[ModelService, ...] = ()
    servers: tuple[LocalServer, ...] = ()
    looking: bool = False
    """Whether this machine is still being searched: then they come once more."""


@value
class ConnectModel:
    """Try a model with one small request, keep how it is reached, and use it: a ModelConnected comes back."""

    id: str
    provider: str
    """A service's name, or what a server of the user's own is to be called."""
    model: str
    api_key: str = ""
    """Empty for the key that is there already, or where none is needed. It is in no repr."""
    base_url: str = ""
    """Empty for the service's own."""
    max_context_size: int = 0
    """Tokens; 0 for what is known of the service's model, or can be found out."""

    def __repr__(self) -> str:
        """Without the key."""
        return f"ConnectModel(id={self.id!r}, provider={self.provider!r}, model={self.model!r})"


@value
class LookForModels:
    """Ask what there is to connect: ModelSources come back, at once and with this machine's servers."""


@value
class ModelConnected:
    """Ours: the answer to ConnectModel."""

    id: str
    model: str = ""
    """The name of the model that is used from now on; empty when that failed."""
    what: str = ""
    """Why it failed, one sentence; else what was kept where."""
    hint: str = ""
    choices: tuple[str, ...] = field(default=())
    """The models that the server has, where it knows none of the name that was tried."""


SetupCommand = LookForModels | ConnectModel
