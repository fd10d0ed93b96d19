"""Every use of Textual's private API is in `tui/terminal`, and this version of Textual still has it.

If a test here fails after an update of Textual, look up the new name in Textual's source, change the module
that uses it, and update `USES`.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import getsource
from pathlib import Path

import pytest
import textual

import kimi_tui.tui

TUI = Path(kimi_tui.tui.__file__).parent
TEXTUAL = Path(textual.__file__).parent
USES = {
    # module in tui/terminal, Textual's class or module, name
    ("direct_paint", "textual.screen:Screen", "_compositor"),
    ("extra_sequences", "textual._ansi_sequences", "ANSI_SEQUENCES_KEYS"),
    ("frame_writer", "textual._compositor", "ChopsUpdate"),
    ("frame_writer", "textual._compositor", "LayoutUpdate"),
    ("frame_writer", "textual.app:App", "_batch_count"),
    ("frame_writer", "textual.app:App", "_begin_update"),
    ("frame_writer", "textual.app:App", "_driver"),
    ("frame_writer", "textual.app:App", "_end_update"),
    ("frame_writer", "textual.message_pump:MessagePump", "_closed"),
    ("frame_writer", "textual.message_pump:MessagePump", "_running"),
    ("input", "textual._parser:Parser", "_timeout_time"),
    ("input", "textual._time", "get_time"),
    ("input", "textual._xterm_parser", "XTermParser"),
    ("key_screen", "textual.screen:Screen", "_on_timer_update"),
    ("key_text_area", "textual.widget:Widget", "_layout_required"),
    ("key_text_area", "textual.widgets:TextArea", "_delete_via_keyboard"),
    ("key_text_area", "textual.widgets:TextArea", "_on_key"),
    ("key_text_area", "textual.widgets:TextArea", "_on_paste"),
    ("key_text_area", "textual.widgets:TextArea", "_replace_via_keyboard"),
    ("key_text_area", "textual.widgets:TextArea", "_theme"),
    ("output", "textual.drivers._writer_thread:WriterThread", "_queue"),
    ("output", "textual.app:App", "_driver"),
    ("screen_buffer", "textual._compositor", "ChopsUpdate"),
    ("screen_buffer", "textual._compositor", "LayoutUpdate"),
    ("silent_updates", "textual.app:App", "_notifications"),
    ("silent_updates", "textual.app:App", "_unnotify"),
    ("silent_updates", "textual.message_pump:MessagePump", "_attach"),
    ("silent_updates", "textual.widget:Widget", "_border_subtitle"),
    ("silent_updates", "textual.widget:Widget", "_layout_cache"),
    ("silent_updates", "textual.widget:Widget", "_set_dirty"),
    ("suspend", "textual.app:App", "_driver"),
    ("suspend", "textual.app:App", "_suspend_signal"),
    ("terminal_app", "textual._xterm_parser", "XTermParser"),
    ("terminal_app", "textual.app:App", "_build_driver"),
    ("terminal_app", "textual.app:App", "_display"),
    ("terminal_app", "textual.app:App", "_fatal_error"),
    ("terminal_app", "textual.app:App", "_handle_exception"),
    ("terminal_app", "textual.app:App", "_watch_app_focus"),
    ("terminal_app", "textual.drivers.linux_driver:LinuxDriver", "_file"),
    ("terminal_app", "textual.message_pump:MessagePump", "_close_messages_no_wait"),
    ("terminal_app", "textual.screen:Screen", "_push_result_callback"),
    ("terminal_app", "textual.screen:Screen", "_result_callbacks"),
    ("terminal_app", "textual.screen:Screen", "_update_auto_focus"),
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def private_names_of_textual() -> dict[str, set[str]]:
    """Return the private methods and attributes that Textual's classes define, with the modules."""
    names = defaultdict(set)
    for path in TEXTUAL.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if is_private(name):
                    names[name].add(path.stem)
                case ast.Attribute(attr=name, ctx=ast.Store()) if is_private(name):
                    names[name].add(path.stem)
    return names


def private_uses(path: Path) -> Iterator[str]:
    """Yield the names of Textual's private API that a module imports or uses."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    methods = {
        item.name
        for node in classes
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    own = methods | {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    own |= {
        node.target.id
        for node in nodes
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    own |= {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("textual._"):
                yield from (alias.name for alias in names)
            case ast.Attribute(attr=name, value=ast.Call(func=ast.Name(id="super"))) if is_private(name):
                yield name
            case ast.Attribute(attr=name, value=value) if name in private_names_of_textual():
                is_self = isinstance(value, ast.Name) and value.id == "self"
                if name not in own or not (is_self or isinstance(node.ctx, ast.Load)):
                    yield name


@pytest.mark.parametrize(("module", "owner", "name"), sorted(USES))
def test_textual_still_has_the_name(module: str, owner: str, name: str) -> None:
    home, _, class_name = owner.partition(":")
    defined = import_module(home)
    place = getattr(defined, class_name) if class_name else defined
    bases = [base for base in place.__mro__ if base is not object] if class_name else []
    exists = hasattr(place, name) or any(f"self.{name}" in getsource(base) for base in bases)
    assert exists, f"Textual {textual.__version__} has no {owner}.{name}; tui/terminal/{module}.py uses it."


def test_only_the_terminal_package_uses_the_private_api() -> None:
    # Names that our own classes pass around and that Textual happens to use as well.
    ours = {"_owner", "_state", "_search", "_tick"}
    found = {
        f"{path.relative_to(TUI)}: {name}"
        for path in sorted(TUI.rglob("*.py"))
        if "textual" in path.read_text("utf-8") and path.parent != TUI / "terminal"
        for name in private_uses(path)
        if name not in ours
    }
    assert found == set(), "Move these uses of Textual's private API to tui/terminal."


def test_every_use_is_named() -> None:
    named = {(module, name) for module, _, name in USES}
    used = {(path.stem, name) for path in (TUI / "terminal").glob("*.py") for name in private_uses(path)}
    assert used - named == set(), "Add these uses of Textual's private API to USES."
