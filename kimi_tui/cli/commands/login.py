"""`kimi-tui login`: tests a provider's API key and stores it readable only by the user."""

import asyncio
import getpass
import os
import sys
from dataclasses import replace
from typing import Annotated

import typer

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.config.compatible_services import COMPATIBLE_SERVICES, compatible_service
from kimi_tui.config.credentials import Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS
from kimi_tui.config.loader import read_config
from kimi_tui.config.provider_setup import ProviderConnection, known_service, normalize_key, save_provider
from kimi_tui.i18n.translate import tr
from kimi_tui.llm.connection_test import ApiKeyRejected, check_model
from kimi_tui.llm.context_size import known_context_size
from kimi_tui.llm.provider import ProviderKind, ProviderSettings
from kimi_tui.llm.transport.endpoint import DEFAULT_BASE_URLS

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_NAMES = [known.name for known in KNOWN_PROVIDERS]
_SERVICE_NAMES = [service.name for service in COMPATIBLE_SERVICES]
_KINDS: dict[str, ProviderKind] = {it: it for it in DEFAULT_BASE_URLS}


@app.command()
def login(
    provider: Annotated[
        str | None,
        typer.Argument(
            metavar="PROVIDER",
            help="kimi, openai, anthropic or a compatible service. Default: choose at a prompt.",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Set the server's URL, if it isn't the default.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Use this model. Compatible services need one.")
    ] = None,
    untested: Annotated[bool, typer.Option("--untested", help="Store the key without testing it.")] = False,
) -> None:
    """Test and store an API key, read from a prompt or standard input."""
    name = provider or _prompt_provider()
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise UsageError(
            msg("--base-url {url} isn't a URL.", url=base_url), hint="Start it with https:// or http://."
        )
    directory = ensure_data_dir()
    connection, kind, variable = _prompt_connection(name, base_url, model)
    if not untested:
        print_line(msg("Testing the key with {model}…", model=connection.model))
        _test_connection(connection, kind)
        if variable is None:
            connection = asyncio.run(_add_reported_details(connection))
    saved = save_provider(
        connection,
        data_dir=directory,
        reload=lambda: read_config(data_dir=directory, work_dir=current_dir()),
        as_default=False,
    )
    print_line(
        msg(
            "API key for {name} stored in {path}, readable only by you.",
            name=name,
            path=Credentials(directory).path,
        )
    )
    print_line(msg("To use its model, run `kimi-tui --model {name}` or /model in the app.", name=saved))
    if variable is not None and os.environ.get(variable):
        print_line(
            msg("{variable} is set in the environment and overrides the stored key.", variable=variable)
        )


def _prompt_connection(
    name: str, base_url: str | None, model: str | None
) -> tuple[ProviderConnection, ProviderKind, str | None]:
    """Ask for the key. Return the connection, its kind, and the variable that overrides the stored key.

    Raises UsageError for an unknown provider, and if the key or a service's model is missing.
    """
    known, service = known_service(name), compatible_service(name)
    if known is not None:
        address = base_url or os.environ.get(known.url_variable) or None
        connection = ProviderConnection(
            provider=name, model=model or known.model, api_key=_prompt_key(name), base_url=base_url
        )
        return connection, _KINDS[known.type_for(address)], known.key_variable
    if service is None:
        names = ", ".join((*_NAMES, *_SERVICE_NAMES))
        hint = msg("Use one of {names}. Configure others with `kimi-tui config edit`.", names=names)
        raise UsageError(msg("Unknown provider “{name}”.", name=name), hint=hint)
    if model is None:
        raise UsageError(
            msg("No model given for {name}.", name=service.title),
            hint="Add --model NAME, or choose one from a list with /login in the app.",
        )
    connection = ProviderConnection(
        provider=name, model=model, api_key=_prompt_key(name), base_url=base_url or service.base_url
    )
    return connection, "openai", None


async def _add_reported_details(connection: ProviderConnection) -> ProviderConnection:
    """Return `connection` with the details that its server reports of the model."""
    from kimi_tui.llm.model_discovery import fetch_models

    try:
        models = await fetch_models(connection.base_url or "", api_key=connection.api_key)
    except KimiTuiError:  # the model works, so its details are optional
        models = ()
    reported = next((it for it in models if it.name == connection.model), None)
    if reported is None:
        return replace(connection, max_context_size=known_context_size(connection.model))
    return replace(
        connection,
        max_context_size=reported.max_context_size or known_context_size(connection.model),
        price=reported.price,
        capabilities=reported.capabilities,
    )


def _prompt_provider() -> str:
    if not sys.stdin.isatty():
        raise UsageError("No provider given.", hint=msg("Use one of {names}.", names=", ".join(_NAMES)))
    answer = input(
        tr("Which provider ({names}; enter for {default})? ", names=", ".join(_NAMES), default=_NAMES[0])
    ).strip()
    return answer or _NAMES[0]


def _prompt_key(name: str) -> str:
    """Return the key from the prompt or stdin. Raises UsageError if it is missing or malformed."""
    if sys.stdin.isatty():
        key = getpass.getpass(tr("API key for {name} (hidden): ", name=name)).strip()
    else:
        key = sys.stdin.readline().strip()
    if not key:
        raise UsageError("No API key given.", hint="Paste it at the prompt, or pipe it in.")
    try:
        return normalize_key(key)
    except KimiTuiError as error:
        raise UsageError(error.what, hint=error.hint) from error


def _test_connection(connection: ProviderConnection, kind: ProviderKind) -> None:
    """Send one small request. Raises KimiTuiError if it fails."""
    known = known_service(connection.provider)
    settings = ProviderSettings(
        kind=kind,
        model=connection.model,
        base_url=connection.base_url or (os.environ.get(known.url_variable) if known is not None else None),
        api_key=connection.api_key,
    )
    try:
        asyncio.run(check_model(settings))
    except ApiKeyRejected as error:
        raise ApiKeyRejected(
            msg("{problem} Nothing was stored.", problem=error.what),
            hint="Copy the key again, and check that it's for this provider and server (--base-url).",
        ) from error
    except KimiTuiError as error:
        raise KimiTuiError(
            msg("Can't test the key: {problem} Nothing was stored.", problem=error.what),
            hint="Try again, use another --model, or store the key without a test with --untested.",
        ) from error
