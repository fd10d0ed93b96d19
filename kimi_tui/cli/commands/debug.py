"""`kimi-tui debug`: writes an archive for a bug report."""

import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.logging import log_path
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.base.redaction import looks_like_secret_name, redact, register_secrets, secret_values
from kimi_tui.cli.commands.info import collect_info
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.config.loader import user_config_path
from kimi_tui.history.record_codec import role_of
from kimi_tui.history.session import SessionStore

app = new_app("Collect data for a bug report.")

_MAX_SESSIONS = 3
"""Number of sessions of the directory that are described."""


@app.callback()
def _group() -> None:
    """Collect data for a bug report."""


@app.command()
def bundle(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Write to a new FILE.")
    ] = Path("kimi-tui-debug.zip"),
) -> None:
    """Write an archive for a bug report, without keys and without conversations."""
    if output.exists():
        raise UsageError(
            msg("{path} already exists.", path=output), hint="Choose another name with --output."
        )
    register_secrets((*secret_values(os.environ), *_stored_secrets()))
    contents = [(name, redact(text)) for name, text in _collect()]
    try:
        _write_archive(output, contents)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't write {path}: {reason}.", path=output, reason=error.strerror or error),
            hint="Choose a writable place with --output.",
        ) from error
    print_line(msg("Wrote {path}. Check its contents before you share it:", path=output))
    for name, text in contents:
        print_line(f"  {name}  {len(text.encode())} B")


def _write_archive(output: Path, contents: list[tuple[str, str]]) -> None:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents:
            archive.writestr(name, text)


def _collect() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the archive's files, not yet redacted."""
    yield "info.json", json.dumps(collect_info(), ensure_ascii=False, indent=2)
    for path in (user_config_path(data_dir()), data_dir() / "mcp.json"):
        if (text := _read(path)) is not None:
            yield path.name, text
    log = log_path(data_dir())
    for path in sorted(log.parent.glob(f"{log.name}*")) if log.parent.is_dir() else ():
        if (text := _read(path)) is not None:
            yield f"logs/{path.name}", text
    for summary in SessionStore(data_dir()).list(current_dir())[:_MAX_SESSIONS]:
        shape = _describe_session(summary.dir)
        yield f"sessions/{summary.id}.json", json.dumps(shape, indent=2)


def _describe_session(folder: Path) -> dict[str, Any]:
    """Return the sizes of a session's files and how many records of each role it has, without texts."""
    roles: Counter[str] = Counter()
    data = _read(folder / "context.jsonl") or ""
    for line in data.split("\n"):
        if line.strip():
            roles[role_of(line.encode()) or "unknown"] += 1
    files = {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()}
    return {"files": files, "records": dict(roles)}


def _stored_secrets() -> Iterator[str]:
    """Yield the keys in the config files, including those of headers and variables."""
    import tomllib

    for path in (user_config_path(data_dir()), data_dir() / "credentials.json", data_dir() / "mcp.json"):
        text = _read(path) or ""
        try:
            data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        except (ValueError, RecursionError):
            continue
        yield from _secrets_in(data, is_secret=False)


def _secrets_in(value: Any, *, is_secret: bool) -> Iterator[str]:
    match value:
        case str() if is_secret and not value.startswith("env:"):
            yield value
        case dict():
            for name, item in value.items():
                is_table = str(name) in ("headers", "custom_headers", "env")
                yield from _secrets_in(
                    item, is_secret=is_secret or is_table or looks_like_secret_name(str(name))
                )
        case list():
            for item in value:
                yield from _secrets_in(item, is_secret=is_secret)
        case _:
            return


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None
