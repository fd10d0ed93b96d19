"""`kimi-tui completion`: what a shell offers after the first letters."""

import os
import shutil
import subprocess

import pytest

from kimi_tui.cli.completion_scripts import completion_script
from kimi_tui.cli.vocabulary import Option, Subcommand, options, subcommands
from tests.e2e.program import Program

OPTIONS, SUBCOMMANDS = tuple(options()), tuple(subcommands())


def offered(*words: str) -> list[str]:
    """What bash would offer for the last of `words`."""
    script = completion_script("bash", OPTIONS, SUBCOMMANDS)
    typed = " ".join(f"'{word}'" for word in words)
    ask = f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _kimi_tui; printf "%s\\n" "${{COMPREPLY[@]}}"'
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
def test_bash_offers_what_fits(typed: list[str], shown: list[str]) -> None:
    assert offered(*typed) == shown


def test_bash_offers_folders_where_one_is_meant(tmp_path, monkeypatch) -> None:
    (tmp_path / "attic").mkdir()
    (tmp_path / "attorney").touch()
    monkeypatch.chdir(tmp_path)
    assert offered("kimi-tui", "--work-dir", "att") == ["attic"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_scripts_name_everything_and_keep_quotes_together(shell) -> None:
    script = completion_script(
        shell,
        [Option(spellings=("--odd",), panel="", help="it's [odd]: $HOME `x`", takes="text")],
        [Subcommand("sub", "what it's for", (("below", "deeper"),))],
    )
    assert all(word in script for word in ("odd", "sub", "below"))
    assert script.count("'") % 2 == 0
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_takes_the_script_before_it_was_told_to_complete_anything(tmp_path) -> None:
    script = completion_script("zsh", OPTIONS, SUBCOMMANDS)
    ask = f"{script}\nprint $_comps[kimi-tui]"
    environ = {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["zsh", "-f"], input=ask, capture_output=True, text=True, check=True, env=environ, cwd=tmp_path
    )
    assert (done.stdout.split(), done.stderr) == (["_kimi_tui"], "")


def test_the_command_prints_the_script_of_a_shell(program: Program) -> None:
    assert program.run("completion", "bash").stdout == completion_script("bash", OPTIONS, SUBCOMMANDS)
    assert program.run("completion", "powershell").exit_code == 2
