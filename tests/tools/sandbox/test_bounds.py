"""What a command in the sandbox may see and change."""

from pathlib import Path

import pytest

from kimi_tui.tools.sandbox.bounds import Access, Bounds, bounds_of
from kimi_tui.tools.sandbox.seatbelt import profile


class Places:
    """A home with a project in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "project"
        (self.project / ".git" / "hooks").mkdir(parents=True)
        (self.project / ".git" / "config").touch()
        self.temp = folder / "temp"

    def bounds(self, work_dir: Path | None = None, **how: tuple[Path, ...]) -> Bounds:
        return bounds_of(
            work_dir=work_dir or self.project,
            additional_dirs=how.get("added", ()),
            writable=how.get("writable", ()),
            readable=how.get("readable", ()),
            hidden=how.get("hidden", ()),
            home=self.home,
            temp=self.temp,
            network=False,
            environment=("CI_TOKEN",),
            secrets=frozenset({"s3cret"}),
        )

    def access(self, bounds: Bounds) -> dict[str, Access]:
        """By path from the home folder on."""
        return {
            path.relative_to(self.home).as_posix(): access
            for path, access in bounds.access.items()
            if path.is_relative_to(self.home)
        }


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path.resolve())


def test_the_work_dir_is_worked_in_and_what_git_obeys_there_is_not(places: Places) -> None:
    access = places.access(places.bounds())
    assert access["project"] == access["project/.git"] == "write"
    assert access["project/.git/config"] == access["project/.git/hooks"] == "read"
    assert access[".ssh"] == access[".netrc"] == "hidden"


def test_hooks_that_are_not_there_can_not_be_made(places: Places) -> None:
    (places.project / ".git" / "hooks").rmdir()
    assert places.access(places.bounds())["project/.git/hooks"] == "absent"


def test_a_worktrees_git_file_is_not_changed(places: Places) -> None:
    worktree = places.home / "worktree"
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: elsewhere\n")
    access = places.access(places.bounds(worktree))
    assert access["worktree/.git"] == "read"
    assert "worktree/.git/hooks" not in access


def test_outer_folders_come_first_so_that_inner_ones_have_the_last_word(places: Places) -> None:
    inside = places.home / ".claude" / "worktrees" / "one"
    inside.mkdir(parents=True)
    bounds = places.bounds(inside)
    assert places.access(bounds)[".claude"] == "hidden"
    assert places.access(bounds)[".claude/worktrees/one"] == "write"
    depths = [len(path.parts) for path in bounds.access]
    assert depths == sorted(depths)


def test_a_home_that_is_worked_in_keeps_its_profiles_and_secrets(places: Places) -> None:
    access = places.access(places.bounds(places.home))
    assert access["."] == "write"
    assert access[".bashrc"] == "read"
    assert access[".ssh"] == "hidden"


def test_what_is_read_or_written_by_the_users_wish_is_not_hidden(places: Places) -> None:
    npmrc, cache = places.home / ".npmrc", places.home / ".cache"
    access = places.access(
        places.bounds(readable=(npmrc,), writable=(cache,), hidden=(cache, places.home / "x"))
    )
    assert (access[".npmrc"], access[".cache"], access["x"]) == ("read", "write", "hidden")


def test_variables_that_sound_like_secrets_are_not_handed_on(places: Places) -> None:
    environment = {
        "PATH": "/bin",
        "KEYBOARD": "us",
        "KIMI_API_KEY": "k",
        "AWS_SECRET_ACCESS_KEY": "k",
        "DB_PASSWORD": "k",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "CI_TOKEN": "t",
        "MOONSHOT": "s3cret",
    }
    assert set(places.bounds().visible(environment)) == {"PATH", "KEYBOARD", "CI_TOKEN"}


def test_the_profile_of_macos_says_the_same_later_rules_over_earlier_ones(places: Places) -> None:
    named = places.home / 'a "b" \\ c'
    rules = profile(places.bounds(writable=(named,))).splitlines()
    assert rules[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    work = rules.index(f'(allow file-read* file-write* (subpath "{places.project}"))')
    assert rules.index(f'(deny file-write* (subpath "{places.project}/.git/config"))') > work
    assert f'(deny file-read* file-write* (subpath "{places.home}/.ssh"))' in rules
    assert f'(allow file-read* file-write* (subpath "{places.home}/a \\"b\\" \\\\ c"))' in rules
    assert rules[-1] == "(deny network*)"
