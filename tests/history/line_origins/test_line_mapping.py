"""Which line of an older text each line of a newer text continues."""

from kimi_tui.history.line_origins.line_mapping import LineMatch, map_lines


def _map(old: str, new: str, *, is_by_user: bool) -> list[int | str]:
    """Return the source of each new line: a number, "new", or a number with a question mark if in doubt."""
    matches = map_lines(old.encode().splitlines(), new.encode().splitlines(), is_by_user=is_by_user)
    return [_describe(match) for match in matches]


def _describe(match: LineMatch) -> int | str:
    if match.line is None:
        return "new"
    return f"{match.line}?" if match.is_doubtful else match.line


NESTED = "if a:\n  {\n  }\ndone\n"
DEEPER = "if a:\n  {\n  }\n  }\ndone\n"


def test_a_brace_that_the_user_adds_next_to_an_equal_one_makes_both_the_users() -> None:
    assert _map(NESTED, DEEPER, is_by_user=True) == [0, 1, "new", "new", 3]


def test_a_brace_that_the_agent_adds_next_to_an_equal_one_may_be_the_older_one() -> None:
    assert _map(NESTED, DEEPER, is_by_user=False) == [0, 1, 2, "2?", 3]


def test_an_empty_line_next_to_an_empty_line_is_layout() -> None:
    assert _map("a = 1\n\nb = 2\n", "a = 1\n\n\nb = 2\n", is_by_user=True) == [0, 1, 1, 2]


def test_a_line_that_is_repeated_may_be_either() -> None:
    old = "start()\nreturn compute_everything(first, second)\n"
    new = f"{old}return compute_everything(first, second)\n"
    assert _map(old, new, is_by_user=True) == [0, "new", "new"]
    assert _map(old, new, is_by_user=False) == [0, 1, "1?"]


def test_a_moved_line_keeps_its_source() -> None:
    old = "first_line_of_the_file()\nsecond_line_of_the_file()\nthird_line_of_the_file()\n"
    new = "second_line_of_the_file()\nthird_line_of_the_file()\nfirst_line_of_the_file()\n"
    assert _map(old, new, is_by_user=True) == [1, 2, 0]


def test_a_short_line_that_moved_is_new_if_the_user_made_the_change() -> None:
    kept = "keep_this_line_here()\nand_keep_this_one_too()\n"
    old, new = f"pass\n{kept}", f"{kept}pass\n"
    assert _map(old, new, is_by_user=True) == [1, 2, "new"]
    assert _map(old, new, is_by_user=False) == [1, 2, "0?"]


def test_lines_with_another_layout_keep_their_source() -> None:
    old, new = "call(first, 'b')\n", 'call(\n    first,\n    "b",\n)\n'
    assert _map(old, new, is_by_user=False) == [0, 0, 0, 0]


def test_a_parenthesis_on_a_line_of_its_own_may_be_the_users() -> None:
    old, new = "call(first, 'b')\n", 'call(\n    first,\n    "b",\n)\n'
    assert _map(old, new, is_by_user=True) == [0, 0, 0, "new"]
