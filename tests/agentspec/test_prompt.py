import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_tui.agentspec.folder import MAX_SHOWN
from kimi_tui.agentspec.instructions import MAX_BYTES
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.base.errors import ConfigError

WriteFile = Callable[[str, str], Path]


def rendered(write: WriteFile, template: str, variables: PromptVariables | None = None, own: str = "") -> str:
    write("agent/system.md", template)
    path = write("agent/agent.yaml", f"system_prompt: system.md\ntools: []\n{own}")
    spec = load_agent_spec(path, known_tools=())
    return render_prompt(spec, variables or PromptVariables.collect(path.parent))


class TestRendering:
    def test_variables_of_session_and_agent_are_put_in(self, write: WriteFile, tmp_path: Path) -> None:
        variables = PromptVariables.collect(tmp_path, now=datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC))
        text = rendered(write, "${KIMI_WORK_DIR} ${ROLE} ${ ROLE }", variables, "vars: {ROLE: auditor}")
        assert text == f"{tmp_path} auditor auditor"
        now = datetime.fromisoformat(rendered(write, "${KIMI_NOW}", variables))
        assert now == datetime(2031, 5, 6, 7, 8, tzinfo=UTC)

    def test_every_variable_of_the_specification_is_there(self, write: WriteFile) -> None:
        names = ["NOW", "WORK_DIR", "WORK_DIR_LS", "PLATFORM", "OS", "SHELL", "USER", "AGENTS_MD", "SKILLS"]
        names.append("ADDITIONAL_DIRS_INFO")
        lines = rendered(write, "\n".join(f"{name}=${{KIMI_{name}}}" for name in names))
        for name in names:
            assert f"{name}=\n" not in lines, name
        assert "$" not in lines

    def test_two_dollars_are_one_and_a_lone_one_stays(self, write: WriteFile) -> None:
        assert rendered(write, "$HOME costs $5, $${KIMI_NOW} is a variable, $$$$") == (
            "$HOME costs $5, ${KIMI_NOW} is a variable, $$"
        )

    def test_values_are_put_in_as_they_are(self, write: WriteFile, tmp_path: Path) -> None:
        variables = replace(PromptVariables.collect(tmp_path), agents_md=r"costs $$ and ${ROLE} and \1")
        assert (
            rendered(write, "${KIMI_AGENTS_MD}", variables, "vars: {ROLE: x}")
            == r"costs $$ and ${ROLE} and \1"
        )

    @pytest.mark.parametrize("reference", ["${KIMI_NWO}", "${}", "${no-name}", "${ROLE:-x}", "${unclosed"])
    def test_an_unknown_variable_is_named_with_file_and_line(self, write: WriteFile, reference: str) -> None:
        with pytest.raises(ConfigError) as caught:
            rendered(write, f"one\n${{KIMI_NOW}}\nthree {reference}\n")
        assert "system.md, line 3: " in caught.value.what
        assert f"“{reference[2:].rstrip('}')}”" in caught.value.what
        assert "$${" in caught.value.hint

    def test_the_hint_for_an_unknown_variable_is_the_nearest_one(self, write: WriteFile) -> None:
        with pytest.raises(ConfigError) as caught:
            rendered(write, "${KIMI_WROK_DIR}")
        assert "“KIMI_WORK_DIR”" in caught.value.hint

    def test_a_session_without_extras_says_none(self, tmp_path: Path) -> None:
        variables = PromptVariables.collect(tmp_path)
        assert (variables.agents_md, variables.skills, variables.additional_dirs_info) == ("(none)",) * 3


