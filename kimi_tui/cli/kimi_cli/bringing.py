"""Bringing everything over from a share dir of Kimi CLI; nothing that is ours is replaced."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.base.terminal import plain_line
from kimi_tui.cli.kimi_cli.sessions import copy_session
from kimi_tui.cli.kimi_cli.share import KimiCliShare
from kimi_tui.cli.kimi_cli.skills import is_usual, point_at_skills, skills_in
from kimi_tui.config.editing import add_missing
from kimi_tui.config.foreign import without_foreign_keys
from kimi_tui.config.loading import read_config, settings_of, user_config_path
from kimi_tui.config.project_mcp import mcp_source
from kimi_tui.config.source import source_from_file
from kimi_tui.tools.mcp.config_file import server_table, write_server
from kimi_tui.tools.mcp.sources import user_mcp_path


@dataclass(slots=True)
class Account:
    """What came over, and what did not."""

    brought: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    to_do: list[str] = field(default_factory=list)
    """What the user has to do before all of it works."""

    @contextmanager
    def part(self, what: str) -> Iterator[None]:
        """A part whose failure costs that part alone."""
        try:
            yield
        except KimiTuiError as error:
            self.problems.append(f"{what}: {error}")
        except OSError as error:
            self.problems.append(f"{what}: {error.strerror or error} ({error.filename}).")


def bring_over(share: KimiCliShare, share_dir: Path) -> Account:
    """Copy config, MCP servers, input history and sessions into `share_dir`, which exists, and its skills."""
    account = Account()
    parts: dict[str, Callable[[KimiCliShare, Path, Account], None]] = {
        "The config": _config,
        "The MCP servers": _servers,
        "The input history": _input_history,
        "The sessions": _sessions,
        "The skills": _skills,
        "The sign-ins": _sign_ins,
    }
    for what, bring in parts.items():
        with account.part(what):
            bring(share, share_dir, account)
    return account


def _config(share: KimiCliShare, share_dir: Path, account: Account) -> None:
    if share.config is None:
        return
    source = source_from_file(share.config)
    data, left_out = without_foreign_keys(source.data)
    target = user_config_path(share_dir)
    if not target.exists():
        replace_private_file(share_dir / share.config.name, source.text)
        account.brought.append(f"config: {share_dir / share.config.name}")
    else:
        tables = {
            name: table for name in ("providers", "models") if isinstance(table := data.get(name), dict)
        }
        added = add_missing(target, tables)
        account.brought += [f"config: {name}" for name in added]
    if left_out:
        account.notes.append(f"Means something to Kimi CLI only: {', '.join(left_out)}.")
    for name, provider in source.data.get("providers", {}).items():
        if isinstance(provider, dict) and provider.get("oauth") and not provider.get("api_key"):
            account.to_do.append(_instead_of_sign_in(name, provider))
    with account.part("The config"):
        settings_of(read_config(share_dir=share_dir, work_dir=share_dir, environ={}))


def _instead_of_sign_in(name: str, provider: dict[str, Any]) -> str:
    what = f"The provider “{plain_line(name)}” was signed in to with an account, whose tokens stay there."
    if provider.get("type") != "kimi":
        return f"{what} Give it an API key: `kimi-tui config edit`."
    address = plain_line(str(provider.get("base_url") or ""))
    return f"{what} Give it an API key: `kimi-tui login kimi{f' --base-url {address}' if address else ''}`."


def _skills(share: KimiCliShare, share_dir: Path, account: Account) -> None:
    try:
        theirs = {} if share.config is None else source_from_file(share.config).data
    except ConfigError:  # that was told of the config already
        theirs = {}
    pointed_at = point_at_skills(share.folder, theirs, share_dir)
    account.brought += [f"skills: those in {plain_line(folder)}, where they are" for folder in pointed_at]
    names = skills_in(share.folder)
    if names and is_usual(share.folder):
        account.notes.append(f"Used where they are, in {share.folder / 'skills'}: {', '.join(names)}.")


def _sign_ins(share: KimiCliShare, _: Path, account: Account) -> None:
    if share.sign_ins:
        account.to_do.append(
            f"Tokens are not copied ({plain_line(', '.join(share.sign_ins))}): sign in anew, with"
            " `kimi-tui login` for a model and `kimi-tui mcp auth` for an MCP server."
        )


def _servers(share: KimiCliShare, share_dir: Path, account: Account) -> None:
    if share.mcp is None:
        return
    target = user_mcp_path(share_dir)
    known = server_table(mcp_source(target)) if target.exists() else {}
    for name, entry in server_table(mcp_source(share.mcp)).items():
        if name not in known and isinstance(entry, dict):
            write_server(target, name, entry)
            account.brought.append(f"MCP server: {name}")
            if entry.get("auth") == "oauth":
                account.to_do.append(f"Sign in to the MCP server anew: `kimi-tui mcp auth {name}`.")


def _input_history(share: KimiCliShare, share_dir: Path, account: Account) -> None:
    folders = 0
    for file in share.input_histories():
        with account.part("The input history"):
            folders += _added_before(file, share_dir / "user-history" / file.name)
    if folders:
        account.brought.append(f"input history: of {_count(folders, 'folder')}")


def _added_before(theirs: Path, ours: Path) -> bool:
    """Put the lines of a file before those of ours, which are newer. Whether there were new ones."""
    known = _lines_of(ours) if ours.exists() else []
    lines = _lines_of(theirs)
    new = [line for line in lines if line not in set(known)]
    if new:
        replace_private_file(ours, "".join(f"{line}\n" for line in [*new, *known]))
    return bool(new)


def _lines_of(file: Path) -> list[str]:
    """Lines of JSON: some of their characters end lines for `str.splitlines`."""
    return [line for line in file.read_text("utf-8", "replace").split("\n") if line.strip()]


def _sessions(share: KimiCliShare, share_dir: Path, account: Account) -> None:
    copied = branches = subagents = known = homeless = 0
    for found in share.sessions():
        with account.part(f"The session {found.id}"):
            with_it = copy_session(found, share_dir)
            if with_it is None:
                known += 1
                continue
            copied += 1
            subagents += with_it
            branches += found.branches
            homeless += found.work_dir is None
    if copied:
        along = [
            *([_count(branches, "branch", "branches")] if branches else []),
            *([_count(subagents, "sub-agent")] if subagents else []),
        ]
        account.brought.append(_count(copied, "session") + (f", with {' and '.join(along)}" if along else ""))
    if known:
        account.notes.append(f"{_count(known, 'session')} had come over before.")
    if homeless:
        account.notes.append(
            f"Of {_count(homeless, 'session')} it isn't known which folder they worked in. Go there and type "
            "`kimi-tui --continue`."
        )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
