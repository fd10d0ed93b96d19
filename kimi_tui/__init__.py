"""kimi-tui: a full-screen terminal coding agent that can revert conversations and files.

`from kimi_tui import KimiTui` is the Python API (`docs/python-api.md`). Names are imported on first use, so
`import kimi_tui` stays cheap.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kimi_tui.api.agent import KimiTui as KimiTui
    from kimi_tui.api.structured_output import OutputValidationError as OutputValidationError
    from kimi_tui.api.tools import tool as tool
    from kimi_tui.api.turn import Turn as Turn
    from kimi_tui.api.turn_result import TurnError as TurnError
    from kimi_tui.api.turn_result import TurnResult as TurnResult
    from kimi_tui.base.content_parts import ImageURLPart as ImageURLPart
    from kimi_tui.base.content_parts import MediaURL as MediaURL
    from kimi_tui.base.content_parts import TextPart as TextPart
    from kimi_tui.base.content_parts import ThinkPart as ThinkPart
    from kimi_tui.base.errors import KimiTuiError as KimiTuiError
    from kimi_tui.base.message import Message as Message
    from kimi_tui.base.message import ToolCall as ToolCall
    from kimi_tui.compaction.strategy import CompactionContext as CompactionContext
    from kimi_tui.version import __version__ as __version__
    from kimi_tui.wire.events import ApprovalResponse as ApprovalResponse
    from kimi_tui.wire.events import StepBegin as StepBegin
    from kimi_tui.wire.events import ToolResult as ToolResult
    from kimi_tui.wire.events import TurnBegin as TurnBegin
    from kimi_tui.wire.events import TurnEnd as TurnEnd
    from kimi_tui.wire.requests import ApprovalRequest as ApprovalRequest
    from kimi_tui.wire.requests import QuestionRequest as QuestionRequest

_MODULES = {
    "api.agent": ("KimiTui",),
    "api.structured_output": ("OutputValidationError",),
    "api.turn_result": ("TurnError", "TurnResult"),
    "api.tools": ("tool",),
    "api.turn": ("Turn",),
    "base.content_parts": ("ImageURLPart", "MediaURL", "TextPart", "ThinkPart"),
    "base.errors": ("KimiTuiError",),
    "base.message": ("Message", "ToolCall"),
    "compaction.strategy": ("CompactionContext",),
    "version": ("__version__",),
    "wire.events": ("ApprovalResponse", "StepBegin", "ToolResult", "TurnBegin", "TurnEnd"),
    "wire.requests": ("ApprovalRequest", "QuestionRequest"),
}
"""Public names by the module that defines them, relative to this package."""


_DEPRECATED = {"OutputMisfit": "OutputValidationError"}
"""New names of renamed API members by old name. An old name is supported for one release."""


def __getattr__(name: str) -> object:
    if name in _DEPRECATED:
        import warnings

        warnings.warn(f"{name} is deprecated; use {_DEPRECATED[name]}", DeprecationWarning, stacklevel=2)
        name = _DEPRECATED[name]
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for names in _MODULES.values() for name in names)})
