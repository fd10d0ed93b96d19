"""Key bindings of the conversation."""

from textual.binding import Binding


def _binding(name: str, keys: str, action: str, label: str) -> Binding:
    return Binding(keys, action, label, id=f"transcript.{name}", show=False, tooltip=label)


TRANSCRIPT_BINDINGS = (
    _binding("up", "up,k", "scroll_rows(-1)", "row up"),
    _binding("down", "down,j", "scroll_rows(1)", "row down"),
    _binding("half_page_up", "ctrl+u", "scroll_pages(-0.5)", "half a page up"),
    _binding("half_page_down", "ctrl+d", "scroll_pages(0.5)", "half a page down"),
    _binding("screen_up", "pageup,b", "scroll_pages(-1)", "page up"),
    _binding("screen_down", "pagedown,space", "scroll_pages(1)", "page down"),
    _binding("start", "home,g", "scroll_home", "go to the start"),
    _binding("finish", "end,G", "scroll_end", "go to the end and follow it"),
    _binding("previous_prompt", "left_square_bracket", "jump_to_prompt(-1)", "previous prompt"),
    _binding("next_prompt", "right_square_bracket", "jump_to_prompt(1)", "next prompt"),
    _binding("previous_block", "left_curly_bracket,alt+up", "select_next(-1)", "select the previous block"),
    _binding("next_block", "right_curly_bracket,alt+down", "select_next(1)", "select the next block"),
    _binding("fold", "enter", "toggle_fold", "expand or collapse the selected block"),
    _binding("fold_all", "z", "toggle_all", "expand or collapse all blocks"),
    _binding("pager", "o", "open_pager", "open the selected block in the pager"),
    _binding("copy", "y", "copy_block", "copy the selected block"),
    _binding("copy_code", "Y", "copy_code", "copy the last code block of the selected block"),
    _binding("open_link", "l", "open_link", "open the next link in the selected block"),
    _binding("go_back", "r", "go_back", "revert to before the selected block, with a preview"),
    _binding("undo", "u", "command('undo')", "undo the last revert"),
    _binding("redo", "U", "command('redo')", "redo"),
    _binding("extend_up", "shift+up", "extend_selection(-1)", "select text, a row up"),
    _binding("extend_down", "shift+down", "extend_selection(1)", "select text, a row down"),
    _binding("leave", "escape", "leave", "return to the prompt if nothing is running"),
    _binding("search", "slash", "search", "search the conversation"),
    _binding("next_match", "n", "next_match(1)", "next match"),
    _binding("previous_match", "N", "next_match(-1)", "previous match"),
)
