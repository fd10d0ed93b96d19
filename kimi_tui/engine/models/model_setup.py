"""Setup of a model within a session: lists providers, tests the connection, saves and selects the model."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import register_secrets
from kimi_tui.config.compatible_services import (
    COMPATIBLE_SERVICES,
    CompatibleService,
    compatible_service,
)
from kimi_tui.config.credentials import Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.config.loader import settings_of
from kimi_tui.config.provider_setup import (
    ProviderConnection,
    known_service,
    normalize_key,
    pending_provider,
    save_provider,
)
from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.options import EngineOptions
from kimi_tui.llm.context_size import known_context_size
from kimi_tui.llm.provider import ProviderKind, ProviderSettings
from kimi_tui.llm.transport.endpoint import DEFAULT_BASE_URLS
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import SetModel
from kimi_tui.wire.model_setup import (
    ConnectModel,
    KeyOrigin,
    LocalModel,
    LocalServer,
    ModelConnected,
    ModelService,
    ModelSources,
)

if TYPE_CHECKING:
    from kimi_tui.llm.model_discovery import AvailableModel


class ModelSetup:
    """Handles the model setup commands of front ends."""

    def __init__(
        self,
        *,
        options: EngineOptions,
        models: ModelPool,
        wire: Wire,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._options = options
        self._models = models
        self._wire = wire
        self._environ = environ
        self._connect_lock = asyncio.Lock()
        self._attempts: dict[str, asyncio.Task[None]] = {}
        """Attempts that can be canceled, by ID.

        An attempt can't be canceled once its connection is being saved.
        """

    async def find_models(self) -> None:
        """Send the available models. Raises ConfigError if stored keys can't be read."""
        services = await self._list_services()
        self._wire.send(ModelSources(services, looking=True))
        self._wire.send(ModelSources(services, await self._find_servers()))

    async def connect(self, command: ConnectModel) -> None:
        """Try to connect a model, and send the result unless the attempt is canceled."""
        async with self._connect_lock, asyncio.TaskGroup() as group:
            self._attempts[command.id] = group.create_task(self._connect_and_report(command))

    def cancel(self, id_: str) -> None:
        """Cancel the attempt `id_` to connect a model. Nothing is saved."""
        if (attempt := self._attempts.pop(id_, None)) is not None:
            attempt.cancel()

    # discovery

    async def _list_services(self) -> tuple[ModelService, ...]:
        stored = await asyncio.to_thread(Credentials(self._options.data_dir).read)
        config = (await asyncio.to_thread(self._options.reread_config)).data
        services = []
        for known in KNOWN_PROVIDERS:
            credential = stored.get(known.name)
            origin: KeyOrigin = "stored" if credential is not None else ""
            origin = "environment" if self._environ.get(known.key_variable) else origin
            stored_address = credential.base_url if credential is not None else None
            address, model = pending_provider(config, known)
            services.append(
                ModelService(
                    name=known.name,
                    base_url=stored_address or address or self._default_address(known),
                    model=model or known.model,
                    key_variable=known.key_variable,
                    key=origin,
                )
            )
        for service in COMPATIBLE_SERVICES:
            origin = "stored" if service.name in stored else ""
            services.append(
                ModelService(
                    name=service.name,
                    base_url=service.base_url,
                    model="",
                    key_variable=service.key_variable,
                    key="environment" if self._environ.get(service.key_variable) else origin,
                    title=service.title,
                )
            )
        return tuple(services)

    async def _find_servers(self) -> tuple[LocalServer, ...]:
        from kimi_tui.llm.model_discovery import discover_servers, known_servers  # slow to import

        servers = await discover_servers(known_servers(self._environ))
        return tuple(
            LocalServer(
                it.name,
                it.base_url,
                tuple(LocalModel(model.name, model.max_context_size) for model in it.models),
            )
            for it in servers
        )

    # connection

    async def _connect_and_report(self, command: ConnectModel) -> None:
        try:
            self._wire.send(await self._try_connect(command))
        finally:
            self._attempts.pop(command.id, None)

    async def _try_connect(self, request: ConnectModel) -> ModelConnected:
        try:
            register_secrets([request.api_key.strip()])
            key = normalize_key(request.api_key)
            known = known_service(request.provider)
            if known is not None:
                return await self._connect_service(request, known, key)
            service = compatible_service(request.provider)
            if service is not None:
                return await self._connect_compatible_service(request, service, key)
            return await self._connect_custom_server(request, key)
        except KimiTuiError as error:
            return ModelConnected(request.id, what=error.what, hint=error.hint)

    async def _connect_service(self, request: ConnectModel, known: KnownProvider, key: str) -> ModelConnected:
        effective_key = key or await self._find_key(known)
        if not effective_key:
            raise KimiTuiError("No API key.", hint="Paste the key from the provider.")
        default_address = self._default_address(known)
        address = request.base_url.strip()
        connection = ProviderConnection(
            provider=known.name,
            model=request.model.strip() or known.model,
            api_key=key,
            base_url=_parse_address(address) if address and address != default_address else None,
            max_context_size=request.max_context_size or None,
        )
        return await self._finish_connection(
            request.id, connection, known, effective_key, connection.base_url or default_address
        )

    async def _connect_compatible_service(
        self, request: ConnectModel, service: CompatibleService, key: str
    ) -> ModelConnected:
        effective_key = key or await self._find_service_key(service)
        if not effective_key:
            raise KimiTuiError("No API key.", hint="Paste the key from the provider.")
        uses_variable = not key and bool(self._environ.get(service.key_variable))
        return await self._connect_custom_server(
            replace(request, base_url=request.base_url.strip() or service.base_url),
            effective_key,
            key_variable=service.key_variable if uses_variable else "",
        )

    async def _connect_custom_server(
        self, request: ConnectModel, key: str, *, key_variable: str = ""
    ) -> ModelConnected:
        base_url = _parse_api_address(request.base_url)
        available = await _list_models(None, base_url, key, is_optional=bool(request.model.strip()))
        names = tuple(it.name for it in available)
        model = request.model.strip() or (names[0] if len(names) == 1 else "")
        if not model:
            return ModelConnected(
                request.id,
                what="The server has several models." if names else "The server lists no models.",
                hint="Choose one." if names else "Check the address, or type the model's name.",
                choices=names,
            )
        reported = next((it for it in available if it.name == model), None)
        connection = ProviderConnection(
            provider=request.provider or urlsplit(base_url).netloc,
            model=model,
            api_key="" if key_variable else key,
            base_url=base_url,
            key_variable=key_variable,
            max_context_size=request.max_context_size
            or (reported.max_context_size if reported is not None else None)
            or known_context_size(model),
            capabilities=reported.capabilities if reported is not None else None,
            price=reported.price if reported is not None else None,
        )
        return await self._finish_connection(request.id, connection, None, key, base_url)

    async def _finish_connection(
        self, id_: str, connection: ProviderConnection, known: KnownProvider | None, key: str, address: str
    ) -> ModelConnected:
        from kimi_tui.llm.connection_test import UnknownModel, check_model

        settings = ProviderSettings(
            kind=_kind(known, connection.base_url), model=connection.model, base_url=address, api_key=key
        )
        try:
            await check_model(settings)
        except UnknownModel as error:
            names = tuple(it.name for it in await _list_models(known, address, key, is_optional=True))
            return ModelConnected(id_, what=error.what, hint=error.hint, choices=names)
        self._attempts.pop(id_, None)
        name = await asyncio.to_thread(
            save_provider,
            connection,
            data_dir=self._options.data_dir,
            reload=self._options.reread_config,
            as_default=True,
        )
        self._models.apply_settings(settings_of(await asyncio.to_thread(self._options.reread_config)))
        self._models.get(name)
        self._wire.command(SetModel(name))
        what = msg("Connected. Model: {model}.", model=connection.model)
        if known is not None and connection.api_key and self._environ.get(known.key_variable):
            return ModelConnected(
                id_,
                name,
                what,
                hint=msg(
                    "{variable} is set in the environment and overrides the new key.",
                    variable=known.key_variable,
                ),
            )
        return ModelConnected(id_, name, what)

    def _default_address(self, known: KnownProvider) -> str:
        return self._environ.get(known.url_variable) or DEFAULT_BASE_URLS[_kind(known, None)]

    async def _find_service_key(self, service: CompatibleService) -> str:
        if key := self._environ.get(service.key_variable):
            return key
        stored = await asyncio.to_thread(Credentials(self._options.data_dir).read)
        return stored[service.name].api_key if service.name in stored else ""

    async def _find_key(self, known: KnownProvider) -> str:
        if key := self._environ.get(known.key_variable):
            return key
        stored = await asyncio.to_thread(Credentials(self._options.data_dir).read)
        return stored[known.name].api_key if known.name in stored else ""


