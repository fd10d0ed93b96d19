"""Conversion of command-line options to print options."""

from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.output_schema import OutputSchema
from kimi_tui.cli.options import CliOptions
from kimi_tui.headless.options import PrintOptions
from kimi_tui.version import __version__


def to_print_options(cli_options: CliOptions) -> PrintOptions:
    """Return the options of print mode. Raises UsageError for an unusable output schema."""
    return PrintOptions(
        prompt=cli_options.text,
        goal=cli_options.goal or "",
        input_format=cli_options.input_format or "text",
        output_format=cli_options.output_format
        or ("json" if cli_options.daemon and not cli_options.quiet else "text"),
        final_only=cli_options.final_message_only or cli_options.quiet,
        allow_denials=cli_options.allow_denials,
        schema=_read_schema(cli_options.output_schema) if cli_options.output_schema is not None else None,
        version=__version__,
    )


def _read_schema(path: Path) -> OutputSchema:
    try:
        text = path.expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(
            msg("Can't read --output-schema {path}: {reason}.", path=path, reason=problem),
            hint="Choose a file with a JSON schema.",
        ) from error
    return OutputSchema(text, name=f"--output-schema {path}")