class TestTheWorkDir:
    def test_folders_come_first_and_hidden_files_are_shown(self, write: WriteFile, tmp_path: Path) -> None:
        for name in ("b.txt", "A.txt", ".env", "src/main.py"):
            write(f"work/{name}", "")
        listed = PromptVariables.collect(tmp_path / "work").work_dir_ls
        assert listed.split("\n") == ["src/", ".env", "A.txt", "b.txt"]

    def test_a_full_folder_is_cut_and_says_so(self, tmp_path: Path) -> None:
        for number in range(MAX_SHOWN + 20):
            (tmp_path / f"{number:04}").touch()
        lines = PromptVariables.collect(tmp_path).work_dir_ls.split("\n")
        assert len(lines) == MAX_SHOWN + 1
        assert lines[-1] == "... and 20 more"

    def test_an_empty_and_a_missing_folder_say_so(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        assert PromptVariables.collect(tmp_path / "empty").work_dir_ls == "(empty)"
        assert "can't be listed" in PromptVariables.collect(tmp_path / "gone").work_dir_ls

    @pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there")
    def test_names_of_any_bytes_keep_to_their_line_and_to_unicode(self, tmp_path: Path) -> None:
        for name in (b"caf\xe9.txt", b"two\nlines", b"\x1b[31mred", b"two  spaces"):
            (tmp_path / os.fsdecode(name)).touch()
        listed = PromptVariables.collect(tmp_path).work_dir_ls
        listed.encode()
        assert sorted(listed.split("\n")) == sorted(
            ["caf\ufffd.txt", "two\ufffdlines", "\ufffd[31mred", "two  spaces"]
        )

    def test_further_folders_are_listed_too(self, write: WriteFile, tmp_path: Path) -> None:
        write("other/notes.txt", "")
        variables = PromptVariables.collect(tmp_path, additional_dirs=(tmp_path / "other",))
        assert variables.additional_dirs_info == f"{tmp_path / 'other'}:\nnotes.txt"


class TestInstructions:
    def test_they_are_merged_from_the_work_dir_up_to_the_root_of_the_repository(
        self, write: WriteFile, tmp_path: Path
    ) -> None:
        write("AGENTS.md", "beyond the repository")
        (tmp_path / "repo" / ".git").mkdir(parents=True)
        write("repo/AGENTS.md", "of the root")
        write("repo/src/api/AGENTS.md", "of the api")
        write("repo/src/web/AGENTS.md", "of the web")
        merged = PromptVariables.collect(tmp_path / "repo/src/api").agents_md
        assert merged.index("of the api") < merged.index("of the root")
        assert str(tmp_path / "repo/src/api/AGENTS.md") in merged
        assert "beyond" not in merged
        assert "of the web" not in merged

    def test_outside_a_repository_only_the_work_dir_counts(self, write: WriteFile, tmp_path: Path) -> None:
        write("AGENTS.md", "above")
        write("work/AGENTS.md", "here")
        merged = PromptVariables.collect(tmp_path / "work").agents_md
        assert "here" in merged
        assert "above" not in merged

    def test_the_nearest_are_kept_whole_when_all_are_too_long(self, write: WriteFile, tmp_path: Path) -> None:
        (tmp_path / ".git").touch()
        write("AGENTS.md", "é" * MAX_BYTES)
        write("src/AGENTS.md", "nearest " * 1000)
        merged = PromptVariables.collect(tmp_path / "src").agents_md
        assert merged.count("nearest ") == 999  # the last one's space is stripped
        assert len(merged.encode()) < MAX_BYTES + 500
        assert "[cut here" in merged
        assert "\ufffd" not in merged

    def test_a_file_that_fits_exactly_is_not_cut(self, write: WriteFile, tmp_path: Path) -> None:
        write("AGENTS.md", "x" * MAX_BYTES)
        assert "[cut here" not in PromptVariables.collect(tmp_path).agents_md

    @pytest.mark.skipif(sys.platform == "win32", reason="no FIFOs there")
    def test_what_is_no_regular_file_is_passed_over_at_once(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "AGENTS.md")
        assert PromptVariables.collect(tmp_path).agents_md == "(none)"

    def test_one_that_leads_to_a_secret_is_not_sent_along(self, write: WriteFile, tmp_path: Path) -> None:
        """As in a folder that somebody else packed."""
        (tmp_path / "repo" / ".git").mkdir(parents=True)
        write("repo/AGENTS.md", "of the root")
        (tmp_path / "repo" / "src").mkdir()
        write("home/.aws/config", "hunter2")
        (tmp_path / "repo/src/AGENTS.md").symlink_to(tmp_path / "home/.aws/config")
        merged = PromptVariables.collect(tmp_path / "repo/src").agents_md
        assert "hunter2" not in merged
        assert "left out" in merged
        assert "of the root" in merged

    def test_invalid_bytes_are_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "AGENTS.md").write_bytes(b"use \xff tabs")
        assert "use \ufffd tabs" in PromptVariables.collect(tmp_path).agents_md
