"""`kimi-tui completion`: completions offered by the scripts."""

import os
import shutil
import subprocess

import pytest

from kimi_tui.cli.option_catalog import CliOption, Subcommand, options, subcommands
from kimi_tui.cli.shell_completion import completion_script
from tests.e2e.program import Program

OPTIONS, SUBCOMMANDS = tuple(options()), tuple(subcommands())


def completions_for(*words: str) -> list[str]:
    """Return bash's completions for the last of `words`."""
    script = completion_script("bash", OPTIONS, SUBCOMMANDS)
    typed = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _shtab_kimi_tui"
    ask += '; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (["kimi-tui", "sess"], ["sessions"]),
        (["kimi-tui", "--no-th"], ["--no-thinking"]),
        (["kimi-tui", "--mode", "w"], ["wire"]),
        (["kimi-tui", "mcp", "re"], ["remove", "reset-auth"]),
        (["kimi-tui", "--model", "k"], []),
        (["kimi-tui", "fix the", "--yo"], ["--yolo"]),
    ],
)
def test_bash_offers_matching_words(typed: list[str], shown: list[str]) -> None:
    assert completions_for(*typed) == shown


def test_bash_offers_directories_for_a_directory_option(tmp_path, monkeypatch) -> None:
    (tmp_path / "attic").mkdir()
    (tmp_path / "attorney").touch()
    monkeypatch.chdir(tmp_path)
    assert completions_for("kimi-tui", "--work-dir", "att") == ["attic"]


def test_bash_offers_files_as_arguments_of_subcommands(tmp_path, monkeypatch) -> None:
    (tmp_path / "session.zip").touch()
    monkeypatch.chdir(tmp_path)
    assert completions_for("kimi-tui", "sessions", "import", "se") == ["session.zip"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_scripts_contain_all_names_and_valid_quoting(shell) -> None:
    script = completion_script(
        shell,
        [CliOption(flags=("--odd",), panel="", help="it's [odd]: $HOME `x`", value_kind="text")],
        [Subcommand("sub", "what it's for", (("below", "deeper"),))],
    )
    assert all(word in script for word in ("odd", "sub", "below"))
    assert script.count("'") % 2 == 0
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_loads_the_script_before_compinit(tmp_path) -> None:
    script = completion_script("zsh", OPTIONS, SUBCOMMANDS)
    ask = f"{script}\nprint $_comps[kimi-tui]"
    environ = {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["zsh", "-f"], input=ask, capture_output=True, text=True, check=True, env=environ, cwd=tmp_path
    )
    assert (done.stdout.split(), done.stderr) == (["_shtab_kimi_tui"], "")


def test_the_command_prints_the_script_of_a_shell(program: Program) -> None:
    assert program.run("completion", "bash").stdout == completion_script("bash", OPTIONS, SUBCOMMANDS)
    assert program.run("completion", "powershell").exit_code == 2
