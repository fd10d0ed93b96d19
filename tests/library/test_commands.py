"""Commands in Markdown files: their names, what is put into them, and what becomes of broken ones."""

from pathlib import Path

import pytest

from kimi_tui.library.commands import WrittenCommand, command_folders, find_commands, prompt_of
from kimi_tui.library.expansion import MOST_BYTES_OF_A_FILE, with_arguments, with_files


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def files(text: str, folder: Path, *, secret: str = "") -> str:
    return with_files(text, folder, may_include=lambda path: path.name != secret)


def test_a_file_is_a_command_and_its_folders_stand_before_its_name(tmp_path: Path) -> None:
    put(tmp_path, "review.md", "---\ndescription: Looks at it\nargument-hint: '[FILE]'\n---\nReview $1.")
    put(tmp_path, "git/hub/issue.md", "# Mend an issue\n\nMend $1.")
    put(tmp_path, "git/notes.txt", "no command")
    issue, review = find_commands([tmp_path]).commands
    assert (issue.name, issue.description, issue.argument_hint) == ("git:hub:issue", "Mend an issue", "")
    assert (review.name, review.description, review.argument_hint) == ("review", "Looks at it", "[FILE]")


def test_the_projects_command_counts_before_the_users(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "pkg").mkdir()
    put(tmp_path / "share" / "commands", "a.md", "mine")
    put(tmp_path / "share" / "commands", "b.md", "mine")
    put(tmp_path / "repo" / ".kimi-tui" / "commands", "a.md", "ours")
    folders = command_folders(work_dir=tmp_path / "repo" / "pkg", share_dir=tmp_path / "share")
    assert [(it.name, it.description) for it in find_commands(folders).commands] == [
        ("a", "ours"),
        ("b", "mine"),
    ]


def test_a_broken_command_costs_itself_and_says_where(tmp_path: Path) -> None:
    broken = put(tmp_path, "two words.md", "x")
    empty = put(tmp_path, "empty.md", "---\ndescription: x\n---\n")
    put(tmp_path, "sound.md", "x")
    found = find_commands([tmp_path, tmp_path / "missing"])
    assert [it.name for it in found.commands] == ["sound"]
    told = " ".join(problem.what for problem in found.problems)
    assert str(broken) in told
    assert str(empty) in told


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("Say $ARGUMENTS.", "good day", "Say good day."),
        ("$1 before $2", "'a b' c", "a b before c"),
        ("$2 and $3|", "a", " and |"),
        ("$1", "don't split me", "don't"),
        ("costs \\$1 or $10", "x", "costs $1 or $10\n\nx"),
        ("$ARGUMENTS2 $HOME", "", "$ARGUMENTS2 $HOME"),
        ("No place.", "but words", "No place.\n\nbut words"),
        ("No place.", "", "No place."),
    ],
)
def test_arguments_are_put_in_their_places(text: str, arguments: str, expected: str) -> None:
    assert with_arguments(text, arguments) == expected


def test_what_is_in_arguments_is_not_expanded_again() -> None:
    assert with_arguments("$1 $2", "'$2' x") == "$2 x"


def test_named_files_come_along_once_each(tmp_path: Path) -> None:
    put(tmp_path, "src/a.py", "x = 1\n")
    put(tmp_path, "my notes.txt", "buy milk\n")
    text = files('Look at @src/a.py, then (@src/a.py) and @"my notes.txt".', tmp_path)
    assert text.count("x = 1") == 1
    assert '<file path="src/a.py">\nx = 1\n</file>' in text
    assert '<file path="my notes.txt">\nbuy milk\n</file>' in text


def test_what_is_no_file_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    text = "Ask ann@example.org, @bob, @src and `@code` about @missing.py"
    assert files(text, tmp_path) == text


def test_what_may_not_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    put(tmp_path, ".env", "KEY=1")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    text = files("Read @.env and @picture.png", tmp_path, secret=".env")
    assert "KEY" not in text
    assert '<file path=".env">(left out: it may hold secrets' in text
    assert '<file path="picture.png">(left out: it is no text)' in text


def test_a_long_file_is_cut_and_says_so(tmp_path: Path) -> None:
    put(tmp_path, "long.txt", "ä" * MOST_BYTES_OF_A_FILE)
    text = files("@long.txt", tmp_path)
    assert len(text.encode()) < MOST_BYTES_OF_A_FILE + 200
    assert "[cut here" in text


def test_used_it_says_its_text_with_arguments_and_files(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "x = 1")
    file = put(tmp_path, "commands/review.md", "---\ndescription: d\n---\nReview @$1 for $2.")
    command = WrittenCommand(name="review", description="d", argument_hint="", file=file)
    text = prompt_of(command, "a.py bugs", work_dir=tmp_path, may_include=lambda _: True)
    assert text == 'Review @a.py for bugs.\n\n<file path="a.py">\nx = 1\n</file>'
