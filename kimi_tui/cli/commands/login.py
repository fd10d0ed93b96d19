"""`kimi-tui login`: tests a provider's API key and stores it readable only by the user."""

import asyncio
import getpass
import os
import sys
from typing import Annotated

import typer

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.config.credentials import Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.config.loader import read_config
from kimi_tui.config.provider_setup import ProviderConnection, normalize_key, save_provider
from kimi_tui.i18n.translate import tr
from kimi_tui.llm.connection_test import ApiKeyRejected, check_model
from kimi_tui.llm.provider import ProviderKind, ProviderSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_NAMES = [known.name for known in KNOWN_PROVIDERS]
_KINDS: dict[str, ProviderKind] = {"kimi": "kimi", "openai": "openai", "anthropic": "anthropic"}


@app.command()
def login(
    provider: Annotated[
        str | None,
        typer.Argument(metavar="PROVIDER", help="One of kimi, openai, anthropic; prompts if omitted."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Set the server's URL, if it isn't the default.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Test the key with this model.")] = None,
    untested: Annotated[bool, typer.Option("--untested", help="Store the key without testing it.")] = False,
) -> None:
    """Test and store an API key, read from a prompt or stdin."""
    known = _find_provider(provider or _prompt_provider())
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise UsageError(
            msg("--base-url {url} isn't a URL.", url=base_url), hint="Start it with https:// or http://."
        )
    directory = ensure_data_dir()
    key = _prompt_key(known)
    if not untested:
        print_line(msg("Testing the key with {model}…", model=model or known.model))
        _test_connection(known, key, base_url, model or known.model)
    name = save_provider(
        ProviderConnection(provider=known.name, model=model or known.model, api_key=key, base_url=base_url),
        data_dir=directory,
        reload=lambda: read_config(data_dir=directory, work_dir=current_dir()),
        as_default=False,
    )
    print_line(
        msg(
            "API key for {name} stored in {path}, readable only by you.",
            name=known.name,
            path=Credentials(directory).path,
        )
    )
    print_line(msg("To use its model, run `kimi-tui --model {name}` or /model in the app.", name=name))
    if os.environ.get(known.key_variable):
        print_line(msg("{variable} is set in the environment and overrides it.", variable=known.key_variable))


def _find_provider(name: str) -> KnownProvider:
    for known in KNOWN_PROVIDERS:
        if known.name == name:
            return known
    hint = msg("Use one of {names}. Configure others with `kimi-tui config edit`.", names=", ".join(_NAMES))
    raise UsageError(msg("Unknown provider “{name}”.", name=name), hint=hint)


def _prompt_provider() -> str:
    if not sys.stdin.isatty():
        raise UsageError("No provider given.", hint=msg("Use one of {names}.", names=", ".join(_NAMES)))
    answer = input(
        tr("Which provider ({names}; enter for {default})? ", names=", ".join(_NAMES), default=_NAMES[0])
    ).strip()
    return answer or _NAMES[0]


def _prompt_key(known: KnownProvider) -> str:
    """Return the key from the prompt or stdin. Raises UsageError if it is missing or malformed."""
    if sys.stdin.isatty():
        key = getpass.getpass(tr("API key for {name} (hidden): ", name=known.name)).strip()
    else:
        key = sys.stdin.readline().strip()
    if not key:
        raise UsageError("No API key given.", hint="Paste it at the prompt, or pipe it in.")
    try:
        return normalize_key(key)
    except KimiTuiError as error:
        raise UsageError(error.what, hint=error.hint) from error


def _test_connection(known: KnownProvider, key: str, base_url: str | None, model: str) -> None:
    """Send one small request. Raises KimiTuiError if it fails."""
    settings = ProviderSettings(
        kind=_KINDS[known.name],
        model=model,
        base_url=base_url or os.environ.get(known.url_variable) or None,
        api_key=key,
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
