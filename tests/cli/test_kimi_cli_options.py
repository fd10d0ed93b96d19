"""Settings and options that users of Kimi CLI bring along take effect."""

import json

import pexpect
import pytest

from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.startup_settings import startup_settings
from tests.cli.conftest import Terminal
from tests.e2e.program import Program, script, tool_call
from tests.llm.servers import ScriptedResponse, serving
from tests.mcp.odd_servers import config_entry


@pytest.fixture
def program(program: Program) -> Program:
    program.script(
        script(tool_call("a", "Bash", command="touch made")),
        script(
            tool_call(
                "b",
                "AskUserQuestion",
                questions=[{"question": "Which?", "options": [{"label": "x"}, {"label": "y"}]}],
            )
        ),
        "text: done",
    )
    return program


def test_afk_approves_everything_and_dismisses_questions(program: Program) -> None:
    done = program.run("--afk", "-p", "go")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == "done\n"
    assert (program.work_dir / "made").exists()
    (journal,) = program.context_files
    assert "No user is available to answer" in journal.read_text()


def test_without_it_the_command_is_denied(program: Program) -> None:
    assert program.run("-p", "go").exit_code == 4


def test_default_yolo_applies_to_new_sessions(program: Program) -> None:
    config = program.data_dir / "config.toml"
    config.write_text(f"default_yolo = true\n{config.read_text()}")
    assert program.run("-p", "go").exit_code == 0
    assert (program.work_dir / "made").exists()


def test_default_plan_mode_applies_to_new_sessions(program: Program) -> None:
    config = program.data_dir / "config.toml"
    config.write_text(f"default_plan_mode = true\n{config.read_text()}")
    program.run("--yolo", "-p", "go")
    assert not (program.work_dir / "made").exists()
    (state,) = program.data_dir.glob("tui-sessions/*/*/state.json")
    assert json.loads(state.read_text())["work_dir"]


def test_the_error_for_c_with_a_prompt_explains_the_option(program: Program) -> None:
    done = program.run("-c", "fix it")
    assert done.exit_code == 2
    assert "With -c, kimi-tui resumes the last session" in done.stderr


@pytest.mark.parametrize("option", ["--yes", "--auto-approve"])
def test_other_names_of_yolo_approve_everything(program: Program, option: str) -> None:
    assert program.run(option, "-p", "go").exit_code == 0
    assert (program.work_dir / "made").exists()


def test_command_is_another_name_of_prompt(program: Program) -> None:
    done = program.run("--yolo", "--command", "go")
    assert (done.exit_code, done.stdout) == (0, "done\n")


@pytest.mark.parametrize("option", ["-C", "-c"])
def test_both_letters_continue_the_last_session(program: Program, option: str) -> None:
    program.script("text: one", "text: two")
    program.run("-p", "first")
    program.run(option, "-p", "second")
    (journal,) = program.context_files
    assert "first" in journal.read_text()
    assert "second" in journal.read_text()


def test_verbose_logs_everything(program: Program) -> None:
    program.run("--verbose", "--yolo", "-p", "go")
    log = (program.data_dir / "logs" / "kimi-tui.log").read_text()
    assert " DEBUG " in log
    assert "tool_call" in log


def test_default_editor_opens_the_config(program: Program, terminal: Terminal) -> None:
    config = program.data_dir / "config.toml"
    config.write_text(f'default_editor = "touch {program.work_dir}/edited"\n{config.read_text()}')
    child = terminal.start("config", "edit")
    child.expect(pexpect.EOF)
    assert (program.work_dir / "edited").exists()


def test_the_timeout_of_mcp_clients_applies_to_calls(program: Program) -> None:
    program.script(script(tool_call("a", "hang")), "text: done")
    config = program.data_dir / "config.toml"
    config.write_text(f"{config.read_text()}\n[mcp.client]\ntool_call_timeout_ms = 200\n")
    (program.data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"odd": config_entry()}}))
    done = program.run("--yolo", "-p", "go")
    assert (done.exit_code, done.stdout) == (0, "done\n")
    (journal,) = program.context_files
    assert "0.2 s" in journal.read_text()


MODEL = """
default_model = "m"
default_thinking = true
[providers.p]
type = "{type}"
base_url = "{url}"
api_key = "sk-secret"
{more}
[models.m]
provider = "p"
model = "model-1"
max_context_size = 100000
capabilities = ["thinking"]
"""


def test_reasoning_key_names_the_field_of_thinking_in_requests(program: Program) -> None:
    replies = [ScriptedResponse(thinking="Hm.", text="one"), ScriptedResponse(text="two")]
    with serving("openai", replies) as server:
        more = 'reasoning_key = "reasoning_details"'
        program.configure(MODEL.format(type="openai", url=server.base_url, more=more))
        for prompt in ("first", "second"):
            assert program.run("-C", "-p", prompt).exit_code == 0
    (answer,) = (it for it in server.bodies[1]["messages"] if it["role"] == "assistant")
    assert answer["reasoning_details"] == "Hm."


def test_variables_of_the_model_are_sent_with_each_request(program: Program) -> None:
    program.env.update(
        KIMI_MODEL_TEMPERATURE="0.6",
        KIMI_MODEL_TOP_P="0.9",
        KIMI_MODEL_MAX_TOKENS="123",
        KIMI_MODEL_CAPABILITIES="thinking,image_in",
        KIMI_MODEL_THINKING_KEEP="all",
    )
    with serving("openai", [ScriptedResponse(text="done")]) as server:
        program.configure(MODEL.format(type="kimi", url=server.base_url, more=""))
        done = program.run("-p", "go")
    assert done.exit_code == 0, done.stderr
    (body,) = server.bodies
    assert (body["temperature"], body["top_p"], body["thinking"]["keep"]) == (0.6, 0.9, "all")
    assert 123 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parametrize(
    ("line", "display"),
    [
        ("show_thinking_stream = true", "full"),
        ("show_thinking_stream = false", "summary"),
        ("show_thinking_stream = true\ntelemetry = true", "preview"),  # the default that Kimi CLI writes
        ("show_thinking_stream = false\ntelemetry = true", "summary"),
        ('show_thinking_stream = true\n[ui]\nthinking = "summary"', "summary"),
    ],
)
def test_show_thinking_stream_decides_how_thinking_is_shown(
    program: Program, line: str, display: str
) -> None:
    program.configure(line)
    config = read_config(data_dir=program.data_dir, work_dir=program.work_dir, environ={})
    assert startup_settings(config.data).ui.thinking == display
    assert settings_of(config).ui.thinking == display


def test_tables_about_kimi_clis_processes_are_accepted_without_effect(program: Program) -> None:
    config = program.data_dir / "config.toml"
    tables = "[background]\nkill_grace_period_ms = 1\n[notifications]\nclaim_stale_after_ms = 15000\n"
    config.write_text(f"{config.read_text()}\n{tables}")
    assert program.run("--yolo", "-p", "go").exit_code == 0
    assert "notifications" in program.run("config", "check").stdout