async def _list_models(
    known: KnownProvider | None, address: str, key: str, *, is_optional: bool
) -> "tuple[AvailableModel, ...]":
    """Return the server's models. Raises KimiTuiError; with `is_optional`, return an empty list instead."""
    from kimi_tui.llm.model_discovery import fetch_models

    if known is not None and known.name == "anthropic":
        return ()  # the list requires other headers, and the model names are known
    try:
        return await fetch_models(address, api_key=key)
    except KimiTuiError:
        if is_optional:
            return ()
        raise


def _kind(known: KnownProvider | None, base_url: str | None) -> ProviderKind:
    kinds: dict[str, ProviderKind] = {it: it for it in DEFAULT_BASE_URLS}
    return kinds[known.type_for(base_url)] if known is not None else "openai"


def _parse_address(text: str) -> str:
    """Return `text` as a server's address. Raises KimiTuiError."""
    text = text.strip().rstrip("/")
    if not text.startswith(("http://", "https://")):
        raise KimiTuiError(
            "Invalid address." if text else "The address is missing.",
            hint="Example: http://localhost:8000/v1.",
        )
    return text


def _parse_api_address(text: str) -> str:
    """Return `text` as the address of an OpenAI-compatible API. Raises KimiTuiError.

    The path is `/v1` if `text` has no path.
    """
    address = _parse_address(text)
    return address if urlsplit(address).path else f"{address}/v1"
