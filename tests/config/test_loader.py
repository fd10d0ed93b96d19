"""Sources of settings and their precedence."""

import re
import subprocess
import sys

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.project_config import summarize_settings
from kimi_tui.config.project_trust import ProjectTrust

KIMI = """
default_model = "kimi"
[providers.moonshot]
type = "kimi"
base_url = "https://api.moonshot.cn/v1"
api_key = "from-file"
[models.kimi]
provider = "moonshot"
model = "kimi-k2"
max_context_size = 262144
"""


def test_without_any_config_the_defaults_apply(home):
    settings = home.settings()
    assert (settings.theme, settings.models, settings.loop_control.max_steps_per_turn) == ("auto", {}, 1000)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.toml", 'theme = "dark"\n[ui]\nmouse = false'),
        ("config.yaml", "theme: dark\nui:\n  mouse: false\nkeymap:\n"),
        ("config.yml", "theme: dark\nui: {mouse: false}"),
        ("config.json", '{"theme": "dark", "ui": {"mouse": false}, "keymap": null}'),
    ],
)
def test_the_suffix_determines_the_syntax(home, name, text):
    home.write(text, name)
    settings = home.settings()
    assert (settings.theme, settings.ui.mouse) == ("dark", False)


def test_an_option_overrides_single_settings_of_a_file(home):
    home.write(KIMI + "[loop_control]\nmax_steps_per_turn = 7\nmax_retries_per_step = 2")
    settings = home.settings(config_text="loop_control.max_steps_per_turn = 9")
    assert settings.loop_control.max_steps_per_turn == 9
    assert settings.loop_control.max_retries_per_step == 2


def test_the_config_option_accepts_json(home):
    assert home.settings(config_text='{"theme": "light"}').theme == "light"


def test_a_config_file_option_replaces_the_config_files(home, tmp_path):
    home.write('theme = "dark"\n[ui]\nmouse = false')
    other = tmp_path / "other.yaml"
    other.write_text("ui: {reduced_motion: true}")
    settings = home.settings(config_file=other)
    assert (settings.theme, settings.ui.mouse, settings.ui.reduced_motion) == ("auto", True, True)


def test_a_projects_config_applies_once_it_is_trusted(home):
    home.write('theme = "dark"')
    project = home.write_project('theme = "light"\n[loop_control]\nmax_steps_per_turn = 5')

    before = home.read()
    assert before.untrusted_source.path == project
    assert home.settings().theme == "dark"

    ProjectTrust(home.data_dir).trust(project, project.read_text())
    assert home.settings().theme == "light"
    assert home.read().untrusted_source is None


STOP = '[[hooks]]\nevent = "Stop"\ncommand = "{}"\n'


def test_a_projects_hooks_are_added_to_the_users_once_it_is_trusted(home):
    home.write(STOP.format("mine"))
    project = home.write_project(STOP.format("theirs"))
    assert [hook.command for hook in home.settings().hooks] == ["mine"]
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    assert [hook.command for hook in home.settings().hooks] == ["mine", "theirs"]
    assert summarize_settings(home.read().sources[1].data) == [
        "hooks.0.event = 'Stop'",
        "hooks.0.command = 'theirs'",
    ]


def test_a_projects_check_runs_only_once_it_is_trusted(home):
    project = home.write_project('[checks]\nrun = "make test"')
    assert home.settings().checks.run == ""
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    assert home.settings().checks.run == "make test"


def test_an_error_in_a_projects_hook_names_its_own_file_and_line(home):
    home.write(STOP.format("mine"))
    project = home.write_project('[[hooks]]\nevent = "Stopp"\ncommand = "theirs"\n')
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    with pytest.raises(ConfigError, match=rf"{project}, line 2: hooks\.1\.event"):
        home.settings()


def test_a_projects_config_that_changed_is_no_longer_trusted(home):
    project = home.write_project('theme = "light"')
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    home.write_project('[permissions]\nallow = ["Bash"]')
    assert home.settings().permissions.allow == ()


def test_a_projects_config_is_found_from_a_subdirectory(home):
    (home.work_dir / ".git").mkdir()
    project = home.write_project('theme = "light"')
    home.work_dir /= "src"
    home.work_dir.mkdir()
    assert home.read().untrusted_source.path == project


def test_the_data_directory_is_not_a_project_config(home):
    data_dir = home.work_dir / ".kimi-tui"
    data_dir.mkdir()
    home.data_dir = data_dir
    home.write('theme = "dark"')
    assert home.read().untrusted_source is None


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "x"',
        'base_url = "https://evil.example"',
        "custom_headers = { a = 'b' }",
        "env = { A = 'b' }",
    ],
)
def test_a_projects_config_cannot_change_a_providers_url_or_key(home, line):
    project = home.write_project(f"[providers.moonshot]\n{line}")
    error = rf"line 2: .*providers\.moonshot\.{line.split()[0]}"
    assert re.search(error, str(home.read().project_error))
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    with pytest.raises(ConfigError, match=error):
        home.read()


@pytest.mark.parametrize("key", ["services.moonshot_search.api_key", "web.allow_private_addresses"])
def test_a_projects_config_cannot_change_search_and_fetch_settings(home, key):
    project = home.write_project(f"theme = 'dark'\n{key} = 1\n")
    assert f"can't set {key}" in str(home.read().project_error)
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    with pytest.raises(ConfigError, match=rf"line 2: .*can't set {key}"):
        home.read()


@pytest.mark.parametrize("text", ["theme = [", "\udcff"], ids=["syntax", "encoding"])
def test_an_invalid_untrusted_project_config_is_ignored(home, text):
    home.write_project("").write_bytes(text.encode("utf-8", "surrogateescape"))
    config = home.read()
    assert config.untrusted_source is not None
    assert config.project_error is not None
    assert "theme" not in config.data


