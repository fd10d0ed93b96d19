"""The question whether to trust the files of a project that configure kimi-tui."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.startup_prompts import ask, print_safely
from kimi_tui.config.config_source import source_from_file
from kimi_tui.config.project_config import check_project_keys, summarize_settings
from kimi_tui.config.project_files import ProjectFile, ProjectFileKind
from kimi_tui.config.project_mcp import read_mcp_source, summarize_servers
from kimi_tui.config.project_trust import ProjectTrust, ReviewedFile, TrustStatus
from kimi_tui.i18n.translate import tr, tr_lazy, translate_error

_KINDS: dict[ProjectFileKind, str] = {
    "settings": tr_lazy("Settings"),
    "mcp": tr_lazy("MCP servers"),
    "agent": tr_lazy("Agent"),
    "command": tr_lazy("Command"),
    "skill": tr_lazy("Skill"),
}
_STATUSES: dict[TrustStatus, str] = {
    "trusted": tr_lazy("trusted"),
    "new": tr_lazy("new"),
    "changed": tr_lazy("changed"),
    "declined": tr_lazy("not trusted"),
}


def ask_about_project(reviewed: Iterable[ReviewedFile], *, work_dir: Path, data_dir: Path) -> bool:
    """Ask whether to trust the undecided files. Return whether any became trusted.

    The answer is stored for their current content only.
    """
    undecided = tuple(each for each in reviewed if each.status in ("new", "changed"))
    files = print_files(undecided, work_dir=work_dir) if undecided else ()
    if not files:
        return False
    print_safely("They can allow or run commands without asking, and give the model instructions.")
    answer = ask(f"{tr('Trust these files? [y]es, [n]o, or enter to decide later:')} ").lower()
    if answer not in ("y", "yes", "n", "no"):
        print_safely("Ignored these files. kimi-tui asks again next time.")
        return False
    trusted = answer in ("y", "yes")
    if not trusted:
        print_safely("Ignored these files until they change. To trust them, run `kimi-tui trust add`.")
    store_decision(files, data_dir=data_dir, trusted=trusted)
    return trusted


def print_files(reviewed: Iterable[ReviewedFile], *, work_dir: Path) -> tuple[ProjectFile, ...]:
    """Print the contents of each file. Return the usable files: all except invalid settings."""
    print_safely(msg("Files in {folder} that configure kimi-tui:", folder=work_dir))
    usable: list[ProjectFile] = []
    for each in reviewed:
        print_safely(f"  {_format(each, work_dir)}")
        try:
            for line in _details_of(each.file):
                print_safely(f"      {line}")
            usable.append(each.file)
        except ConfigError as error:
            print_safely(translate_error(error))
            print_safely("The project's settings are ignored.")
    return tuple(usable)


def store_decision(files: Iterable[ProjectFile], *, data_dir: Path, trusted: bool) -> None:
    """Store whether the user trusts `files`. Raises KimiTuiError."""
    try:
        ProjectTrust(data_dir).decide(files, trusted=trusted)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't save your answer: {reason}.", reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error


def _format(reviewed: ReviewedFile, work_dir: Path) -> str:
    path = reviewed.file.path
    shown = path.relative_to(work_dir) if path.is_relative_to(work_dir) else path
    return tr(
        "{kind}: {path} ({status})",
        kind=tr(_KINDS[reviewed.file.kind]),
        path=shown,
        status=tr(_STATUSES[reviewed.status]),
    )


def _details_of(file: ProjectFile) -> Iterator[str]:
    """Yield the settings or servers in a file. Raises ConfigError for settings that a project can't have."""
    match file.kind:
        case "settings":
            source = source_from_file(file.path)
            check_project_keys(source)
            yield from summarize_settings(source.data)
        case "mcp":
            yield from summarize_servers(read_mcp_source(file.path))
        case "agent" | "command" | "skill":
            pass
