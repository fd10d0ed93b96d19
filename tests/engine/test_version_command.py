"""Commands that users of Kimi CLI type: /version, /changelog, /logout, /rename, /reset and /task."""

from kimi_tui.config.credentials import Credential, Credentials
from kimi_tui.engine.slash.version import newest_release
from kimi_tui.version import __version__
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import Notification, Reverted, SessionInfo
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv


async def notice_of(front: FakeFrontEnd, line: str) -> Notification:
    front.send(RunSlash(line))
    return await front.wait_for(Notification)


async def test_the_version_and_its_changes_are_shown(home: SessionEnv) -> None:
    async with home.open_session() as front:
        assert (await notice_of(front, "version")).title == f"kimi-tui {__version__}"
        assert "### Added" in (await notice_of(front, "changelog")).body


def test_the_newest_release_is_the_first_section() -> None:
    text = "# Changelog\n\nAbout.\n\n## 2.0\n\n- new\n\n## 1.0\n\n- old\n"
    assert newest_release(text) == "- new"
    assert newest_release("nothing") == "nothing"


async def test_logout_removes_the_only_key_or_the_named_one(home: SessionEnv) -> None:
    home.data_dir.mkdir(exist_ok=True)
    keys = Credentials(home.data_dir)
    async with home.open_session() as front:
        assert (await notice_of(front, "logout")).title == "No API keys stored."
        keys.save("openai", Credential("sk-1"))
        keys.save("kimi", Credential("sk-2"))
        assert "several providers" in (await notice_of(front, "logout")).title
        assert (await notice_of(front, "logout openai")).title == "API key for openai removed."
        assert list(keys.read()) == ["kimi"]
        assert (await notice_of(front, "logout")).title == "API key for kimi removed."
        assert keys.read() == {}


async def test_other_names_of_commands_do_the_same(home: SessionEnv) -> None:
    home.script("text: hello")
    async with home.open_session() as front:
        front.send(RunSlash("rename Fix the login"))
        await front.wait_for(SessionInfo, where=lambda it: it.title == "Fix the login")
        await front.turn("hi")
        assert "hello" in home.journal
        assert (await notice_of(front, "task")).title == "Background tasks"
        front.send(RunSlash("reset"))
        await front.wait_for(Reverted)
