"""Parser of the command line and its error messages."""

from dataclasses import fields
from pathlib import Path

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.main import SUBCOMMANDS
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.parser import parse


def parse_options(*arguments: str) -> CliOptions:
    parsed = parse(arguments, subcommands=SUBCOMMANDS)
    assert parsed is not None
    check_conflicts(parsed)
    return parsed


def error_text(*arguments: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_options(*arguments)
    return str(caught.value)


def test_without_arguments_every_option_has_its_default():
    assert parse_options() == CliOptions()


def test_a_prompt_may_come_before_between_or_after_options():
    for arguments in (("fix it", "-y", "-c"), ("-y", "fix it", "-c"), ("-y", "-c", "fix it")):
        parsed = parse_options(*arguments)
        assert (parsed.argument, parsed.yolo, parsed.continue_last) == ("fix it", True, True)


def test_every_option_is_parsed():
    parsed = parse_options(
        *("--print", "-m", "kimi", "--no-thinking", "-a", "coder", "-w", "w", "--add-dir", "x"),
        *("--skills-dir", "s", "--mcp-config", "{}", "--mcp-config-file", "m.json"),
        *("--add-dir", "y", "--session", "abc", "--fork", "-y", "--no-plan", "--max-steps-per-turn", "5"),
        *("-o", "out", "--sandbox", "--allow", "Web(*)", "--deny", "Web(a.test)"),
        *("--max-retries-per-step", "2", "--max-cost", "1.5", "--max-time", "60", "--config", "a=1"),
        *("--config-file", "c.toml", "--log-level", "debug", "--debug", "--allow-denials", "--input", "in"),
        *("--bundle", "s.kimi.zip", "--no-resident"),
        *("--output-schema", "o.json"),
        *("--input-format", "stream-json", "--output-format", "stream-json", "--final-message-only"),
    )
    assert parsed.thinking is False
    assert parsed.add_dir == [Path("x"), Path("y")]
    assert (parsed.max_cost, parsed.max_time, parsed.max_steps_per_turn) == (1.5, 60.0, 5)
    assert (parsed.session, parsed.fork, parsed.log_level) == ("abc", True, "debug")
    untouched = {
        item.name
        for item in fields(CliOptions)
        if getattr(parsed, item.name) == getattr(CliOptions(), item.name)
    }
    assert untouched == {
        "argument", "prompt", "mode", "wire", "quiet", "demo", "agent_file", "continue_last", "version",
            "daemon", "socket", "screen_reader", "thinking_level", "inline", "read_only", "afk", "goal",
    }  # fmt: skip


@pytest.mark.parametrize("spelling", ["-S", "-r", "--session", "--resume"])
def test_the_session_option_works_without_an_id(spelling):
    assert parse_options(spelling).session == ""
    assert parse_options(spelling, "-y").session == ""
    assert parse_options(spelling, "abc").session == "abc"
    assert parse_options().session is None


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
def test_a_prompt_option_means_print_mode_unless_another_mode_is_given(arguments, is_print_mode):
    assert parse_options(*arguments).is_print_mode is is_print_mode


@pytest.mark.parametrize("arguments", [("acp", "--yolo"), ("--yolo", "acp")])
def test_acp_is_short_for_its_mode_before_and_after_options(arguments):
    options = parse_options(*arguments)
    assert options.is_acp_mode
    assert options.yolo
    assert options.argument is None


def test_a_prompt_that_begins_with_a_dash_follows_two_dashes():
    assert parse_options("-y", "--", "-x is wrong").argument == "-x is wrong"
    assert parse_options("-p", "- one\n- two").text == "- one\n- two"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--modle", "x"], "Unknown option --modle. Did you mean --mode"),
        (["acp", "--foo"], "Unknown option --foo. Run `kimi-tui --help-all` for a list of options."),
        (["--output-form=json"], "Unknown option --output-form=json. Did you mean --output-format?"),
        (["-Z"], "Unknown option -Z."),
        (["--mod", "x"], "Unknown option --mod."),
        (
            ["fix", "the", "bug"],
            "Unexpected argument “the bug” after the prompt. Put quotes around the prompt",
        ),
        (["a", "--", "b"], "Unexpected argument “b” after the prompt."),
        (["--yolo", "mcp", "list"], "The subcommand “mcp” must come first. Run `kimi-tui mcp list`."),
        (["-y", "mcp", "add", "x", "--", "uvx", "y"], "must come first. Run `kimi-tui mcp add x -- uvx y`."),
        (["-y", "sessions", "--days", "3"], "must come first. Run `kimi-tui sessions --days 3`."),
        (["--agent", "mcp", "info"], "The subcommand “info” must come first. Run `kimi-tui info`."),
        (["--agent", "mcp", "fix", "it"], "Unexpected argument “it” after the prompt."),
        (["--mode", "gui"], "--mode: invalid choice: 'gui' (choose from"),
        (["--max-cost", "much"], "--max-cost: “much” must be a number of at least 0."),
        (["--max-time", "nan"], "--max-time: “nan” must be a number of at least 0."),
        (["--max-steps-per-turn", "0"], "“0” must be a whole number of at least 1."),
        (["--max-steps-per-turn", "1.5"], "“1.5” must be a whole number of at least 1."),
        (["-m"], "-m or --model: expected one argument."),
        (["--bad\x1b[31m"], "Unknown option --bad."),
    ],
)
def test_a_parse_error_says_what_to_do(arguments, expected):
    assert expected in error_text(*arguments)


