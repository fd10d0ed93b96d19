"""Import of everything in a data directory of Kimi CLI. Never overwrites existing data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.kimi_cli.config_copy import copy_config
from kimi_tui.cli.kimi_cli.skill_links import is_default_data_dir, link_skills, list_skills
from kimi_tui.config.config_source import source_from_file
from kimi_tui.config.loader import read_config, settings_of, user_config_path
from kimi_tui.config.project_mcp import read_mcp_source
from kimi_tui.config.toml_edit import add_missing
from kimi_tui.engine.kimi_cli.sessions import copy_session
from kimi_tui.history.kimi_cli.data_dir import KimiCliDataDir
from kimi_tui.mcp.config_discovery import user_mcp_path
from kimi_tui.mcp.config_file import find_server_table, write_server


@dataclass(slots=True)
class ImportReport:
    """Result of an import: imported items, problems, notes and follow-ups."""

    imported: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    follow_ups: list[str] = field(default_factory=list)
    """Steps that the user still has to take."""

    @contextmanager
    def section(self, what: str) -> Iterator[None]:
        """Record errors of one part, so that the others are still imported."""
        try:
            yield
        except KimiTuiError as error:
            self.problems.append(f"{what}: {error}")
        except OSError as error:
            self.problems.append(f"{what}: {error.strerror or error} ({error.filename}).")


def import_all(kimi_cli_dir: KimiCliDataDir, data_dir: Path) -> ImportReport:
    """Import config, MCP servers, input history, sessions and skills into `data_dir`, which must exist."""
    report = ImportReport()
    parts: dict[str, Callable[[KimiCliDataDir, Path, ImportReport], None]] = {
        "Config": _import_config,
        "MCP servers": _import_servers,
        "Input history": _import_input_history,
        "Sessions": _import_sessions,
        "Skills": _import_skills,
        "Sign-ins": _import_sign_ins,
    }
    for name, import_part in parts.items():
        with report.section(name):
            import_part(kimi_cli_dir, data_dir, report)
    return report


def _import_config(kimi_cli_dir: KimiCliDataDir, data_dir: Path, report: ImportReport) -> None:
    if kimi_cli_dir.config is None:
        return
    source = source_from_file(kimi_cli_dir.config)
    copy = copy_config(source)
    target = user_config_path(data_dir)
    if not target.exists():
        write_private_atomic(data_dir / kimi_cli_dir.config.name, copy.text)
        report.imported.append(f"config: {data_dir / kimi_cli_dir.config.name}")
    else:
        tables = {
            name: table for name in ("providers", "models") if isinstance(table := copy.data.get(name), dict)
        }
        added = add_missing(target, tables)
        report.imported += [f"config: {name}" for name in added]
    if copy.own_keys:
        names = ", ".join(map(sanitize_line, copy.own_keys))
        report.notes.append(msg("Not imported, used by Kimi CLI only: {names}.", names=names))
    report.notes += [msg("Not used: {problem}", problem=problem) for problem in copy.problems]
    providers = source.data.get("providers")
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        if isinstance(provider, dict) and provider.get("oauth") and not provider.get("api_key"):
            report.follow_ups.append(_sign_in_advice(name, provider))
    with report.section("Config"):
        settings_of(read_config(data_dir=data_dir, work_dir=data_dir, environ={}))


def _sign_in_advice(name: str, provider: dict[str, Any]) -> str:
    reason = f"Provider “{sanitize_line(name)}” uses an account, and its tokens aren't imported."
    if provider.get("type") != "kimi":
        return f"{reason} Set an API key: `kimi-tui config edit`."
    base_url = sanitize_line(str(provider.get("base_url") or ""))
    return f"{reason} Set an API key: `kimi-tui login kimi{f' --base-url {base_url}' if base_url else ''}`."


def _import_skills(kimi_cli_dir: KimiCliDataDir, data_dir: Path, report: ImportReport) -> None:
    try:
        kimi_cli_config = {} if kimi_cli_dir.config is None else source_from_file(kimi_cli_dir.config).data
    except ConfigError:  # already reported for the config
        kimi_cli_config = {}
    linked = link_skills(kimi_cli_dir.folder, kimi_cli_config, data_dir)
    report.imported += [f"skills: {sanitize_line(folder)} (used in place)" for folder in linked]
    names = list_skills(kimi_cli_dir.folder)
    if names and is_default_data_dir(kimi_cli_dir.folder):
        report.notes.append(
            msg(
                "Skills used in place, from {path}: {names}.",
                path=kimi_cli_dir.folder / "skills",
                names=", ".join(names),
            )
        )


def _import_sign_ins(kimi_cli_dir: KimiCliDataDir, _: Path, report: ImportReport) -> None:
    if kimi_cli_dir.sign_ins:
        report.follow_ups.append(
            msg(
                "Tokens aren't imported ({names}). Sign in again: `kimi-tui login` for a model, "
                "`kimi-tui mcp auth` for an MCP server.",
                names=sanitize_line(", ".join(kimi_cli_dir.sign_ins)),
            )
        )


def _import_servers(kimi_cli_dir: KimiCliDataDir, data_dir: Path, report: ImportReport) -> None:
    if kimi_cli_dir.mcp is None:
        return
    target = user_mcp_path(data_dir)
    known = find_server_table(read_mcp_source(target)) if target.exists() else {}
    for name, entry in find_server_table(read_mcp_source(kimi_cli_dir.mcp)).items():
        if name not in known and isinstance(entry, dict):
            write_server(target, name, entry)
            report.imported.append(f"MCP server: {name}")
            if entry.get("auth") == "oauth":
                report.follow_ups.append(
                    msg("Sign in to the MCP server again: `kimi-tui mcp auth {name}`.", name=name)
                )


def _import_input_history(kimi_cli_dir: KimiCliDataDir, data_dir: Path, report: ImportReport) -> None:
    folders = 0
    for file in kimi_cli_dir.input_histories():
        with report.section("Input history"):
            folders += _prepend_lines(file, data_dir / "user-history" / file.name)
    if folders:
        report.imported.append(f"input history: {_format_count(folders, 'directory', 'directories')}")


def _prepend_lines(source_file: Path, target_file: Path) -> bool:
    """Insert the new lines of a file before existing ones, which are newer. Return whether there were any."""
    known = _lines_of(target_file) if target_file.exists() else []
    lines = _lines_of(source_file)
    new = [line for line in lines if line not in set(known)]
    if new:
        write_private_atomic(target_file, "".join(f"{line}\n" for line in [*new, *known]))
    return bool(new)


def _lines_of(file: Path) -> list[str]:
    """Return the JSON lines of a file. `str.splitlines` would also split at other characters."""
    return [line for line in file.read_text("utf-8", "replace").split("\n") if line.strip()]


def _import_sessions(kimi_cli_dir: KimiCliDataDir, data_dir: Path, report: ImportReport) -> None:
    copied = branches = subagents = known = homeless = 0
    for session in kimi_cli_dir.sessions():
        with report.section(f"Session {session.id}"):
            n_subagents = copy_session(session, data_dir)
            if n_subagents is None:
                known += 1
                continue
            copied += 1
            subagents += n_subagents
            branches += session.branches
            homeless += session.work_dir is None
    if copied:
        contents = [
            *([_format_count(branches, "branch", "branches")] if branches else []),
            *([_format_count(subagents, "sub-agent")] if subagents else []),
        ]
        report.imported.append(
            _format_count(copied, "session") + (f", with {' and '.join(contents)}" if contents else "")
        )
    if known:
        report.notes.append(msg("Already imported: {sessions}.", sessions=_format_count(known, "session")))
    if homeless:
        report.notes.append(
            msg(
                "Unknown working directory: {sessions}. To resume, run `kimi-tui --continue` in that "
                "directory.",
                sessions=_format_count(homeless, "session"),
            )
        )


def _format_count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
