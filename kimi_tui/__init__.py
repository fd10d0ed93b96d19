"""kimi-tui: a full-screen terminal coding agent with safe time travel.

`from kimi_tui import KimiTui` is the Python API (`docs/python-api.md`). Its names are imported when they are
first asked for, so that `import kimi_tui` costs nothing.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kimi_tui.api.agent import KimiTui as KimiTui
    from kimi_tui.api.output import OutputMisfit as OutputMisfit
    from kimi_tui.api.result import TurnError as TurnError
    from kimi_tui.api.result import TurnResult as TurnResult
    from kimi_tui.api.tools import tool as tool
    from kimi_tui.api.turn import Turn as Turn
    from kimi_tui.base.content import ImageURLPart as ImageURLPart
    from kimi_tui.base.content import MediaURL as MediaURL
    from kimi_tui.base.content import TextPart as TextPart
    from kimi_tui.base.content import ThinkPart as ThinkPart
    from kimi_tui.base.errors import KimiTuiError as KimiTuiError
    from kimi_tui.base.message import Message as Message
    from kimi_tui.base.message import ToolCall as ToolCall
    from kimi_tui.compaction.strategy import CompactionContext as CompactionContext
    from kimi_tui.wire.events import ApprovalResponse as ApprovalResponse
    from kimi_tui.wire.events import StepBegin as StepBegin
    from kimi_tui.wire.events import ToolResult as ToolResult
    from kimi_tui.wire.events import TurnBegin as TurnBegin
    from kimi_tui.wire.events import TurnEnd as TurnEnd
    from kimi_tui.wire.requests import ApprovalRequest as ApprovalRequest
    from kimi_tui.wire.requests import QuestionRequest as QuestionRequest

_HOMES = {
    "api.agent": ("KimiTui",),
    "api.output": ("OutputMisfit",),
    "api.result": ("TurnError", "TurnResult"),
    "api.tools": ("tool",),
    "api.turn": ("Turn",),
    "base.content": ("ImageURLPart", "MediaURL", "TextPart", "ThinkPart"),
    "base.errors": ("KimiTuiError",),
    "base.message": ("Message", "ToolCall"),
    "compaction.strategy": ("CompactionContext",),
    "wire.events": ("ApprovalResponse", "StepBegin", "ToolResult", "TurnBegin", "TurnEnd"),
    "wire.requests": ("ApprovalRequest", "QuestionRequest"),
}
"""Where the names of the API are, by the module below this package."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for names in _HOMES.values() for name in names)})
