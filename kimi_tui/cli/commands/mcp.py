"""`kimi-tui mcp`: manages and tests MCP servers.

Standard output is that of Kimi CLI, for scripts that read it. What to do next goes to standard error.
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.base.paths import data_dir
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.commands.runner import new_app, print_line, print_note
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.cli.startup_prompts import confirm
from kimi_tui.config.project_mcp import read_mcp_source
from kimi_tui.mcp.config_discovery import find_servers, user_mcp_path
from kimi_tui.mcp.config_file import (
    find_server_table,
    parse_servers,
    source_from_entry,
    validate_name,
    write_server,
)
from kimi_tui.mcp.connection_check import check_connection
from kimi_tui.mcp.other_programs import FoundServer, ServerCopy, find_other_servers, plan_copies
from kimi_tui.mcp.server_config import InvalidServer, RemoteServer, ServerConfig, ServerEntry
from kimi_tui.mcp.server_features import ServerFeatures
from kimi_tui.mcp.sign_in import sign_in_to_server
from kimi_tui.mcp.sign_in_page import SignInPage
from kimi_tui.mcp.token_store import TokenStore, token_path

app = new_app("Manage and test MCP servers.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the server.")]
_SEPARATED = 'Use the form --env "KEY=VALUE".'
_HEADER = 'Use the form --header "KEY: VALUE".'


@app.command()
def add(
    name: _Name,
    target: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL | -- COMMAND [ARGS]", help="URL or command of the server."),
    ] = None,
    transport: Annotated[
        Literal["stdio", "http", "sse"] | None,
        typer.Option("--transport", "-t", help="Set the transport; usually detected."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", "-e", metavar="KEY=VALUE", help="Set an environment variable; repeatable."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="KEY:VALUE", help="Send an HTTP header; repeatable."),
    ] = None,
    auth: Annotated[
        Literal["oauth"] | None,
        typer.Option("--auth", "-a", help="Sign in with OAuth (`kimi-tui mcp auth`)."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help="Request an OAuth scope; repeatable."),
    ] = None,
) -> None:
    """Add a server to your mcp.json, or replace it.

    Put a command after --, such as: kimi-tui mcp add time -- uvx mcp-server-time
    """
    validate_name(name)
    words = target or []
    is_url = len(words) == 1 and words[0].startswith(("http://", "https://"))
    kind = transport or ("http" if is_url else "stdio")
    if kind == "stdio":
        if header or auth or scope:
            raise UsageError("--header, --auth and --scope require a URL.", hint="Remove them.")
        if not words:
            raise UsageError(
                "No command given.", hint=msg("Run `kimi-tui mcp add {name} -- COMMAND`.", name=name)
            )
        entry: dict[str, object] = {"command": words[0], "args": words[1:]}
        if env:
            entry["env"] = dict(_parse_pair(item, "=", _SEPARATED) for item in env)
    else:
        if env:
            raise UsageError("--env requires a command.", hint="Remove it.")
        if not is_url:
            problem = (
                "No URL given."
                if not words
                else msg("“{text}” isn't a URL.", text=sanitize_line(" ".join(words)))
            )
            raise UsageError(problem, hint="Use a URL that begins with http:// or https://.")
        entry = {"url": words[0], "transport": kind}
        if header:
            entry["headers"] = dict(_parse_pair(item, ":", _HEADER) for item in header)
        if auth:
            entry["auth"] = auth
        if scope and not auth:
            raise UsageError("--scope requires --auth oauth.", hint="Add it.")
        if scope:
            entry["scopes"] = scope
    (server,) = parse_servers(source_from_entry(name, entry))
    path = user_mcp_path(ensure_data_dir())
    write_server(path, name, entry)
    print_line(msg("Added MCP server '{name}' to {path}.", name=name, path=path))
    match server:
        case InvalidServer(problem=problem):
            print_note(msg("The server can't be used yet: {problem}", problem=as_message(problem)))
        case RemoteServer(oauth=True):
            print_note(msg("To sign in, run: kimi-tui mcp auth {name}", name=name))
        case _:
            print_note(msg("To test it, run: kimi-tui mcp test {name}", name=name))


@app.command("list")
def list_() -> None:
    """List the servers available here and their sources."""
    path = user_mcp_path(data_dir())
    print_line(msg("MCP config file: {path}", path=path))
    found = find_servers(data_dir=data_dir(), work_dir=current_dir())
    for entry in found.entries:
        print_line(f"  {_format_entry(entry)}")
    if not found.entries:
        print_line("No MCP servers configured.")
        print_note("To add one, see `kimi-tui mcp add --help`.")
    for problem in found.problems:
        print_line(problem)


@app.command()
def remove(name: _Name) -> None:
    """Remove a server from your mcp.json, and its tokens."""
    path = user_mcp_path(ensure_data_dir())
    servers = find_server_table(read_mcp_source(path)) if path.exists() else {}
    if name not in servers:
        raise _unknown_server_error(name, servers)
    url = servers[name].get("url") if isinstance(servers[name], dict) else None
    write_server(path, name, None)
    if isinstance(url, str):
        TokenStore(token_path(data_dir(), url)).clear()
    print_line(msg("Removed MCP server '{name}' from {path}.", name=name, path=path))


@app.command("import")
def import_(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Servers to import; default: all.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Copy your servers from Claude and VS Code to your mcp.json.

    Lists them and asks first. Files of other programs are never changed.
    """
    path = user_mcp_path(ensure_data_dir())
    found = find_other_servers(home=Path.home(), work_dir=current_dir())
    for problem in found.problems:
        print_line(problem)
    own = find_server_table(read_mcp_source(path)) if path.exists() else {}
    copies = _select(plan_copies(found.servers, own), names or [])
    if not copies:
        print_line("No MCP servers of Claude or VS Code to import.")
        return
    for copy in copies:
        print_line(f"  {copy.name}: {_format_found(copy.server)}")
    if not yes and not sys.stdin.isatty():
        print_line("Nothing imported. To import them, add --yes.")
        return
    if not yes and not confirm(msg("Copy them to {path}", path=path)):
        print_line("Nothing imported.")
        return
    for copy in copies:
        write_server(path, copy.name, copy.server.entry)
        print_line(msg("Added MCP server '{name}' to {path}.", name=copy.name, path=path))
        _print_requirements(copy)


