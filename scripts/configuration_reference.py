"""Writes the reference in `docs/configuration.md` from the settings' own models, between two marks.

With `--check` it writes nothing, and fails when the page is not current.
"""

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_origin

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from kimi_tui.config.described import Field, Kind, fields_of, table_of
from kimi_tui.config.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"
BEGIN = "<!-- The rest is made by scripts/configuration_reference.py from kimi_tui/config/settings.py. -->\n"
_NAMED = {"providers": "providers.NAME", "models": "models.NAME"}
_KINDS: dict[Kind, str] = {
    "switch": "true, false",
    "integer": "whole number",
    "number": "number",
    "text": "text",
    "secret": "text",
    "table": "table of texts",
}


def reference() -> str:
    """The reference as Markdown: a section a table."""
    return "\n".join(_sections("", Settings)).rstrip() + "\n"


def current_page() -> str:
    """The page as it should be."""
    written = PAGE.read_text("utf-8").partition(BEGIN)[0]
    return f"{written}{BEGIN}\n{reference()}"


def _sections(name: str, table: type) -> Iterator[str]:
    rows = list(fields_of(table))
    inner = [(row, model) for row in rows if (model := table_of(row.annotation)) is not None]
    plain = [row for row in rows if row.key not in {row.key for row, _ in inner}]
    if name:
        yield f"### `{name}`\n"
        yield f"{_sentence(inspect.getdoc(table) or '')}\n"
    else:
        yield "### Outside every table\n"
    if plain:
        yield "| key | | default | |\n|---|---|---|---|"
        yield from (
            f"| `{row.key}` | {_kind(row)} | {_default(row)} | {_sentence(row.meaning)} |" for row in plain
        )
        yield ""
    for row, model in inner:
        path = f"{name}.{row.key}".lstrip(".")
        if get_origin(row.annotation) is tuple:
            yield from _sections(f"[[{path}]]", model)
        else:
            yield from _sections(
                f"[{_NAMED.get(path, path).strip('[]')}]" if not name else _below(name, row.key), model
            )


def _below(name: str, key: str) -> str:
    return f"[{name.strip('[]')}.{key}]"


def _sentence(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _kind(row: Field) -> str:
    choices = ", ".join(f"`{choice}`" for choice in row.choices)
    if row.kind == "choice":
        return choices
    if row.kind == "list":
        return f"list of {choices}" if choices else "list"
    return _KINDS[row.kind]


def _default(row: Field) -> str:
    match row.default:
        case value if value is PydanticUndefined:
            return "must be given"
        case None:
            return ""
        case SecretStr():
            return ""
        case tuple() | frozenset() | dict() as many:
            return "empty" if not many else f"`{json.dumps(list(many))}`"
        case "":
            return ""
        case float() as number if number.is_integer():
            return f"`{int(number)}`"
        case value:
            return f"`{json.dumps(value)}`"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    page = current_page()
    if arguments == ["--check"]:
        if PAGE.read_text("utf-8") != page:
            sys.stderr.write(
                "docs/configuration.md is not current. Run scripts/configuration_reference.py.\n"
            )
            return 1
        return 0
    PAGE.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
