"""Which printer writes which output format."""

from typing import assert_never

from kimi_tui.base.output import Output
from kimi_tui.headless.json_printer import JsonPrinter
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.printer import Printer
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.stream_json_printer import StreamJsonPrinter
from kimi_tui.headless.text_printer import TextPrinter


def printer_of(options: PrintOptions, out: Output, remarks: Remarks) -> Printer:
    """The printer of the format that `options` name, onto `out`."""
    match options.output_format:
        case "text":
            return TextPrinter(
                out, remarks, final_only=options.final_only, structured=options.schema is not None
            )
        case "json":
            return JsonPrinter(out, remarks)
        case "stream-json":
            return StreamJsonPrinter(out, remarks, final_only=options.final_only, version=options.version)
        case _:
            assert_never(options.output_format)