@pytest.mark.parametrize(
    ("arguments", "both"),
    [
        ("say -p hi", ("PROMPT", "--prompt")),
        ("--demo -m kimi", ("--demo", "--model")),
        ("--thinking --thinking-level low", ("--thinking", "--thinking-level")),
        ("--no-thinking --thinking-level low", ("--thinking", "--thinking-level")),
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
        ("--goal a", ("--goal", "--print")),
        ("--goal a --daemon", ("--goal", "--daemon")),
        ("--goal a --print --input-format stream-json", ("--goal", "--input-format")),
        ("--goal= -p x", ("--goal needs", "command")),
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
def test_an_invalid_combination_names_both_options(arguments, both):
    message = error_text(*arguments.split())
    for name in both:
        assert name in message


def test_a_read_only_session_can_be_kept_out_of_the_resident_engine():
    assert parse_options("--read-only", "--no-resident", "-c").resident is False


def test_the_help_fits_a_screen_and_names_every_subcommand(capsys):
    assert parse(["-h"]) is None
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert all(name in "\n".join(lines) for name in ("acp", *SUBCOMMANDS))


def test_acp_has_its_own_help(capsys):
    assert parse(["acp", "--help"]) is None
    assert capsys.readouterr().out.startswith("kimi-tui acp [OPTIONS]")


def test_help_all_lists_every_option_and_the_subcommands(capsys):
    assert parse(["--help-all"]) is None
    text = capsys.readouterr().out
    for item in fields(CliOptions):
        for spelling in item.metadata["spellings"] or ("PROMPT",):
            assert spelling in text
    for command in ("sessions", "agents", "config", "info"):
        assert command in text


@pytest.mark.parametrize("mode", [("--print", "x"), ("--wire",), ("--mode", "acp")])
def test_display_options_require_the_app(mode: tuple[str, ...]):
    for option in ("--screen-reader", "--read-only"):
        assert "Can't combine" in error_text(option, *mode)


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (("-C",), "continue_last", True),
        (("--yes",), "yolo", True),
        (("--auto-approve",), "yolo", True),
        (("--command", "hi"), "prompt", "hi"),
        (("--verbose",), "debug", True),
        (("--afk",), "afk", True),
    ],
)
def test_options_of_kimi_cli_work(arguments, name, value):
    parsed = parse_options(*arguments)
    assert getattr(parsed, name) == value
    assert parse_options() == CliOptions()
