"""Resolution of a model: name, key and base URL."""

import pytest

from kimi_tui.base.errors import ConfigError, ModelNotSet


def provider(line: str = "", *, kind: str = "kimi") -> str:
    return (
        f"[providers.p]\ntype = '{kind}'\n{line}\n"
        "[models.fast]\nprovider = 'p'\nmodel = 'm'\nmax_context_size = 1000\n"
    )


def test_without_config_and_key_the_error_lists_the_options(home):
    with pytest.raises(ModelNotSet) as caught:
        home.model()
    for option in ("KIMI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "--demo"):
        assert option in caught.value.hint


@pytest.mark.parametrize("kind", ["kimi", "openai", "anthropic"])
def test_one_key_in_the_environment_is_enough(home, kind):
    home.environ = {f"{kind.upper()}_API_KEY": "k", f"{kind.upper()}_BASE_URL": "http://localhost:1"}
    model = home.model()
    assert (model.type, model.api_key, model.base_url) == (kind, "k", "http://localhost:1")
    assert model.model
    assert model.max_context_size > 100_000


def test_a_config_without_models_allows_a_key_in_the_environment(home):
    home.write('theme = "dark"')
    home.environ = {"OPENAI_API_KEY": "k"}
    assert home.model().type == "openai_responses"


def test_another_server_for_openais_key_gets_chat_completions(home):
    home.environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://gateway.example/v1"}
    assert home.model().type == "openai"


def test_kimis_key_is_the_default_and_without_it_the_user_chooses(home):
    home.environ = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}
    with pytest.raises(ModelNotSet, match="openai or anthropic"):
        home.model()
    assert home.model("anthropic").api_key == "a"
    home.environ["KIMI_API_KEY"] = "k"
    assert home.model().api_key == "k"


def test_kimis_model_and_window_come_from_the_environment(home):
    home.environ = {
        "KIMI_API_KEY": "k",
        "KIMI_MODEL_NAME": "kimi-next",
        "KIMI_MODEL_MAX_CONTEXT_SIZE": "5000",
    }
    assert (home.model().model, home.model().max_context_size) == ("kimi-next", 5000)
    home.write(provider("api_key = 'old'"))
    assert (home.model().model, home.model().max_context_size, home.model().api_key) == (
        "kimi-next",
        5000,
        "k",
    )


def test_the_environment_does_not_change_a_model_selected_by_name(home):
    home.write(
        "default_model = 'fast'\n"
        + provider("api_key = 'x'")
        + "[models.other]\nprovider = 'p'\nmodel = 'o'\nmax_context_size = 9\n"
    )
    home.environ = {"KIMI_MODEL_NAME": "kimi-next"}
    assert home.model("other").model == "o"


def test_an_invalid_context_size_is_an_error(home):
    home.environ = {"KIMI_API_KEY": "k", "KIMI_MODEL_MAX_CONTEXT_SIZE": "256k"}
    with pytest.raises(ConfigError, match='KIMI_MODEL_MAX_CONTEXT_SIZE is "256k"'):
        home.model()


def test_openais_key_is_not_sent_to_a_custom_server(home):
    home.write(provider("base_url = 'http://localhost:11434/v1'", kind="openai"))
    home.environ = {"OPENAI_API_KEY": "real", "OPENAI_BASE_URL": "https://elsewhere"}
    assert (home.model().api_key, home.model().base_url) == ("", "http://localhost:11434/v1")


@pytest.mark.parametrize(
    ("kind", "protocol"),
    [("openai", "openai"), ("openai_legacy", "openai"), ("openai_responses", "openai_responses")],
)
def test_openai_types_use_openais_variables(home, kind, protocol):
    home.write(provider(kind=kind))
    home.environ = {"OPENAI_API_KEY": "real"}
    assert (home.model().type, home.model().api_key) == (protocol, "real")


def test_an_option_file_wins_over_the_environment_but_an_empty_key_does_not(home, tmp_path):
    file = tmp_path / "c.toml"
    home.environ = {"KIMI_API_KEY": "env", "KIMI_BASE_URL": "http://env"}
    file.write_text(provider("api_key = 'file'\nbase_url = 'http://file'"))
    assert (home.model(config_file=file).api_key, home.model(config_file=file).base_url) == (
        "file",
        "http://file",
    )
    file.write_text(provider("api_key = ''"))
    assert home.model(config_file=file).api_key == "env"


def test_a_key_is_read_from_the_variable_that_the_config_names(home):
    home.write(provider("api_key = 'env:MY_KEY'", kind="anthropic"))
    with pytest.raises(ConfigError, match="MY_KEY, which isn't set"):
        home.model()
    home.environ = {"MY_KEY": "mine"}
    assert home.model().api_key == "mine"


def test_a_missing_key_names_the_variable_to_set(home):
    home.write(provider())
    with pytest.raises(ConfigError, match="Provider p has no API key") as caught:
        home.model()
    assert "KIMI_API_KEY" in caught.value.hint


def test_an_unknown_model_suggests_close_names(home):
    home.write(provider("api_key = 'x'"))
    with pytest.raises(ConfigError, match=r"Unknown model “fsat”\. Did you mean fast"):
        home.model("fsat")
    with pytest.raises(ConfigError, match="Configured models: fast"):
        home.model("zzz")


def test_a_missing_provider_is_an_error(home):
    home.write("[models.fast]\nprovider = 'gone'\nmodel = 'm'\nmax_context_size = 1")
    with pytest.raises(ConfigError, match="“gone”, which isn't configured"):
        home.model()


def test_a_provider_that_only_kimi_cli_supports_is_an_error_when_used(home):
    home.write(provider("api_key = 'x'", kind="gemini"))
    with pytest.raises(ConfigError, match="has type gemini, which kimi-tui doesn't support"):
        home.model()


def test_reprs_contain_no_secrets(home):
    home.write(provider("api_key = 'SECRET'\ncustom_headers = { X = 'SECRET' }"))
    assert "SECRET" not in repr(home.model())
    assert "SECRET" not in repr(home.settings().providers["p"].api_key)
