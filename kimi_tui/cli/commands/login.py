"""`kimi-tui login`: a provider's key, tried and then kept for the user alone."""

import asyncio
import getpass
import os
import sys
from typing import Annotated

import typer

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.cli.commands.subcommands import say
from kimi_tui.cli.places import current_dir, usable_share_dir
from kimi_tui.config.connecting import Connection, check_key, keep_connection
from kimi_tui.config.credentials import Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.config.loading import read_config
from kimi_tui.language.saying import retell
from kimi_tui.llm.provider import ProviderKind, ProviderSettings
from kimi_tui.llm.trial import KeyRefused, try_model

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_NAMES = [known.name for known in KNOWN_PROVIDERS]
_KINDS: dict[str, ProviderKind] = {"kimi": "kimi", "openai": "openai", "anthropic": "anthropic"}


@app.command()
def login(
    provider: Annotated[
        str | None,
        typer.Argument(metavar="PROVIDER", help="kimi, openai or anthropic; without it, you are asked."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server's address, when it is not the usual one.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model that the key is tried with.")
    ] = None,
    untested: Annotated[bool, typer.Option("--untested", help="Store the key without trying it.")] = False,
) -> None:
    """Store a provider's key. It is asked for without being shown, or read from stdin, and tried first."""
    known = _known(provider or _asked_provider())
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"--base-url {base_url} is no address.", hint="It begins with https:// or http://.")
    share = usable_share_dir()
    key = _asked_key(known)
    if not untested:
        say(f"Trying the key with {model or known.model} …")
        _try(known, key, base_url, model or known.model)
    name = keep_connection(
        Connection(provider=known.name, model=model or known.model, api_key=key, base_url=base_url),
        share_dir=share,
        reread=lambda: read_config(share_dir=share, work_dir=current_dir()),
        as_default=False,
    )
    say(f"The key for {known.name} is stored in {Credentials(share).path}, which only you can read.")
    say(f"Its model is called {name} here: `kimi-tui --model {name}`, or /model in the app.")
    if os.environ.get(known.key_variable):
        say(f"{known.key_variable} is set in the environment and goes before it.")


def _known(name: str) -> KnownProvider:
    for known in KNOWN_PROVIDERS:
        if known.name == name:
            return known
    hint = f"It is one of {', '.join(_NAMES)}; describe others with `kimi-tui config edit`."
    raise UsageError(f"There is no provider “{name}” to log in to.", hint=hint)


def _asked_provider() -> str:
    if not sys.stdin.isatty():
        raise UsageError("The provider is missing.", hint=f"Name one of {', '.join(_NAMES)}.")
    answer = input(retell(f"Which provider ({', '.join(_NAMES)}; enter for {_NAMES[0]})? ")).strip()
    return answer or _NAMES[0]


def _asked_key(known: KnownProvider) -> str:
    """Raises UsageError without a usable one."""
    if sys.stdin.isatty():
        key = getpass.getpass(retell(f"API key for {known.name} (it is not shown): ")).strip()
    else:
        key = sys.stdin.readline().strip()
    if not key:
        raise UsageError("There is no key.", hint="Paste it when asked, or pipe it in.")
    try:
        return check_key(key)
    except KimiTuiError as error:
        raise UsageError(error.what, hint=error.hint) from error


def _try(known: KnownProvider, key: str, base_url: str | None, model: str) -> None:
    """One small request. Raises KimiTuiError when it fails."""
    settings = ProviderSettings(
        kind=_KINDS[known.name],
        model=model,
        base_url=base_url or os.environ.get(known.url_variable) or None,
        api_key=key,
    )
    try:
        asyncio.run(try_model(settings))
    except KeyRefused as error:
        raise KeyRefused(
            f"{error.what} Nothing is stored.",
            hint="Copy it once more, and see that it is for this provider and server (--base-url).",
        ) from error
    except KimiTuiError as error:
        raise KimiTuiError(
            f"The key couldn't be tried: {error.what} Nothing is stored.",
            hint="Try again, name another --model, or store the key as it is with --untested.",
        ) from error
