"""A share dir and a work dir, and reading the config they hold."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kimi_tui.config.loading import RawConfig, read_config, settings_of
from kimi_tui.config.resolved_model import ResolvedModel, resolve_model
from kimi_tui.config.settings import Settings


@dataclass
class Home:
    """Where settings lie, and the environment; nothing of the real ones is seen."""

    share_dir: Path
    work_dir: Path
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, text: str, name: str = "config.toml") -> Path:
        path = self.share_dir / name
        path.write_text(text, "utf-8")
        return path

    def write_project(self, text: str) -> Path:
        path = self.work_dir / ".kimi-tui" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def read(self, **options) -> RawConfig:
        return read_config(share_dir=self.share_dir, work_dir=self.work_dir, environ=self.environ, **options)

    def settings(self, text: str | None = None, **options) -> Settings:
        if text is not None:
            self.write(text)
        return settings_of(self.read(**options))

    def model(self, name: str | None = None, **options) -> ResolvedModel:
        return resolve_model(self.settings(**options), name, environ=self.environ)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    share, work = tmp_path / "share", tmp_path / "work"
    share.mkdir()
    work.mkdir()
    return Home(share, work)
