"""Custom slash commands: names, placeholders, referenced files, and invalid files."""

from pathlib import Path

import pytest

from kimi_tui.skills.commands import MarkdownCommand, command_folders, find_commands, render_prompt
from kimi_tui.skills.template import MAX_FILE_BYTES, inline_files, substitute_arguments


def write_file(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def inline(text: str, folder: Path, *, secret: str = "") -> str:
    return inline_files(text, folder, may_include=lambda path: path.name != secret)


def test_each_file_is_a_command_with_its_subfolders_as_prefixes(tmp_path: Path) -> None:
    write_file(
        tmp_path, "review.md", "---\ndescription: Reviews it\nargument-hint: '[FILE]'\n---\nReview $1."
    )
    write_file(tmp_path, "git/hub/issue.md", "# Fix an issue\n\nFix $1.")
    write_file(tmp_path, "git/notes.txt", "not a command")
    issue, review = find_commands([tmp_path]).commands
    assert (issue.name, issue.description, issue.argument_hint) == ("git:hub:issue", "Fix an issue", "")
    assert (review.name, review.description, review.argument_hint) == ("review", "Reviews it", "[FILE]")


def test_a_project_command_overrides_a_user_command(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "pkg").mkdir()
    write_file(tmp_path / "data" / "commands", "a.md", "user")
    write_file(tmp_path / "data" / "commands", "b.md", "user")
    write_file(tmp_path / "repo" / ".kimi-tui" / "commands", "a.md", "project")
    folders = command_folders(work_dir=tmp_path / "repo" / "pkg", data_dir=tmp_path / "data")
    assert [(it.name, it.description) for it in find_commands(folders).commands] == [
        ("a", "project"),
        ("b", "user"),
    ]


def test_an_invalid_command_is_skipped_and_reported_with_its_path(tmp_path: Path) -> None:
    broken = write_file(tmp_path, "two words.md", "x")
    empty = write_file(tmp_path, "empty.md", "---\ndescription: x\n---\n")
    write_file(tmp_path, "valid.md", "x")
    result = find_commands([tmp_path, tmp_path / "missing"])
    assert [it.name for it in result.commands] == ["valid"]
    errors = " ".join(problem.what for problem in result.problems)
    assert str(broken) in errors
    assert str(empty) in errors


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("Say $ARGUMENTS.", "good day", "Say good day."),
        ("$1 before $2", "'a b' c", "a b before c"),
        ("$2 and $3|", "a", " and |"),
        ("$1", "don't split me", "don't"),
        ("costs \\$1 or $10", "x", "costs $1 or $10\n\nx"),
        ("$ARGUMENTS2 $HOME", "", "$ARGUMENTS2 $HOME"),
        ("No placeholder.", "some words", "No placeholder.\n\nsome words"),
        ("No placeholder.", "", "No placeholder."),
    ],
)
def test_placeholders_are_replaced_by_arguments(text: str, arguments: str, expected: str) -> None:
    assert substitute_arguments(text, arguments) == expected


def test_placeholders_in_arguments_are_not_expanded() -> None:
    assert substitute_arguments("$1 $2", "'$2' x") == "$2 x"


def test_each_referenced_file_is_included_once(tmp_path: Path) -> None:
    write_file(tmp_path, "src/a.py", "x = 1\n")
    write_file(tmp_path, "my notes.txt", "buy milk\n")
    text = inline('Look at @src/a.py, then (@src/a.py) and @"my notes.txt".', tmp_path)
    assert text.count("x = 1") == 1
    assert '<file path="src/a.py">\nx = 1\n</file>' in text
    assert '<file path="my notes.txt">\nbuy milk\n</file>' in text


def test_references_that_are_not_files_are_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    text = "Ask ann@example.org, @bob, @src and `@code` about @missing.py"
    assert inline(text, tmp_path) == text


def test_a_file_that_cannot_be_included_is_omitted_with_the_reason(tmp_path: Path) -> None:
    write_file(tmp_path, ".env", "KEY=1")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    text = inline("Read @.env and @picture.png", tmp_path, secret=".env")
    assert "KEY" not in text
    assert '<file path=".env">(omitted: it may contain secrets' in text
    assert '<file path="picture.png">(omitted: not a text file)' in text


def test_a_long_file_is_truncated_with_a_notice(tmp_path: Path) -> None:
    write_file(tmp_path, "long.txt", "ä" * MAX_FILE_BYTES)
    text = inline("@long.txt", tmp_path)
    assert len(text.encode()) < MAX_FILE_BYTES + 200
    assert "[truncated" in text


def test_the_prompt_contains_the_text_with_arguments_and_files(tmp_path: Path) -> None:
    write_file(tmp_path, "a.py", "x = 1")
    file = write_file(tmp_path, "commands/review.md", "---\ndescription: d\n---\nReview @$1 for $2.")
    command = MarkdownCommand(name="review", description="d", argument_hint="", file=file)
    text = render_prompt(command, "a.py bugs", work_dir=tmp_path, may_include=lambda _: True)
    assert text == 'Review @a.py for bugs.\n\n<file path="a.py">\nx = 1\n</file>'
