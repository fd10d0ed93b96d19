"""`kimi-tui mcp`: the MCP servers of the user, and whether they work."""

import asyncio
import webbrowser
from collections.abc import Iterable
from typing import Annotated, Literal

import typer

from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.paths import share_dir
from kimi_tui.base.terminal import plain_line
from kimi_tui.cli.commands.subcommands import new_app, say
from kimi_tui.cli.places import current_dir, usable_share_dir
from kimi_tui.config.project_mcp import mcp_source
from kimi_tui.tools.mcp.config_file import check_name, server_table, servers_in, source_of_entry, write_server
from kimi_tui.tools.mcp.server_config import RemoteServer, ServerConfig, ServerEntry, UnusableServer
from kimi_tui.tools.mcp.signing_in import sign_in
from kimi_tui.tools.mcp.sources import find_servers, user_mcp_path
from kimi_tui.tools.mcp.token_file import TokenFile, token_path
from kimi_tui.tools.mcp.trial import Trial, try_server

app = new_app("MCP servers: programs and services that lend the agent their tools.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="What the server is called.")]
_SEPARATED = 'Write it like --env "KEY=VALUE".'
_HEADER = 'Write it like --header "KEY: VALUE".'


@app.command()
def add(
    name: _Name,
    target: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL | -- COMMAND [ARGS]", help="Where it is, or what to start."),
    ] = None,
    transport: Annotated[
        Literal["stdio", "http", "sse"] | None,
        typer.Option("--transport", "-t", help="How to speak with it; as a rule its target shows."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", "-e", metavar="KEY=VALUE", help="A variable for the program; repeatable."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="KEY:VALUE", help="A header for the service; repeatable."),
    ] = None,
    auth: Annotated[
        Literal["oauth"] | None,
        typer.Option("--auth", "-a", help="oauth: you sign in to it in a browser (`kimi-tui mcp auth`)."),
    ] = None,
) -> None:
    """Add a server to your mcp.json, or replace the one of that name.

    A program comes after --, such as: kimi-tui mcp add time -- uvx mcp-server-time
    """
    check_name(name)
    words = target or []
    is_address = len(words) == 1 and words[0].startswith(("http://", "https://"))
    kind = transport or ("http" if is_address else "stdio")
    if kind == "stdio":
        if header or auth:
            raise UsageError("--header and --auth are for servers at an address.", hint="Leave them out.")
        if not words:
            raise UsageError(
                "There is no program to start.", hint=f"Type `kimi-tui mcp add {name} -- COMMAND`."
            )
        entry: dict[str, object] = {"command": words[0], "args": words[1:]}
        if env:
            entry["env"] = dict(_pair(item, "=", _SEPARATED) for item in env)
    else:
        if env:
            raise UsageError("--env is for programs that are started here.", hint="Leave it out.")
        if not is_address:
            what = "There is no address." if not words else f"“{plain_line(' '.join(words))}” is no address."
            raise UsageError(what, hint="Give one that begins with http:// or https://.")
        entry = {"url": words[0], "transport": kind}
        if header:
            entry["headers"] = dict(_pair(item, ":", _HEADER) for item in header)
        if auth:
            entry["auth"] = auth
    (server,) = servers_in(source_of_entry(name, entry))
    path = user_mcp_path(usable_share_dir())
    write_server(path, name, entry)
    say(f"Added {name} to {path}.")
    match server:
        case UnusableServer(problem=problem):
            say(f"It can't be used yet: {problem}")
        case RemoteServer(oauth=True):
            say(f"Sign in to it with: kimi-tui mcp auth {name}")
        case _:
            say(f"Try it with: kimi-tui mcp test {name}")


@app.command("list")
def list_() -> None:
    """List the servers that a session here would have, and where they come from."""
    path = user_mcp_path(share_dir())
    say(f"Your MCP servers are in {path}.")
    found = find_servers(share_dir=share_dir(), work_dir=current_dir())
    for entry in found.entries:
        say(f"  {_line(entry)}")
    if not found.entries:
        say("  There are none. `kimi-tui mcp add --help` says how to add one.")
    for problem in found.problems:
        say(problem)


@app.command()
def remove(name: _Name) -> None:
    """Take a server out of your mcp.json, and forget what you signed in to it with."""
    path = user_mcp_path(usable_share_dir())
    servers = server_table(mcp_source(path)) if path.exists() else {}
    if name not in servers:
        raise _unknown(name, servers)
    url = servers[name].get("url") if isinstance(servers[name], dict) else None
    write_server(path, name, None)
    if isinstance(url, str):
        TokenFile(token_path(share_dir(), url)).forget()
    say(f"Removed {name} from {path}.")


@app.command()
def auth(name: _Name) -> None:
    """Sign in to a server, in the browser."""
    server = _remote(name)

    async def show(url: str) -> None:
        say(f"Sign in here; the browser should open by itself:\n{url}")
        await asyncio.to_thread(webbrowser.open, url)

    asyncio.run(sign_in(server, share_dir=usable_share_dir(), show=show))
    say(f"You are signed in to {name}.")


@app.command("reset-auth")
def reset_auth(name: _Name) -> None:
    """Forget what you signed in to a server with."""
    server = _remote(name)
    forgotten = TokenFile(token_path(share_dir(), server.url)).forget()
    say(f"Signed out of {name}." if forgotten else f"You were not signed in to {name}.")


@app.command()
def test(name: _Name) -> None:
    """Connect to a server once, and say what it offers."""
    server = _known(name)
    try:
        trial = asyncio.run(try_server(server, share_dir=usable_share_dir(), work_dir=current_dir()))
    except KimiTuiError as error:
        raise KimiTuiError(f"{name} can't be used. {error.what}", hint=error.hint) from error
    for line in _told(name, trial):
        say(line)


def _told(name: str, trial: Trial) -> Iterable[str]:
    title = f" ({plain_line(trial.offer.title)})" if trial.offer.title else ""
    yield f"{name} works{title}, connected in {trial.seconds:.1f} s."
    for what, offers in (("tool", trial.offer.tools), ("prompt", trial.offer.prompts)):
        for offer in offers:
            yield f"{what:8}  {plain_line(offer.name):30} {plain_line(offer.description)[:100]}".rstrip()
    resources = (*trial.offer.resources, *trial.offer.templates)
    for resource in resources:
        yield f"resource  {plain_line(resource.uri):30} {plain_line(resource.name)[:100]}".rstrip()
    if not (trial.offer.tools or trial.offer.prompts or resources):
        yield "It offers nothing."


def _line(entry: ServerEntry) -> str:
    match entry:
        case UnusableServer(name=name, problem=problem):
            return f"{name}: {problem or 'switched off'}"
        case RemoteServer(name=name, oauth=True) if not _is_signed_in(entry):
            return f"{name} ({entry.transport}): {entry.target}  [sign in with: kimi-tui mcp auth {name}]"
        case _:
            return f"{entry.name} ({entry.transport}): {entry.target}"


def _is_signed_in(server: RemoteServer) -> bool:
    return TokenFile(token_path(share_dir(), server.url)).has_tokens


def _known(name: str) -> ServerConfig:
    found = find_servers(share_dir=share_dir(), work_dir=current_dir())
    entry = next((entry for entry in found.entries if entry.name == name), None)
    if entry is None:
        raise _unknown(name, [entry.name for entry in found.entries])
    if isinstance(entry, UnusableServer):
        raise ConfigError(entry.problem or f"{name} is switched off.", hint="Mend its entry in the file.")
    return entry


def _remote(name: str) -> RemoteServer:
    server = _known(name)
    if not isinstance(server, RemoteServer):
        raise UsageError(f"{name} is a program; there is nothing to sign in to.", hint="Give it an --env.")
    return server


def _unknown(name: str, known: Iterable[str]) -> ConfigError:
    names = ", ".join(map(plain_line, known))
    return ConfigError(
        f"There is no MCP server {plain_line(name)}.",
        hint=f"There are: {names}." if names else "Add one first.",
    )


def _pair(text: str, separator: str, hint: str) -> tuple[str, str]:
    key, found, value = text.partition(separator)
    if not found or not key.strip():
        raise UsageError(f"“{plain_line(text)}” has no name and value.", hint=hint)
    return key.strip(), value.strip() if separator == ":" else value
