"""What importing each package loads, checked in a fresh interpreter."""

import subprocess
import sys

import pytest

PACKAGES = [
    "base", "i18n", "config", "llm", "wire", "frontend", "history", "agentspec", "hooks", "skills",
    "permission", "tools", "compaction", "mcp", "soul", "engine", "tui", "linear", "headless", "acp",
    "wireserver", "api", "resident", "web", "fleet", "cli",
]  # fmt: skip
PROVIDER_SDKS = ("openai", "anthropic", "fastmcp", "mcp")


def modules_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after `statement`."""
    finished = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(finished.stdout.split())


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_imports_on_its_own(package: str) -> None:
    assert f"kimi_tui.{package}" in modules_after(f"import kimi_tui.{package}")


def test_importing_the_package_loads_nothing_else() -> None:
    bare = modules_after("pass")
    assert modules_after("import kimi_tui") - bare == {"kimi_tui"}


def test_the_app_loads_neither_the_engine_nor_a_provider() -> None:
    loaded = modules_after("import kimi_tui.tui.app")
    assert not loaded.intersection(PROVIDER_SDKS)
    assert not [
        name for name in loaded if name.startswith(("kimi_tui.engine", "kimi_tui.soul", "kimi_tui.llm"))
    ]


def test_print_mode_the_linear_mode_and_the_engine_never_import_textual_or_rich() -> None:
    loaded = modules_after(
        "import kimi_tui.headless.print_mode, kimi_tui.linear.app, kimi_tui.engine.build.engine"
    )
    assert not loaded.intersection({"textual", "rich", *PROVIDER_SDKS})