def _select(copies: tuple[ServerCopy, ...], names: list[str]) -> tuple[ServerCopy, ...]:
    """Return the copies with these names, or all of them if no name is given. Raises ConfigError."""
    known = [copy.name for copy in copies]
    for name in names:
        if name not in known:
            raise ConfigError(
                msg("No MCP server {name} to import.", name=sanitize_line(name)),
                hint=msg("Found: {names}.", names=", ".join(known))
                if known
                else "To list your servers, run `kimi-tui mcp list`.",
            )
    return tuple(copy for copy in copies if not names or copy.name in names)


def _format_found(server: FoundServer) -> str:
    parts = [
        f"{key} {', '.join(map(str, table))}"
        for key in ("env", "headers")
        if isinstance(table := server.entry.get(key), dict) and table
    ]
    environment = f" (with {'; '.join(parts)})" if parts else ""
    return sanitize_line(f"{server.target}{environment}  [{server.program}: {server.path}]")


def _print_requirements(copy: ServerCopy) -> None:
    for variable in copy.server.inputs:
        print_line(
            msg("{name} needs the environment variable {variable}.", name=copy.name, variable=variable)
        )
    (server,) = parse_servers(source_from_entry(copy.name, copy.server.entry))
    if isinstance(server, InvalidServer):
        print_line(msg("The server can't be used yet: {problem}", problem=as_message(server.problem)))


class _PrintedSignInPage(SignInPage):
    """Prints the address of the sign-in page."""

    def announce(self, url: str) -> None:
        print_line(msg("Opening the browser to sign in. If it doesn't open, visit:\n{url}", url=url))


@app.command()
def auth(name: _Name) -> None:
    """Sign in to a server in the browser."""
    server = _require_remote(name)
    asyncio.run(sign_in_to_server(server, data_dir=ensure_data_dir(), page=_PrintedSignInPage()))
    print_line(msg("Signed in to {name}.", name=name))


