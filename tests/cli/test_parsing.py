"""What is typed, and what is told when it can't be followed."""

from dataclasses import fields
from pathlib import Path

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.main import SUBCOMMANDS
from kimi_tui.cli.parsing import parse


def line(*arguments: str) -> CommandLine:
    parsed = parse(arguments)
    assert parsed is not None
    check_combination(parsed)
    return parsed


def told(*arguments: str) -> str:
    with pytest.raises(UsageError) as caught:
        line(*arguments)
    return str(caught.value)


def test_without_arguments_every_option_has_its_default():
    assert line() == CommandLine()


def test_a_prompt_may_stand_before_between_and_after_options():
    for arguments in (("fix it", "-y", "-c"), ("-y", "fix it", "-c"), ("-y", "-c", "fix it")):
        parsed = line(*arguments)
        assert (parsed.argument, parsed.yolo, parsed.continue_last) == ("fix it", True, True)


def test_every_option_is_taken():
    parsed = line(
        *("--print", "-m", "kimi", "--no-thinking", "-a", "coder", "-w", "w", "--add-dir", "x"),
        *("--skills-dir", "s", "--mcp-config", "{}", "--mcp-config-file", "m.json"),
        *("--add-dir", "y", "--session", "abc", "--fork", "-y", "--no-plan", "--max-steps-per-turn", "5"),
        *("-o", "out", "--sandbox"),
        *("--max-retries-per-step", "2", "--max-cost", "1.5", "--max-time", "60", "--config", "a=1"),
        *("--config-file", "c.toml", "--log-level", "debug", "--debug", "--allow-denials", "--input", "in"),
        *("--output-schema", "o.json"),
        *("--input-format", "stream-json", "--output-format", "stream-json", "--final-message-only"),
    )
    assert parsed.thinking is False
    assert parsed.add_dir == [Path("x"), Path("y")]
    assert (parsed.max_cost, parsed.max_time, parsed.max_steps_per_turn) == (1.5, 60.0, 5)
    assert (parsed.session, parsed.fork, parsed.log_level) == ("abc", True, "debug")
    untouched = {
        item.name
        for item in fields(CommandLine)
        if getattr(parsed, item.name) == getattr(CommandLine(), item.name)
    }
    assert untouched == {
        "argument", "prompt", "mode", "wire", "quiet", "demo", "agent_file", "continue_last", "version",
            "daemon", "socket", "screen_reader", "inline", "read_only",
    }  # fmt: skip


@pytest.mark.parametrize("spelling", ["-S", "-r", "--session", "--resume"])
def test_a_session_may_be_asked_for_without_an_id(spelling):
    assert line(spelling).session == ""
    assert line(spelling, "-y").session == ""
    assert line(spelling, "abc").session == "abc"
    assert line().session is None


@pytest.mark.parametrize(
    ("arguments", "is_print_mode"),
    [
        ((), False),
        (("fix it",), False),
        (("-p", "x"), True),
        (("--print",), True),
        (("--mode", "print"), True),
        (("--quiet",), True),
        (("-p", "x", "--mode", "tui"), False),
    ],
)
def test_a_prompt_option_means_print_mode_unless_told_otherwise(arguments, is_print_mode):
    assert line(*arguments).is_print_mode is is_print_mode


def test_a_prompt_that_begins_with_a_dash_comes_after_two():
    assert line("-y", "--", "-x is wrong").argument == "-x is wrong"
    assert line("-p", "- one\n- two").text == "- one\n- two"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--modle", "x"], "There is no option --modle. Did you mean --mode"),
        (["acp", "--foo"], "There is no option --foo. `kimi-tui --help-all` lists the options."),
        (["--output-form=json"], "There is no option --output-form=json. Did you mean --output-format?"),
        (["-Z"], "There is no option -Z."),
        (["--mod", "x"], "There is no option --mod."),
        (["fix", "the", "bug"], "“the bug” comes after the prompt. Put a prompt of several words in quotes"),
        (["a", "--", "b"], "“b” comes after the prompt."),
        (["--mode", "gui"], "--mode: invalid choice: 'gui' (choose from"),
        (["--max-cost", "much"], "--max-cost: “much” should be a number of at least 0."),
        (["--max-time", "nan"], "--max-time: “nan” should be a number of at least 0."),
        (["--max-steps-per-turn", "0"], "“0” should be a whole number of at least 1."),
        (["--max-steps-per-turn", "1.5"], "“1.5” should be a whole number of at least 1."),
        (["-m"], "-m or --model: expected one argument."),
        (["--bad\x1b[31m"], "There is no option --bad."),
    ],
)
def test_what_cannot_be_parsed_is_told_with_what_to_do(arguments, expected):
    assert expected in told(*arguments)


@pytest.mark.parametrize(
    ("arguments", "both"),
    [
        ("say -p hi", ("PROMPT", "--prompt")),
        ("--demo -m kimi", ("--demo", "--model")),
        ("-c -S abc", ("--continue", "--session")),
        ("-a x --agent-file y", ("--agent", "--agent-file")),
        ("--print --mode tui", ("--print", "--mode")),
        ("--quiet --output-format json", ("--quiet", "--output-format")),
        ("--print --final-message-only --output-format json", ("--final-message-only", "--output-format")),
        ("-p x --input-format stream-json", ("--input-format", "--prompt")),
        ("x --print --input-format stream-json", ("--input-format", "PROMPT")),
        ("--fork", ("--fork", "--session")),
        ("--read-only --fork -c", ("--read-only", "--fork")),
        ("--read-only hello", ("--read-only", "PROMPT")),
        ("--output-format json", ("--output-format", "--print")),
        ("--mode tui -o f", ("--output", "--mode")),
        ("--mode tui --quiet", ("--quiet", "--mode")),
        ("--allow-denials x", ("--allow-denials", "--print")),
        ("--print -r", ("--session", "print mode")),
        ("--wire -r", ("--session", "wire mode")),
        ("acp hello", ("PROMPT", "--mode")),
        ("acp --continue", ("--continue", "--mode")),
        ("--mode acp --wire", ("--wire", "--mode")),
        ("--wire --mode print", ("--wire", "--mode")),
        ("--wire hello", ("PROMPT", "--wire")),
        ("--mode wire -o f", ("--output", "--mode")),
    ],
)
def test_combinations_that_make_no_sense_name_both(arguments, both):
    message = told(*arguments.split())
    for name in both:
        assert name in message


def test_the_help_fits_a_screen_and_names_every_subcommand(capsys):
    assert parse(["-h"]) is None
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 23
    assert max(map(len, shown)) <= 80
    assert all(name in "\n".join(shown) for name in ("acp", *SUBCOMMANDS))


def test_the_help_of_the_server_for_editors_is_its_own(capsys):
    assert parse(["acp", "--help"]) is None
    assert capsys.readouterr().out.startswith("kimi-tui acp [OPTIONS]")


def test_all_of_the_help_lists_every_option_and_the_subcommands(capsys):
    assert parse(["--help-all"]) is None
    text = capsys.readouterr().out
    for item in fields(CommandLine):
        for spelling in item.metadata["spellings"] or ("PROMPT",):
            assert spelling in text
    for command in ("sessions", "agents", "config", "info"):
        assert command in text


@pytest.mark.parametrize("mode", [("--print", "x"), ("--wire",), ("--mode", "acp")])
def test_how_the_screen_looks_is_for_the_screen_alone(mode: tuple[str, ...]):
    for look in ("--screen-reader", "--read-only"):
        assert "make no sense together" in told(look, *mode)
