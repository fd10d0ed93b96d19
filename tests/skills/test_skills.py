"""Skills: where they are found, which one wins, what the model sees, and invalid ones."""

import os
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.skills.skills import find_skills, read_skill, render_prompt, skill_folders, skills_prompt

BODY = "Do it well."


def write_skill(folder: Path, name: str, text: str) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def skill_text(name: str, description: str = "Does things", body: str = BODY) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


def test_a_skill_is_a_folder_with_a_skill_md(tmp_path: Path) -> None:
    file = write_skill(tmp_path, "pdf", skill_text("pdf", "Fills forms"))
    (skill,) = find_skills([tmp_path]).skills
    assert (skill.name, skill.description, skill.file) == ("pdf", "Fills forms", file)


def test_name_and_description_default_to_the_folder_and_the_first_line(tmp_path: Path) -> None:
    file = write_skill(tmp_path, "release", "\n# How we release\n\nTag it.\n")
    skill = read_skill(file)
    assert (skill.name, skill.description) == ("release", "How we release")


def test_a_skill_that_links_to_a_secret_is_rejected(tmp_path: Path) -> None:
    secret = write_skill(tmp_path / "home", ".ssh", "hunter2\n").rename(tmp_path / "home" / ".ssh" / "id_rsa")
    (tmp_path / "skills" / "pdf").mkdir(parents=True)
    (tmp_path / "skills" / "pdf" / "SKILL.md").symlink_to(secret)
    result = find_skills([tmp_path / "skills"])
    assert result.skills == ()
    assert "secrets" in str(result.problems[0])
    assert "hunter2" not in str(result.problems[0])


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("repo/pkg/.kimi-tui/skills", "repo/.kimi-tui/skills"),
        ("repo/pkg/.kimi-tui/skills", "repo/pkg/.claude/skills"),
        ("repo/pkg/.claude/skills", "repo/pkg/.agents/skills"),
        ("repo/.agents/skills", "data/skills"),
        ("data/skills", "home/.kimi/skills"),
        ("home/.kimi/skills", "home/.claude/skills"),
        ("home/.claude/skills", "home/.agents/skills"),
        ("home/.agents/skills", "extra"),
    ],
)
def test_if_two_skills_have_the_same_name_the_nearer_one_wins(
    tmp_path: Path, earlier: str, later: str
) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "pkg").mkdir()
    write_skill(tmp_path / later, "same", skill_text("same", "later"))
    write_skill(tmp_path / later, "other", skill_text("other", "later"))
    write_skill(tmp_path / earlier, "same", skill_text("same", "earlier"))
    folders = skill_folders(
        work_dir=tmp_path / "repo" / "pkg",
        data_dir=tmp_path / "data",
        home=tmp_path / "home",
        extra=[tmp_path / "extra"],
    )
    assert {skill.name: skill.description for skill in find_skills(folders).skills} == {
        "same": "earlier",
        "other": "later",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\nname: a\n  b: [\n---\nx", "line 3: the front matter isn't valid YAML"),
        ("---\nname: x\nno end", "line 1: the front matter isn't closed"),
        ("---\n- a\n---\nx", "line 2: the front matter has no keys"),
        ("---\nname: two words\n---\nx", "“two words” isn't a valid skill name"),
        ("---\nname: a\n---\n", "is empty"),
        (
            "---\nname: a\ndisable-model-invocation: perhaps\n---\nx",
            "invalid value 'perhaps' for disable-model-invocation",
        ),
    ],
)
def test_an_invalid_skill_is_skipped_and_reported_with_its_path(
    tmp_path: Path, text: str, problem: str
) -> None:
    broken = write_skill(tmp_path, "broken", text)
    write_skill(tmp_path, "valid", skill_text("valid"))
    result = find_skills([tmp_path])
    assert [it.name for it in result.skills] == ["valid"]
    (error,) = result.problems
    assert str(broken) in error.what
    assert problem in error.what
    assert error.hint


def test_a_binary_file_and_a_fifo_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "SKILL.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "fifo").mkdir()
    os.mkfifo(tmp_path / "fifo" / "SKILL.md")
    result = find_skills([tmp_path, tmp_path / "missing"])
    assert (len(result.skills), len(result.problems)) == (0, 2)


def test_unquoted_values_with_colons_are_accepted(tmp_path: Path) -> None:
    file = write_skill(tmp_path, "a", "---\nname: a\ndescription: Use when: asked for a: b\n---\nx")
    assert read_skill(file).description == "Use when: asked for a: b"


def test_the_model_sees_name_description_and_file(tmp_path: Path) -> None:
    file = write_skill(tmp_path, "a", skill_text("a", "Makes A"))
    write_skill(tmp_path, "b", "---\nname: b\ndisable-model-invocation: true\n---\nx")
    assert skills_prompt(find_skills([tmp_path]).skills) == f"- a: Makes A ({file})"


def test_a_long_list_is_truncated_with_a_notice(tmp_path: Path) -> None:
    for number in range(40):
        write_skill(tmp_path, f"s{number}", skill_text(f"s{number}", "x" * 1000))
    text = skills_prompt(find_skills([tmp_path]).skills)
    assert len(text) < 21_000
    assert text.splitlines()[-1].startswith("- and ")


def test_the_prompt_contains_the_text_the_folder_and_the_arguments(tmp_path: Path) -> None:
    file = write_skill(tmp_path, "pdf", skill_text("pdf", body="Run scripts/fill.py."))
    text = render_prompt(read_skill(file), "the tax form")
    assert "Run scripts/fill.py." in text
    assert str(file.parent) in text
    assert text.endswith("the tax form")


def test_for_kimi_clis_clients_the_prompt_is_the_whole_file(tmp_path: Path) -> None:
    text = skill_text("pdf", body="Fill forms.")
    listed = read_skill(write_skill(tmp_path, "pdf", text))
    assert render_prompt(listed, "", as_kimi_cli=True) == text.strip()
    assert render_prompt(listed, "the tax form", as_kimi_cli=True).endswith("Fill forms.\n\nthe tax form")
    hidden = "---\ndescription: d\ndisable-model-invocation: true\n---\nFill forms."
    unlisted = read_skill(write_skill(tmp_path, "hidden", hidden))
    assert str(unlisted.file.parent) in render_prompt(unlisted, "", as_kimi_cli=True)


def test_a_skill_is_read_again_when_it_is_used(tmp_path: Path) -> None:
    file = write_skill(tmp_path, "pdf", skill_text("pdf"))
    pdf_skill = read_skill(file)
    file.write_text(skill_text("pdf", body="Do it better."))
    assert "Do it better." in render_prompt(pdf_skill, "")
    file.unlink()
    with pytest.raises(ConfigError):
        render_prompt(pdf_skill, "")
