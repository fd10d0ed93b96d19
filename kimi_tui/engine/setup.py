"""Connecting a model from within a session: what there is, the attempt, and the model in use at once."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, assert_never
from urllib.parse import urlsplit

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.secrets import keep_hidden
from kimi_tui.config.connecting import (
    Connection,
    check_key,
    keep_connection,
    known_service,
    waiting_for_key,
)
from kimi_tui.config.credentials import Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.config.loading import settings_of
from kimi_tui.engine.models import Models
from kimi_tui.engine.options import EngineOptions
from kimi_tui.llm.endpoint import DEFAULT_BASE_URLS
from kimi_tui.llm.provider import ProviderKind, ProviderSettings
from kimi_tui.wire.commands import Command, SetModel
from kimi_tui.wire.events import Event
from kimi_tui.wire.setup import (
    ConnectModel,
    KeyOrigin,
    LocalModel,
    LocalServer,
    LookForModels,
    ModelConnected,
    ModelService,
    ModelSources,
    SetupCommand,
)

if TYPE_CHECKING:
    from kimi_tui.llm.server_models import OfferedModel

_KINDS: dict[str, ProviderKind] = {"kimi": "kimi", "openai": "openai", "anthropic": "anthropic"}


class Setup:
    """Follows what a front end asks for when the user connects a model."""

    def __init__(
        self,
        *,
        options: EngineOptions,
        models: Models,
        send: Callable[[Event], None],
        command: Callable[[Command], None],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._options = options
        self._models = models
        self._send = send
        self._command = command
        self._environ = environ
        self._connecting = asyncio.Lock()

    async def follow(self, command: SetupCommand) -> None:
        """Carry out `command`. Raises ConfigError when stored keys can't be read."""
        match command:
            case LookForModels():
                services = await self._services()
                self._send(ModelSources(services, looking=True))
                self._send(ModelSources(services, await self._servers()))
            case ConnectModel():
                async with self._connecting:
                    self._send(await self._answer(command))
            case _:
                assert_never(command)

    # what there is

    async def _services(self) -> tuple[ModelService, ...]:
        stored = await asyncio.to_thread(Credentials(self._options.share_dir).read)
        config = (await asyncio.to_thread(self._options.read_again)).data
        services = []
        for known in KNOWN_PROVIDERS:
            credential = stored.get(known.name)
            origin: KeyOrigin = "stored" if credential is not None else ""
            origin = "environment" if self._environ.get(known.key_variable) else origin
            own = credential.base_url if credential is not None else None
            address, model = waiting_for_key(config, known)
            services.append(
                ModelService(
                    name=known.name,
                    base_url=own or address or self._usual_address(known),
                    model=model or known.model,
                    key_variable=known.key_variable,
                    key=origin,
                )
            )
        return tuple(services)

    async def _servers(self) -> tuple[LocalServer, ...]:
        from kimi_tui.llm.server_models import found_servers, usual_servers  # for those who set up

        found = await found_servers(usual_servers(self._environ))
        return tuple(
            LocalServer(
                it.name,
                it.base_url,
                tuple(LocalModel(model.name, model.max_context_size) for model in it.models),
            )
            for it in found
        )

    # the attempt

    async def _answer(self, wanted: ConnectModel) -> ModelConnected:
        from kimi_tui.llm.trial import ModelUnknown

        try:
            keep_hidden([wanted.api_key.strip()])
            key = check_key(wanted.api_key)
            known = known_service(wanted.provider)
            if known is not None:
                return await self._service(wanted, known, key)
            return await self._own_server(wanted, key)
        except ModelUnknown as error:
            offered = await self._offered(wanted)
            return ModelConnected(
                wanted.id, what=error.what, hint=error.hint, choices=tuple(it.name for it in offered)
            )
        except KimiTuiError as error:
            return ModelConnected(wanted.id, what=error.what, hint=error.hint)

    async def _service(self, wanted: ConnectModel, known: KnownProvider, key: str) -> ModelConnected:
        usable = key or await self._key_of(known)
        if not usable:
            raise KimiTuiError("There is no key.", hint="Paste the one that the provider gave you.")
        usual = self._usual_address(known)
        address = wanted.base_url.strip()
        connection = Connection(
            provider=known.name,
            model=wanted.model.strip() or known.model,
            api_key=key,
            base_url=_address(address) if address and address != usual else None,
            max_context_size=wanted.max_context_size or None,
        )
        return await self._connected(wanted.id, connection, known, usable, connection.base_url or usual)

    async def _own_server(self, wanted: ConnectModel, key: str) -> ModelConnected:
        base_url = _address_of_api(wanted.base_url)
        offered = await self._offered(wanted)
        names = tuple(it.name for it in offered)
        model = wanted.model.strip() or (names[0] if len(names) == 1 else "")
        if not model:
            return ModelConnected(
                wanted.id,
                what="The server has several models."
                if names
                else "The server doesn't say which models it has.",
                hint="Choose one." if names else "Check the address, or type the model's name.",
                choices=names,
            )
        size = next((it.max_context_size for it in offered if it.name == model), None)
        connection = Connection(
            provider=wanted.provider or urlsplit(base_url).netloc,
            model=model,
            api_key=key,
            base_url=base_url,
            max_context_size=wanted.max_context_size or size,
        )
        return await self._connected(wanted.id, connection, None, key, base_url)

    async def _connected(
        self, id_: str, wanted: Connection, known: KnownProvider | None, key: str, address: str
    ) -> ModelConnected:
        from kimi_tui.llm.trial import try_model

        await try_model(
            ProviderSettings(
                kind=_KINDS[known.name] if known is not None else "openai",
                model=wanted.model,
                base_url=address,
                api_key=key,
            )
        )
        name = await asyncio.to_thread(
            keep_connection,
            wanted,
            share_dir=self._options.share_dir,
            reread=self._options.read_again,
            as_default=True,
        )
        self._models.use(settings_of(await asyncio.to_thread(self._options.read_again)))
        self._models.named(name)
        self._command(SetModel(name))
        what = f"{wanted.model} answers, and is used from now on."
        if known is not None and wanted.api_key and self._environ.get(known.key_variable):
            return ModelConnected(
                id_,
                name,
                what,
                hint=f"{known.key_variable} is set in the environment and goes before the new key.",
            )
        return ModelConnected(id_, name, what)

    def _usual_address(self, known: KnownProvider) -> str:
        return self._environ.get(known.url_variable) or DEFAULT_BASE_URLS[_KINDS[known.name]]

    async def _key_of(self, known: KnownProvider) -> str:
        if key := self._environ.get(known.key_variable):
            return key
        stored = await asyncio.to_thread(Credentials(self._options.share_dir).read)
        return stored[known.name].api_key if known.name in stored else ""

    async def _offered(self, wanted: ConnectModel) -> "tuple[OfferedModel, ...]":
        from kimi_tui.llm.server_models import offered_models

        known = known_service(wanted.provider)
        if known is not None and known.name == "anthropic":
            return ()  # its list wants other headers, and its names are known
        if known is None:
            address = _address_of_api(wanted.base_url)
        else:
            address = wanted.base_url.strip() or self._usual_address(known)
        key = wanted.api_key.strip() or (await self._key_of(known) if known is not None else "")
        return await offered_models(address, api_key=key)


def _address(text: str) -> str:
    """`text` as the address of a server. Raises KimiTuiError."""
    text = text.strip().rstrip("/")
    if not text.startswith(("http://", "https://")):
        raise KimiTuiError(
            "That is no address." if text else "The address is missing.",
            hint="Write it like http://localhost:8000/v1.",
        )
    return text


def _address_of_api(text: str) -> str:
    """The address of an OpenAI-compatible API; one without a path gets the usual one. Raises KimiTuiError."""
    address = _address(text)
    return address if urlsplit(address).path else f"{address}/v1"
