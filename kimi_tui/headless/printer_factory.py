"""Factory for the printers of the output formats."""

from typing import assert_never

from kimi_tui.base.output_stream import OutputStream
from kimi_tui.headless.json_printer import JsonPrinter
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.stderr_notices import StderrNotices
from kimi_tui.headless.stream_json_printer import StreamJsonPrinter
from kimi_tui.headless.text_printer import TextPrinter


def create_printer(options: PrintOptions, out: OutputStream, notices: StderrNotices) -> Printer:
    """Return a printer to `out` for the output format in `options`."""
    match options.output_format:
        case "text":
            return TextPrinter(
                out, notices, final_only=options.final_only, structured=options.schema is not None
            )
        case "json":
            return JsonPrinter(out, notices)
        case "stream-json":
            return StreamJsonPrinter(out, notices, final_only=options.final_only, version=options.version)
        case _:
            assert_never(options.output_format)
