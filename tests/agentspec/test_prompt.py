import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from kimi_tui.agentspec.directory_listing import MAX_ENTRIES
from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.project_instructions import MAX_BYTES
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.base.errors import ConfigError

WriteFile = Callable[[str, str], Path]


def render(write: WriteFile, template: str, variables: PromptVariables | None = None, own: str = "") -> str:
    write("agent/system.md", template)
    path = write("agent/agent.yaml", f"system_prompt: system.md\ntools: []\n{own}")
    spec = load_agent_spec(path, known_tools=())
    return render_prompt(spec, variables or PromptVariables.collect(path.parent))


class TestRendering:
    def test_variables_of_session_and_agent_are_substituted(self, write: WriteFile, tmp_path: Path) -> None:
        variables = PromptVariables.collect(tmp_path, now="2031-05-06T07:08+00:00")
        text = render(write, "${KIMI_WORK_DIR} ${ROLE} ${ ROLE }", variables, "vars: {ROLE: auditor}")
        assert text == f"{tmp_path} auditor auditor"
        assert render(write, "${KIMI_NOW}", variables) == "2031-05-06T07:08+00:00"
        assert datetime.fromisoformat(render(write, "${KIMI_NOW}")).tzinfo is not None

    def test_every_documented_variable_has_a_value(self, write: WriteFile) -> None:
        names = ["NOW", "WORK_DIR", "WORK_DIR_LS", "PLATFORM", "OS", "SHELL", "USER", "AGENTS_MD", "SKILLS"]
        names.append("ADDITIONAL_DIRS_INFO")
        lines = render(write, "\n".join(f"{name}=${{KIMI_{name}}}" for name in names))
        for name in names:
            assert f"{name}=\n" not in lines, name
        assert "$" not in lines

    def test_two_dollar_signs_become_one_and_a_single_one_is_unchanged(self, write: WriteFile) -> None:
        assert render(write, "$HOME costs $5, $${KIMI_NOW} is a variable, $$$$") == (
            "$HOME costs $5, ${KIMI_NOW} is a variable, $$"
        )

    def test_values_are_inserted_verbatim(self, write: WriteFile, tmp_path: Path) -> None:
        variables = replace(PromptVariables.collect(tmp_path), agents_md=r"costs $$ and ${ROLE} and \1")
        assert (
            render(write, "${KIMI_AGENTS_MD}", variables, "vars: {ROLE: x}") == r"costs $$ and ${ROLE} and \1"
        )

    @pytest.mark.parametrize("reference", ["${KIMI_NWO}", "${}", "${no-name}", "${ROLE:-x}", "${unclosed"])
    def test_the_error_for_an_unknown_variable_names_file_and_line(
        self, write: WriteFile, reference: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            render(write, f"one\n${{KIMI_NOW}}\nthree {reference}\n")
        assert "system.md, line 3: " in caught.value.what
        assert f"“{reference[2:].rstrip('}')}”" in caught.value.what
        assert "$${" in caught.value.hint

    def test_the_hint_for_an_unknown_variable_suggests_the_closest_one(self, write: WriteFile) -> None:
        with pytest.raises(ConfigError) as caught:
            render(write, "${KIMI_WROK_DIR}")
        assert "“KIMI_WORK_DIR”" in caught.value.hint

    def test_empty_variables_are_rendered_as_none(self, tmp_path: Path) -> None:
        variables = PromptVariables.collect(tmp_path)
        assert (variables.agents_md, variables.skills, variables.additional_dirs_info) == ("(none)",) * 3


class TestWorkDirListing:
    def test_folders_come_first_and_hidden_files_are_shown(self, write: WriteFile, tmp_path: Path) -> None:
        for name in ("b.txt", "A.txt", ".env", "src/main.py"):
            write(f"work/{name}", "")
        listing = PromptVariables.collect(tmp_path / "work").work_dir_ls
        assert listing.split("\n") == ["src/", ".env", "A.txt", "b.txt"]

    def test_the_listing_of_a_large_folder_is_truncated_with_a_notice(self, tmp_path: Path) -> None:
        for number in range(MAX_ENTRIES + 20):
            (tmp_path / f"{number:04}").touch()
        lines = PromptVariables.collect(tmp_path).work_dir_ls.split("\n")
        assert len(lines) == MAX_ENTRIES + 1
        assert lines[-1] == "... and 20 more"

    def test_the_listing_of_an_empty_or_missing_folder_is_a_notice(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        assert PromptVariables.collect(tmp_path / "empty").work_dir_ls == "(empty)"
        assert "can't be listed" in PromptVariables.collect(tmp_path / "gone").work_dir_ls

    @pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes only on Linux")
    def test_names_with_arbitrary_bytes_are_one_line_of_valid_unicode(self, tmp_path: Path) -> None:
        for name in (b"caf\xe9.txt", b"two\nlines", b"\x1b[31mred", b"two  spaces"):
            (tmp_path / os.fsdecode(name)).touch()
        listing = PromptVariables.collect(tmp_path).work_dir_ls
        listing.encode()
        assert sorted(listing.split("\n")) == sorted(
            ["caf\ufffd.txt", "two\ufffdlines", "\ufffd[31mred", "two  spaces"]
        )

    def test_additional_directories_are_listed(self, write: WriteFile, tmp_path: Path) -> None:
        write("other/notes.txt", "")
        variables = PromptVariables.collect(tmp_path, additional_dirs=(tmp_path / "other",))
        assert variables.additional_dirs_info == f"{tmp_path / 'other'}:\nnotes.txt"


class TestProjectInstructions:
    def test_they_are_merged_from_the_working_directory_up_to_the_repository_root(
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

    def test_outside_a_repository_only_the_working_directory_is_read(
        self, write: WriteFile, tmp_path: Path
    ) -> None:
        write("AGENTS.md", "above")
        write("work/AGENTS.md", "here")
        merged = PromptVariables.collect(tmp_path / "work").agents_md
        assert "here" in merged
        assert "above" not in merged

    def test_the_nearest_file_is_kept_complete_if_all_together_are_too_long(
        self, write: WriteFile, tmp_path: Path
    ) -> None:
        (tmp_path / ".git").touch()
        write("AGENTS.md", "é" * MAX_BYTES)
        write("src/AGENTS.md", "nearest " * 1000)
        merged = PromptVariables.collect(tmp_path / "src").agents_md
        assert merged.count("nearest ") == 999  # the last one's space is stripped
        assert len(merged.encode()) < MAX_BYTES + 500
        assert "[truncated" in merged
        assert "\ufffd" not in merged

    def test_a_file_of_exactly_the_maximum_size_is_not_truncated(
        self, write: WriteFile, tmp_path: Path
    ) -> None:
        write("AGENTS.md", "x" * MAX_BYTES)
        assert "[truncated" not in PromptVariables.collect(tmp_path).agents_md

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs")
    def test_a_file_that_is_not_a_regular_file_is_ignored(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "AGENTS.md")
        assert PromptVariables.collect(tmp_path).agents_md == "(none)"

    def test_a_file_that_links_to_a_secret_is_omitted(self, write: WriteFile, tmp_path: Path) -> None:
        """An archive from an untrusted source may contain such a link."""
        (tmp_path / "repo" / ".git").mkdir(parents=True)
        write("repo/AGENTS.md", "of the root")
        (tmp_path / "repo" / "src").mkdir()
        write("home/.aws/config", "hunter2")
        (tmp_path / "repo/src/AGENTS.md").symlink_to(tmp_path / "home/.aws/config")
        merged = PromptVariables.collect(tmp_path / "repo/src").agents_md
        assert "hunter2" not in merged
        assert "omitted" in merged
        assert "of the root" in merged

    def test_invalid_bytes_are_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "AGENTS.md").write_bytes(b"use \xff tabs")
        assert "use \ufffd tabs" in PromptVariables.collect(tmp_path).agents_md
