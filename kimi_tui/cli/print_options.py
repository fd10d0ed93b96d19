"""From the command line to what print mode is asked to do."""

from pathlib import Path

from kimi_tui import __version__
from kimi_tui.base.errors import UsageError
from kimi_tui.base.output_schema import OutputSchema
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.headless.options import PrintOptions


def print_options(line: CommandLine) -> PrintOptions:
    """Raises UsageError for an output schema that can't be used."""
    return PrintOptions(
        prompt=line.text,
        input_format=line.input_format or "text",
        output_format=line.output_format or ("json" if line.daemon and not line.quiet else "text"),
        final_only=line.final_message_only or line.quiet,
        allow_denials=line.allow_denials,
        schema=_schema(line.output_schema) if line.output_schema is not None else None,
        version=__version__,
    )


def _schema(path: Path) -> OutputSchema:
    try:
        text = path.expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(
            f"--output-schema {path} can't be read: {problem}.", hint="Name a file with a JSON schema."
        ) from error
    return OutputSchema(text, name=f"--output-schema {path}")
