"""Config errors name file, line, key and value, give a hint, and never show secrets."""

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.validation import validate_settings

PLACE = "config.toml, line "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('default_thinking = "hihg"', 'line 1: default_thinking is "hihg". Did you mean high?'),
        (
            "default_thinking = 1",
            "line 1: default_thinking is 1. Valid values: off, low, medium, high, true, false.",
        ),
        ("theme = 3", "line 1: theme is 3. It should be text in quotes."),
        ('\n\ndefalt_model = "x"', "line 3: unknown setting defalt_model. Did you mean default_model?"),
        ("max_steps_per_turn = 3", "setting max_steps_per_turn. It belongs in [loop_control]."),
        (
            "[loop_control]\nmouse = true",
            "line 2: unknown setting loop_control.mouse. It belongs in [ui].",
        ),
        ("[ui]\ntheme = 'dark'", "unknown setting ui.theme. It belongs above the first table."),
        ("[providers.a]\ntype='kimi'\nmodel='x'", "setting providers.a.model. It belongs in [models.NAME]."),
        ("[ui]\nmous = true", "line 2: unknown setting ui.mous. Did you mean mouse?"),
        ("sparkle = 1", "unknown setting sparkle. Valid keys: default_model, default_thinking, theme"),
        (
            "[loop_control]\nmax_steps_per_turn = 'many'",
            '.max_steps_per_turn is "many". It should be a whole',
        ),
        (
            "[loop_control]\n\nmax_steps_per_turn = 0",
            "line 3: loop_control.max_steps_per_turn is 0. It should be",
        ),
        ("[ui]\nmouse = 'perhaps'", 'line 2: ui.mouse is "perhaps". It should be true or false.'),
        (
            "loop_control = 3",
            "loop_control is 3. It should be a table: write [loop_control] and its keys below.",
        ),
        ("[permissions]\nallow = 'ls'", 'permissions.allow is "ls". It should be a list'),
        ("[permissions]\nallow = [\n 1]", "line 2: permissions.allow.0 is 1. It should be text in quotes."),
        (
            "[models.a]\nmodel = 'x'\nprovider = 'p'",
            "line 1: models.a.max_context_size is missing. Add `max_context_size",
        ),
        ("models.a = { model = 'x', provider = 'p' }", "line 1: models.a.max_context_size is missing."),
        ("[providers.a]\ntype = 'kimmi'", 'line 2: providers.a.type is "kimmi". Did you mean kimi?'),
        ("[providers.a]\ntype='kimi'\nbase_url='x.cn'", 'base_url is "x.cn". Must be a URL that begins'),
        (
            '[[hooks]]\nevent = "Stop"\ncommand = "x"\n[[hooks]]\nevent = "PreTool"\ncommand = "x"',
            'line 5: hooks.1.event is "PreTool". Did you mean PreToolUse?',
        ),
        (
            '[[hooks]]\nevent = "Stop"\nmatcher = "("\ncommand = "x"',
            'line 3: hooks.0.matcher is "(". Not a valid regular expression',
        ),
        ('[[hooks]]\nevent = "Stop"', "line 1: hooks.0.command is missing."),
        (
            '[[hooks]]\nevent = "Stop"\ncommand = "x"\ntimout = 3',
            "line 4: unknown setting hooks.0.timout. Did you mean timeout?",
        ),
        ("theme = 'auto", "line 1: invalid TOML:"),
        ("theme = 'auto'\n\n[ui\n", "line 3: invalid TOML:"),
        ("a = '''\n[ui]\nmous = 1\n'''\n[ui]\nmous = 1", "line 6: unknown setting ui.mous."),
    ],
)
def test_an_error_names_line_key_and_value_with_a_hint(home, text, expected):
    with pytest.raises(ConfigError) as caught:
        home.settings(text)
    message = str(caught.value)
    problems = message.split(str(home.data_dir))
    assert len(problems) == 2
    assert expected in message.replace(" (And 1 more; `kimi-tui config check` lists them.)", "")


@pytest.mark.parametrize(
    ("theme", "hint"),
    [
        ("drak", "Did you mean dark?"),
        ("mauve", "Valid values: auto, dark, light, high-contrast, textual-dark"),
    ],
)
def test_a_theme_that_does_not_exist_is_a_problem_but_not_an_error(home, theme, hint):
    home.write(f'theme = "{theme}"\nlanguage = "zh"')
    validated = validate_settings(home.read())
    [problem] = validated.skipped
    assert f'line 1: theme is "{theme}".' in problem.what
    assert hint in problem.hint
    assert (validated.settings.theme, validated.settings.language) == ("auto", "zh")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("config.yaml", "theme: dark\nui:\n  mouse: nope\n", "line 3: ui.mouse"),
        ("config.yaml", "theme: dark\nui: [\n", "line 3: invalid YAML"),
        ("config.json", '{\n "theme": "dark",\n "ui": {\n  "mouse": "nope"}}', "line 4: ui.mouse"),
        ("config.json", '{\n "theme": dark}', "line 2: invalid JSON"),
        ("config.json", "[1]", "must be a table of settings, not a list"),
    ],
)
def test_errors_in_yaml_and_json_have_line_numbers(home, name, text, expected):
    home.write(text, name)
    with pytest.raises(ConfigError, match=expected):
        home.settings()


def test_an_error_in_an_option_names_the_option(home):
    home.write('theme = "dark"')
    with pytest.raises(ConfigError, match='--config, line 1: language is "x"'):
        home.settings(config_text='language = "x"')


@pytest.mark.parametrize(
    "text",
    [
        "[providers.a]\ntype = 'kimi'\napi_key = ['SECRET']",
        "[providers.a]\ntype = 'kimi'\ncustom_headers = { Authorization = ['SECRET'] }",
        "[providers.a]\ntype = 'kimi'\napi_keys = 'SECRET'",
        "[providers.a]\ntype = 'kimi'\nbase_url = 'me:SECRET@host'",
        "[providers.a]\ntype = 'kimi'\nbase_url = 'ftp://me:SECRET@host'",
        "providers = 'sk-SECRET'",
        "[providers.a]\ntype = 'kimi'\napi_key = 'SECRET",
        "[providers.a]\ntype = 'kimi'\nenv = { A = 1, B = 'SECRET' }",
    ],
)
def test_an_error_never_shows_a_secret(home, text):
    with pytest.raises(ConfigError) as caught:
        home.settings(text)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_messages_contain_no_escape_sequences(home):
    with pytest.raises(ConfigError) as caught:
        home.settings('language = "\\u001b[31mred"')
    assert "\x1b" not in str(caught.value)


def test_a_missing_unreadable_or_binary_file_is_an_error(home, tmp_path):
    with pytest.raises(ConfigError, match="doesn't exist"):
        home.read(config_file=tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="Use a file that ends in"):
        home.read(config_file=tmp_path / "config.ini")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ConfigError, match="Can't read"):
        home.read(config_file=tmp_path / "folder.toml")
    (tmp_path / "latin.toml").write_bytes(b"# ok\ntheme = '\xe4'")
    with pytest.raises(ConfigError, match="line 2: invalid UTF-8"):
        home.read(config_file=tmp_path / "latin.toml")