@app.command("reset-auth")
def reset_auth(name: _Name) -> None:
    """Sign out of a server."""
    server = _require_remote(name)
    was_signed_in = TokenStore(token_path(data_dir(), server.url)).clear()
    print_line(
        msg("Signed out of {name}.", name=name)
        if was_signed_in
        else msg("Not signed in to {name}.", name=name)
    )


@app.command()
def test(name: _Name) -> None:
    """Connect to a server and list its tools, prompts and resources."""
    server = _find_server(name)
    print_line(msg("Testing connection to '{name}'...", name=name))
    try:
        check = asyncio.run(check_connection(server, data_dir=ensure_data_dir(), work_dir=current_dir()))
    except KimiTuiError as error:
        raise KimiTuiError(
            msg("Can't use {name}. {problem}", name=name, problem=error.what), hint=error.hint
        ) from error
    title = sanitize_line(check.features.title) or name
    print_note(msg("{name} took {seconds:.1f} s to connect.", name=title, seconds=check.seconds))
    print_line(msg("✓ Connected to '{name}'", name=name))
    for line in _format_features(check.features):
        print_line(line)


def _format_features(features: ServerFeatures) -> Iterable[str]:
    yield msg("  Available tools: {count}", count=len(features.tools))
    offers = [(offer.name, offer.description) for offer in features.tools]
    prompts = [(offer.name, offer.description) for offer in features.prompts]
    resources = [(offer.uri, offer.name) for offer in (*features.resources, *features.templates)]
    for heading, items in (("  Tools:", offers), ("  Prompts:", prompts), ("  Resources:", resources)):
        if items:
            yield heading
        for offer_name, description in items:
            yield f"    - {sanitize_line(offer_name)}: {sanitize_line(description)[:100]}".rstrip()


def _format_entry(entry: ServerEntry) -> str:
    match entry:
        case InvalidServer(name=name, problem=problem):
            return f"{name}: {problem or 'disabled'}"
        case RemoteServer(name=name, oauth=True) if not _is_signed_in(entry):
            scopes = f" [scopes: {sanitize_line(', '.join(entry.scopes))}]" if entry.scopes else ""
            sign_in = f" [authorization required - run: kimi-tui mcp auth {name}]"
            return f"{name} ({entry.transport}): {entry.target}{scopes}{sign_in}"
        case _:
            return f"{entry.name} ({entry.transport}): {entry.target}"


def _is_signed_in(server: RemoteServer) -> bool:
    return TokenStore(token_path(data_dir(), server.url)).has_tokens


def _find_server(name: str) -> ServerConfig:
    found = find_servers(data_dir=data_dir(), work_dir=current_dir())
    entry = next((entry for entry in found.entries if entry.name == name), None)
    if entry is None:
        raise _unknown_server_error(name, [entry.name for entry in found.entries])
    if isinstance(entry, InvalidServer):
        raise ConfigError(
            entry.problem or msg("{name} is disabled.", name=name),
            hint="Change its entry in the MCP config file.",
        )
    return entry


def _require_remote(name: str) -> RemoteServer:
    server = _find_server(name)
    if not isinstance(server, RemoteServer):
        raise UsageError(
            msg("{name} is a local program without sign-in.", name=name), hint="Pass credentials with --env."
        )
    return server


def _unknown_server_error(name: str, known: Iterable[str]) -> ConfigError:
    names = ", ".join(map(sanitize_line, known))
    return ConfigError(
        msg("Unknown MCP server {name}.", name=sanitize_line(name)),
        hint=msg("Configured: {names}.", names=names) if names else "Add one with `kimi-tui mcp add`.",
    )


def _parse_pair(text: str, separator: str, hint: str) -> tuple[str, str]:
    key, found, value = text.partition(separator)
    if not found or not key.strip():
        raise UsageError(msg("“{text}” must be a name and a value.", text=sanitize_line(text)), hint=hint)
    return key.strip(), value.strip() if separator == ":" else value