def test_permission_rules_of_all_sources_are_combined(home):
    home.write('[permissions]\ndeny = ["rm *"]\nallow = ["git *"]')
    settings = home.settings(config_text='permissions.deny = ["sudo *"]\npermissions.allow = ["git *"]')
    assert settings.permissions.deny == ("rm *", "sudo *")
    assert settings.permissions.allow == ("git *",)


def test_a_binding_id_may_be_written_with_or_without_quotes(home):
    settings = home.settings('[keymap]\ntimeline.revert = "enter"\n"app.quit" = "ctrl+w"')
    assert settings.keymap == {"timeline.revert": "enter", "app.quit": "ctrl+w"}


def test_a_config_of_kimi_cli_loads_and_reports_dropped_keys(home):
    home.write("""
default_model = "kimi-code/kimi-for-coding"
default_thinking = true
default_yolo = false
default_plan_mode = false
default_editor = ""
theme = "dark"
show_thinking_stream = true
merge_all_available_skills = false

[models."kimi-code/kimi-for-coding"]
provider = "managed:kimi-code"
model = "kimi-for-coding"
max_context_size = 262144
capabilities = ["thinking", "image_in", "video_in"]
display_name = "Kimi"

[models.script]
provider = "script"
model = "scripted"
max_context_size = 100000

[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://api.kimi.com/coding/v1"
api_key = ""
[providers."managed:kimi-code".oauth]
storage = "file"
key = "oauth/kimi-code"

[providers.script]
type = "_scripted_echo"
base_url = ""
api_key = ""
env = { KIMI_SCRIPTED_ECHO_SCRIPTS = "/scripts.json" }

[providers.google]
type = "gemini"
base_url = "https://generativelanguage.googleapis.com"
api_key = "g"

[loop_control]
max_steps_per_run = 100
max_retries_per_step = 3
max_ralph_iterations = 0
reserved_context_size = 50000
compaction_trigger_ratio = 0.85

[background]
max_running_tasks = 4
[notifications]
claim_stale_after_ms = 15000
[services.moonshot_search]
base_url = "https://api.kimi.com/coding/v1/search"
api_key = ""
oauth = { storage = "file", key = "oauth/kimi-code" }
[[hooks]]
event = "PreToolUse"
matcher = "Shell"
command = ".kimi/hooks/guard.sh"
timeout = 10
[services.moonshot_fetch]
base_url = "https://api.kimi.com/coding/v1/fetch"
api_key = ""
[mcp.client]
tool_call_timeout_ms = 60000
""")
    settings = home.settings()
    assert settings.loop_control.max_steps_per_turn == 100
    assert settings.default_thinking
    assert home.model("script").scripts == "/scripts.json"
    dropped = home.read().dropped_keys
    assert settings.background.max_running_tasks == 20  # the default that kimi-cli writes counts as unset
    assert {"providers.managed:kimi-code.oauth", "services.moonshot_fetch"} <= set(dropped)
    (hook,) = settings.hooks
    assert (hook.event, hook.matcher, hook.timeout) == ("PreToolUse", "Shell", 10)
    assert settings.services.moonshot_search is not None
    assert settings.services.moonshot_search.base_url == "https://api.kimi.com/coding/v1/search"


def test_reading_a_toml_config_needs_neither_pydantic_nor_yaml_nor_tomlkit(home):
    home.write(KIMI)
    code = (
        "import sys\nfrom pathlib import Path\nfrom kimi_tui.config.loader import read_config\n"
        "from kimi_tui.config.startup_settings import startup_settings\n"
        f"startup_settings(read_config(data_dir=Path({str(home.data_dir)!r}), work_dir=Path('.')).data)\n"
        "print(*{'pydantic', 'yaml', 'tomlkit'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_compaction_strategy_is_a_class_or_a_built_in_name(home):
    assert home.settings().compaction.strategy == "kimi_tui.compaction.llm_summary:LLMSummaryCompaction"
    assert (
        home.settings('[compaction]\nstrategy = "my.package:Short"').compaction.strategy == "my.package:Short"
    )
    hiding = "kimi_tui.compaction.hide_tool_results:ToolResultHidingCompaction"
    for name in ("ToolResultHidingCompaction", "kimi_cli.soul.compaction:ToolResultHidingCompaction"):
        assert home.settings(f'[compaction]\nstrategy = "{name}"').compaction.strategy == hiding


@pytest.mark.parametrize(
    "strategy", ["Short", "my.package", "my.package:", "my package:Short", "my.package:Short()"]
)
def test_an_invalid_class_path_is_an_error(home, strategy):
    with pytest.raises(ConfigError, match=r"line 2: compaction\.strategy is .*module:Class"):
        home.settings(f'[compaction]\nstrategy = "{strategy}"')


def test_defaults_that_kimi_cli_writes_count_as_unset(home):
    home.write("telemetry = true\n[loop_control]\nreserved_context_size = 50000\n")
    assert home.settings().loop_control.reserved_context_size is None
    home.write("telemetry = true\n[loop_control]\nreserved_context_size = 40000\n")
    assert home.settings().loop_control.reserved_context_size == 40_000
    home.write("[loop_control]\nreserved_context_size = 50000\n")
    assert home.settings().loop_control.reserved_context_size == 50_000


@pytest.mark.parametrize("text", ["default_yolo = true", 'default_editor = "evil"'])
def test_a_project_cannot_turn_on_yolo_or_choose_an_editor(home, text):
    home.write_project(text)
    error = home.read().project_error
    assert error is not None
    assert "a project's config can't set default_" in str(error)
