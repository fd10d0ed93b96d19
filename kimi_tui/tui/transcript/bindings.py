"""The keys of the conversation, each with an id that a key map may name."""

from textual.binding import Binding


def _key(identifier: str, keys: str, action: str, label: str) -> Binding:
    return Binding(keys, action, label, id=f"transcript.{identifier}", show=False, tooltip=label)


TRANSCRIPT_BINDINGS = (
    _key("up", "up,k", "scroll_rows(-1)", "a row up"),
    _key("down", "down,j", "scroll_rows(1)", "a row down"),
    _key("half_page_up", "ctrl+u", "scroll_pages(-0.5)", "half a page up"),
    _key("half_page_down", "ctrl+d", "scroll_pages(0.5)", "half a page down"),
    _key("screen_up", "pageup,b", "scroll_pages(-1)", "a page up"),
    _key("screen_down", "pagedown,space", "scroll_pages(1)", "a page down"),
    _key("start", "home,g", "scroll_home", "the beginning"),
    _key("finish", "end,G", "scroll_end", "the end, and follow it"),
    _key("previous_prompt", "left_square_bracket", "jump_to_prompt(-1)", "the prompt before"),
    _key("next_prompt", "right_square_bracket", "jump_to_prompt(1)", "the next prompt"),
    _key("previous_block", "left_curly_bracket,alt+up", "select_next(-1)", "select the block before"),
    _key("next_block", "right_curly_bracket,alt+down", "select_next(1)", "select the next block"),
    _key("fold", "enter", "toggle_fold", "fold or unfold the selected block"),
    _key("fold_all", "z", "toggle_all", "fold or unfold everything"),
    _key("pager", "o", "open_pager", "read the selected block in the pager"),
    _key("copy", "y", "copy_block", "copy the selected block"),
    _key("copy_code", "Y", "copy_code", "copy the last code block of the selected block"),
    _key("open_link", "l", "open_link", "open the next link of the selected block"),
    _key("go_back", "r", "go_back", "go back to before the selected block; shows first what would change"),
    _key("undo", "u", "command('undo')", "undo the last jump in time"),
    _key("redo", "U", "command('redo')", "redo it"),
    _key("extend_up", "shift+up", "extend_selection(-1)", "select text, a row up"),
    _key("extend_down", "shift+down", "extend_selection(1)", "select text, a row down"),
    _key("leave", "escape", "leave", "back to the prompt, when there is nothing to interrupt"),
    _key("search", "slash", "search", "search the conversation"),
    _key("next_match", "n", "next_match(1)", "the next match"),
    _key("previous_match", "N", "next_match(-1)", "the match before"),
)
