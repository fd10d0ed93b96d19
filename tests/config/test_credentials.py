"""Stored API keys and their precedence."""

from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.credentials import Credential, Credentials
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.resolved_model import ResolvedModel, resolve_model

CONFIG = """
default_model = "m"
[providers.p]
type = "{type}"
{more}
[models.m]
provider = "p"
model = "x"
max_context_size = 1000
"""


def resolve(data_dir: Path, config: str = "", **environ: str) -> ResolvedModel:
    (data_dir / "config.toml").write_text(config)
    read = read_config(data_dir=data_dir, work_dir=data_dir, environ=environ)
    return resolve_model(settings_of(read), environ=environ)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    Credentials(tmp_path).save("kimi", Credential("sk-stored", "https://example.com/v1"))
    return tmp_path


def test_without_a_config_a_stored_key_is_all_that_is_needed(data_dir: Path) -> None:
    model = resolve(data_dir)
    assert (model.type, model.api_key, model.base_url) == ("kimi", "sk-stored", "https://example.com/v1")


def test_the_environment_overrides_key_and_base_url(data_dir: Path) -> None:
    model = resolve(data_dir, KIMI_API_KEY="sk-env")
    assert (model.api_key, model.base_url) == ("sk-env", None)


def test_a_stored_key_replaces_an_unset_variable(data_dir: Path) -> None:
    config = CONFIG.format(type="kimi", more='api_key = "env:KIMI_API_KEY"')
    assert resolve(data_dir, config).api_key == "sk-stored"
    assert resolve(data_dir, CONFIG.format(type="kimi", more="")).api_key == "sk-stored"


def test_a_base_url_in_the_config_is_kept(data_dir: Path) -> None:
    config = CONFIG.format(type="kimi", more='base_url = "https://own.example.com/v1"')
    assert resolve(data_dir, config).base_url == "https://own.example.com/v1"


def test_a_key_in_the_config_overrides_a_stored_one(data_dir: Path) -> None:
    assert resolve(data_dir, CONFIG.format(type="kimi", more='api_key = "sk-own"')).api_key == "sk-own"


def test_a_stored_key_is_not_sent_to_a_custom_server(tmp_path: Path) -> None:
    Credentials(tmp_path).save("openai", Credential("sk-stored"))
    config = CONFIG.format(type="openai", more='base_url = "http://localhost:1/v1"')
    assert resolve(tmp_path, config).api_key == ""


def test_the_repr_contains_no_key() -> None:
    assert "sk-" not in repr(Credential("sk-stored"))


def test_an_invalid_file_is_an_error(tmp_path: Path) -> None:
    Credentials(tmp_path).path.write_text("{")
    with pytest.raises(ConfigError, match="stored API keys"):
        resolve(tmp_path)


def test_the_environment_sets_sampling_limit_and_capabilities_of_kimis_model(data_dir: Path) -> None:
    model = resolve(
        data_dir,
        KIMI_API_KEY="k",
        KIMI_MODEL_TEMPERATURE="0.6",
        KIMI_MODEL_TOP_P="0.9",
        KIMI_MODEL_MAX_TOKENS="123",
        KIMI_MODEL_CAPABILITIES="thinking, IMAGE_IN, unheard_of",
        KIMI_MODEL_THINKING_KEEP="all",
    )
    assert (model.temperature, model.top_p, model.max_output_tokens) == (0.6, 0.9, 123)
    assert model.capabilities == {"thinking", "image_in"}
    assert model.thinking_keep == "all"


def test_an_invalid_number_in_the_environment_names_its_variable(data_dir: Path) -> None:
    with pytest.raises(ConfigError, match="KIMI_MODEL_TOP_P"):
        resolve(data_dir, KIMI_API_KEY="k", KIMI_MODEL_TOP_P="high")
