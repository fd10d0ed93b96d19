"""`kimi-tui login`: a provider's key, tried and then kept for the user alone."""

import asyncio
import getpass
import os
import sys
from typing import Annotated

import typer

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import APIStatusError, ChatProviderError, KimiTuiError, UsageError
from kimi_tui.base.message import Message
from kimi_tui.cli.commands.subcommands import say
from kimi_tui.cli.places import usable_share_dir
from kimi_tui.config.credentials import Credential, Credentials
from kimi_tui.config.environment import KNOWN_PROVIDERS, KnownProvider
from kimi_tui.llm.creation import create_provider
from kimi_tui.llm.provider import ProviderKind, ProviderSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_NAMES = [known.name for known in KNOWN_PROVIDERS]
_KINDS: dict[str, ProviderKind] = {"kimi": "kimi", "openai": "openai", "anthropic": "anthropic"}
_PATIENCE_S = 60.0
_REFUSED = (401, 403)


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
    credentials = Credentials(usable_share_dir())
    credential = Credential(_asked_key(known), base_url)
    if not untested:
        say(f"Trying the key with {model or known.model} …")
        asyncio.run(_try(known, credential, model or known.model))
    credentials.keep(known.name, credential)
    say(f"The key for {known.name} is stored in {credentials.path}, which only you can read.")
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
    answer = input(f"Which provider ({', '.join(_NAMES)}; enter for {_NAMES[0]})? ").strip()
    return answer or _NAMES[0]


def _asked_key(known: KnownProvider) -> str:
    """Raises UsageError without a usable one."""
    if sys.stdin.isatty():
        key = getpass.getpass(f"API key for {known.name} (it is not shown): ").strip()
    else:
        key = sys.stdin.readline().strip()
    if not key:
        raise UsageError("There is no key.", hint="Paste it when asked, or pipe it in.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("That is no key: it has spaces or odd characters in it.", hint="Copy it once more.")
    return key


async def _try(known: KnownProvider, credential: Credential, model: str) -> None:
    """One small request. Raises KimiTuiError when it fails."""
    provider = create_provider(
        ProviderSettings(
            kind=_KINDS[known.name],
            model=model,
            base_url=credential.base_url or os.environ.get(known.url_variable) or None,
            api_key=credential.api_key,
        )
    )
    request = [Message("user", (TextPart("Say ok."),))]
    stream = provider.generate("Answer in one word.", [], request)
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await anext(stream, None)
    except (ChatProviderError, TimeoutError) as error:
        raise _failure(error) from error
    finally:
        await stream.aclose()
        await provider.aclose()


def _failure(error: ChatProviderError | TimeoutError) -> KimiTuiError:
    if isinstance(error, APIStatusError) and error.status_code in _REFUSED:
        return KimiTuiError(
            f"The server refused the key (HTTP {error.status_code}). Nothing is stored.",
            hint="Copy it once more, and see that it is for this provider and server (--base-url).",
        )
    what = error.what if isinstance(error, ChatProviderError) else "The server didn't answer in time."
    return KimiTuiError(
        f"The key couldn't be tried: {what} Nothing is stored.",
        hint="Try again, name another --model, or store the key as it is with --untested.",
    )
