"""The user's own themes: TOML files in `themes/` in the data directory.

The format is described in docs/screen-and-keys.md.
"""

import tomllib
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.theme_names import check_theme_exists, user_theme_path
from kimi_tui.tui.legible_theme import make_legible

_REQUIRED = ("background", "foreground", "primary")
_OPTIONAL = ("secondary", "accent", "success", "warning", "error", "surface", "panel")
_VARIABLES = ("border", "border-blurred", "text-muted", "block-cursor-background", "block-cursor-foreground")
_BRIGHT = 0.5
_MAX_BYTES = 100_000


def load_user_theme(name: str, data_dir: Path) -> Theme:
    """Return the user's theme `name`, with legible colors. Raises ConfigError with the file's name."""
    check_theme_exists(name, data_dir)
    file = user_theme_path(data_dir, name)
    data = _read(file)
    for key in data:
        if key not in (*_REQUIRED, *_OPTIONAL, *_VARIABLES):
            raise ConfigError(
                msg("{file}: unknown key “{key}”.", file=str(file), key=sanitize_line(key)),
                hint=msg("Valid keys: {keys}.", keys=", ".join((*_REQUIRED, *_OPTIONAL, *_VARIABLES))),
            )
    for key in _REQUIRED:
        if key not in data:
            raise ConfigError(
                msg("{file}: “{key}” is missing.", file=str(file), key=key),
                hint=msg("Required keys: {keys}.", keys=", ".join(_REQUIRED)),
            )
    colors = {key: _parse_color(file, key, value).hex for key, value in data.items()}
    named: dict[str, Any] = {key: colors[key] for key in (*_REQUIRED, *_OPTIONAL) if key in colors}
    return make_legible(
        Theme(
            name=name,
            dark=Color.parse(colors["background"]).brightness < _BRIGHT,
            variables={key: colors[key] for key in _VARIABLES if key in colors},
            **named,
        )
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_bytes()[:_MAX_BYTES].decode("utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigError(
            msg("{file} can't be read: {reason}.", file=str(file), reason=error.strerror or str(error)),
            hint="Check the permissions of the file.",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(
            msg("{file} isn't valid TOML: {reason}.", file=str(file), reason=sanitize_line(str(error))),
            hint='Each line has the form primary = "#6ea8fe".',
        ) from error


def _parse_color(file: Path, key: str, value: object) -> Color:
    try:
        color = Color.parse(value) if isinstance(value, str) else None
    except ColorParseError:
        color = None
    if color is None or color.a < 1 or color.ansi is not None:
        raise ConfigError(
            msg(
                "{file}: “{key}” isn't a color: {value}.",
                file=str(file),
                key=key,
                value=sanitize_line(str(value))[:40],
            ),
            hint="Use the form #RRGGBB.",
        )
    return color
