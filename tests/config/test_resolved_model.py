"""Which model is used, with which key, and where it is reached."""

import pytest

from kimi_tui.base.errors import ConfigError, ModelNotSet


def provider(line: str = "", *, kind: str = "kimi") -> str:
    return (
        f"[providers.p]\ntype = '{kind}'\n{line}\n"
        "[models.fast]\nprovider = 'p'\nmodel = 'm'\nmax_context_size = 1000\n"
    )


def test_without_config_and_key_the_error_names_the_ways_to_get_a_model(home):
    with pytest.raises(ModelNotSet) as caught:
        home.model()
    for way in ("KIMI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "--demo"):
        assert way in caught.value.hint


@pytest.mark.parametrize("kind", ["kimi", "openai", "anthropic"])
def test_one_key_in_the_environment_is_enough(home, kind):
    home.environ = {f"{kind.upper()}_API_KEY": "k", f"{kind.upper()}_BASE_URL": "http://localhost:1"}
    model = home.model()
    assert (model.type, model.api_key, model.base_url) == (kind, "k", "http://localhost:1")
    assert model.model
    assert model.max_context_size > 100_000


def test_a_config_without_models_does_not_stand_in_the_way_of_a_key_in_the_environment(home):
    home.write('theme = "dark"')
    home.environ = {"OPENAI_API_KEY": "k"}
    assert home.model().type == "openai"


def test_of_several_keys_kimis_is_taken_and_without_it_the_user_chooses(home):
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


def test_a_model_that_is_asked_for_by_name_is_not_renamed_by_the_environment(home):
    home.write(
        "default_model = 'fast'\n"
        + provider("api_key = 'x'")
        + "[models.other]\nprovider = 'p'\nmodel = 'o'\nmax_context_size = 9\n"
    )
    home.environ = {"KIMI_MODEL_NAME": "kimi-next"}
    assert home.model("other").model == "o"


def test_a_window_that_is_no_number_is_told(home):
    home.environ = {"KIMI_API_KEY": "k", "KIMI_MODEL_MAX_CONTEXT_SIZE": "256k"}
    with pytest.raises(ConfigError, match='KIMI_MODEL_MAX_CONTEXT_SIZE is "256k"'):
        home.model()


def test_the_key_of_openai_does_not_go_to_a_server_that_the_config_names(home):
    home.write(provider("base_url = 'http://localhost:11434/v1'", kind="openai"))
    home.environ = {"OPENAI_API_KEY": "real", "OPENAI_BASE_URL": "https://elsewhere"}
    assert (home.model().api_key, home.model().base_url) == ("", "http://localhost:11434/v1")


@pytest.mark.parametrize("kind", ["openai", "openai_legacy", "openai_responses"])
def test_openai_types_take_openais_variables(home, kind):
    home.write(provider(kind=kind))
    home.environ = {"OPENAI_API_KEY": "real"}
    assert (home.model().type, home.model().api_key) == ("openai", "real")


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


def test_a_missing_key_is_told_with_the_place_for_it(home):
    home.write(provider())
    with pytest.raises(ConfigError, match="provider p has no key") as caught:
        home.model()
    assert "KIMI_API_KEY" in caught.value.hint


def test_an_unknown_model_brings_near_names(home):
    home.write(provider("api_key = 'x'"))
    with pytest.raises(ConfigError, match=r"no model “fsat”\. Did you mean fast"):
        home.model("fsat")
    with pytest.raises(ConfigError, match="Configured are fast"):
        home.model("zzz")


def test_a_model_whose_provider_is_missing_is_told(home):
    home.write("[models.fast]\nprovider = 'gone'\nmodel = 'm'\nmax_context_size = 1")
    with pytest.raises(ConfigError, match="“gone”, which isn't configured"):
        home.model()


def test_a_provider_that_only_kimi_cli_reaches_is_told_when_it_is_used(home):
    home.write(provider("api_key = 'x'", kind="gemini"))
    with pytest.raises(ConfigError, match="of type gemini, which kimi-tui can't reach"):
        home.model()


def test_no_secret_shows_in_the_repr_of_settings_or_model(home):
    home.write(provider("api_key = 'SECRET'\ncustom_headers = { X = 'SECRET' }"))
    assert "SECRET" not in repr(home.model())
    assert "SECRET" not in repr(home.settings().providers["p"].api_key)
