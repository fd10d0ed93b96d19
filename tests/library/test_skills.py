"""Skills: where they are found, which of two counts, what the model reads, what becomes of broken ones."""

import os
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.library.skills import find_skills, listed, prompt_of, read_skill, skill_folders

BODY = "Do it well."


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def skill(name: str, description: str = "Does things", body: str = BODY) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


def test_a_skill_is_a_folder_with_a_skill_md(tmp_path: Path) -> None:
    file = put(tmp_path, "pdf", skill("pdf", "Fills forms"))
    (found,) = find_skills([tmp_path]).skills
    assert (found.name, found.description, found.file) == ("pdf", "Fills forms", file)


def test_without_front_matter_the_folder_names_it_and_the_first_line_describes_it(tmp_path: Path) -> None:
    file = put(tmp_path, "release", "\n# How we release\n\nTag it.\n")
    found = read_skill(file)
    assert (found.name, found.description) == ("release", "How we release")


def test_one_that_leads_to_a_secret_is_none(tmp_path: Path) -> None:
    secret = put(tmp_path / "home", ".ssh", "hunter2\n").rename(tmp_path / "home" / ".ssh" / "id_rsa")
    (tmp_path / "skills" / "pdf").mkdir(parents=True)
    (tmp_path / "skills" / "pdf" / "SKILL.md").symlink_to(secret)
    found = find_skills([tmp_path / "skills"])
    assert found.skills == ()
    assert "secrets" in str(found.problems[0])
    assert "hunter2" not in str(found.problems[0])


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("repo/pkg/.kimi-tui/skills", "repo/.kimi-tui/skills"),
        ("repo/pkg/.kimi-tui/skills", "repo/pkg/.claude/skills"),
        ("repo/pkg/.claude/skills", "repo/pkg/.agents/skills"),
        ("repo/.agents/skills", "share/skills"),
        ("share/skills", "home/.kimi/skills"),
        ("home/.kimi/skills", "home/.claude/skills"),
        ("home/.claude/skills", "home/.agents/skills"),
        ("home/.agents/skills", "extra"),
    ],
)
def test_of_two_of_one_name_the_nearer_one_counts(tmp_path: Path, earlier: str, later: str) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "pkg").mkdir()
    put(tmp_path / later, "same", skill("same", "later"))
    put(tmp_path / later, "other", skill("other", "later"))
    put(tmp_path / earlier, "same", skill("same", "earlier"))
    folders = skill_folders(
        work_dir=tmp_path / "repo" / "pkg",
        share_dir=tmp_path / "share",
        home=tmp_path / "home",
        extra=[tmp_path / "extra"],
    )
    assert {found.name: found.description for found in find_skills(folders).skills} == {
        "same": "earlier",
        "other": "later",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\nname: a\n  b: [\n---\nx", "line 3: the front matter is no YAML"),
        ("---\nname: x\nno end", "line 1: the front matter has no end"),
        ("---\n- a\n---\nx", "line 2: the front matter holds no keys"),
        ("---\nname: two words\n---\nx", "can't be called “two words”"),
        ("---\nname: a\n---\n", "says nothing"),
        ("---\nname: a\ndisable-model-invocation: perhaps\n---\nx", "disable-model-invocation is 'perhaps'"),
    ],
)
def test_a_broken_skill_costs_itself_and_says_where(tmp_path: Path, text: str, problem: str) -> None:
    broken = put(tmp_path, "broken", text)
    put(tmp_path, "sound", skill("sound"))
    found = find_skills([tmp_path])
    assert [it.name for it in found.skills] == ["sound"]
    (error,) = found.problems
    assert str(broken) in error.what
    assert problem in error.what
    assert error.hint


def test_what_is_no_text_or_no_file_is_broken(tmp_path: Path) -> None:
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "SKILL.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "fifo").mkdir()
    os.mkfifo(tmp_path / "fifo" / "SKILL.md")
    found = find_skills([tmp_path, tmp_path / "missing"])
    assert (len(found.skills), len(found.problems)) == (0, 2)


def test_values_that_other_programs_take_unquoted_are_read_as_they_are_meant(tmp_path: Path) -> None:
    file = put(tmp_path, "a", "---\nname: a\ndescription: Use when: asked for a: b\n---\nx")
    assert read_skill(file).description == "Use when: asked for a: b"


def test_the_model_is_told_name_description_and_file(tmp_path: Path) -> None:
    file = put(tmp_path, "a", skill("a", "Makes A"))
    put(tmp_path, "b", "---\nname: b\ndisable-model-invocation: true\n---\nx")
    assert listed(find_skills([tmp_path]).skills) == f"- a: Makes A ({file})"


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(40):
        put(tmp_path, f"s{number}", skill(f"s{number}", "x" * 1000))
    text = listed(find_skills([tmp_path]).skills)
    assert len(text) < 21_000
    assert text.splitlines()[-1].startswith("- and ")


def test_used_it_says_its_text_where_its_files_are_and_what_is_wanted(tmp_path: Path) -> None:
    file = put(tmp_path, "pdf", skill("pdf", body="Run scripts/fill.py."))
    text = prompt_of(read_skill(file), "the tax form")
    assert "Run scripts/fill.py." in text
    assert str(file.parent) in text
    assert text.endswith("the tax form")


def test_its_text_is_read_when_it_is_used(tmp_path: Path) -> None:
    file = put(tmp_path, "pdf", skill("pdf"))
    found = read_skill(file)
    file.write_text(skill("pdf", body="Do it better."))
    assert "Do it better." in prompt_of(found, "")
    file.unlink()
    with pytest.raises(ConfigError):
        prompt_of(found, "")
