"""Sandbox policy: what a command may read and write."""

from pathlib import Path

import pytest

from kimi_tui.workspaces.sandbox.policy import Access, SandboxPolicy, build_policy
from kimi_tui.workspaces.sandbox.seatbelt import build_profile


class SandboxDirs:
    """A home directory with a project."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "project"
        (self.project / ".git" / "hooks").mkdir(parents=True)
        (self.project / ".git" / "config").touch()
        self.temp = folder / "temp"

    def build_policy(self, work_dir: Path | None = None, **paths: tuple[Path, ...]) -> SandboxPolicy:
        return build_policy(
            work_dir=work_dir or self.project,
            additional_dirs=paths.get("added", ()),
            writable=paths.get("writable", ()),
            readable=paths.get("readable", ()),
            hidden=paths.get("hidden", ()),
            home=self.home,
            temp=self.temp,
            network=False,
            environment=("CI_TOKEN",),
            secrets=frozenset({"s3cret"}),
        )

    def access(self, policy: SandboxPolicy) -> dict[str, Access]:
        """Return the rules by path relative to the home directory."""
        return {
            path.relative_to(self.home).as_posix(): access
            for path, access in policy.access.items()
            if path.is_relative_to(self.home)
        }


@pytest.fixture
def dirs(tmp_path: Path) -> SandboxDirs:
    return SandboxDirs(tmp_path.resolve())


def test_the_work_dir_is_writable_except_for_git_hooks_and_config(dirs: SandboxDirs) -> None:
    access = dirs.access(dirs.build_policy())
    assert access["project"] == access["project/.git"] == "write"
    assert access["project/.git/config"] == access["project/.git/hooks"] == "read"
    assert access[".ssh"] == access[".netrc"] == "hidden"


def test_missing_hooks_cannot_be_created(dirs: SandboxDirs) -> None:
    (dirs.project / ".git" / "hooks").rmdir()
    assert dirs.access(dirs.build_policy())["project/.git/hooks"] == "absent"


def test_the_git_file_of_a_worktree_is_read_only(dirs: SandboxDirs) -> None:
    worktree = dirs.home / "worktree"
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: elsewhere\n")
    access = dirs.access(dirs.build_policy(worktree))
    assert access["worktree/.git"] == "read"
    assert "worktree/.git/hooks" not in access


def test_outer_directories_come_first_so_that_inner_rules_win(dirs: SandboxDirs) -> None:
    inside = dirs.home / ".claude" / "worktrees" / "one"
    inside.mkdir(parents=True)
    policy = dirs.build_policy(inside)
    assert dirs.access(policy)[".claude"] == "hidden"
    assert dirs.access(policy)[".claude/worktrees/one"] == "write"
    depths = [len(path.parts) for path in policy.access]
    assert depths == sorted(depths)


def test_profiles_and_secrets_stay_protected_in_a_writable_home(dirs: SandboxDirs) -> None:
    access = dirs.access(dirs.build_policy(dirs.home))
    assert access["."] == "write"
    assert access[".bashrc"] == "read"
    assert access[".ssh"] == "hidden"


def test_configured_readable_and_writable_paths_are_not_hidden(dirs: SandboxDirs) -> None:
    npmrc, cache = dirs.home / ".npmrc", dirs.home / ".cache"
    access = dirs.access(
        dirs.build_policy(readable=(npmrc,), writable=(cache,), hidden=(cache, dirs.home / "x"))
    )
    assert (access[".npmrc"], access[".cache"], access["x"]) == ("read", "write", "hidden")


def test_variables_that_look_like_secrets_are_removed(dirs: SandboxDirs) -> None:
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
    assert set(dirs.build_policy().filter_environment(environment)) == {"PATH", "KEYBOARD", "CI_TOKEN"}


def test_later_rules_of_the_macos_profile_override_earlier_ones(dirs: SandboxDirs) -> None:
    quoted_name = dirs.home / 'a "b" \\ c'
    rules = build_profile(dirs.build_policy(writable=(quoted_name,))).splitlines()
    assert rules[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    work = rules.index(f'(allow file-read* file-write* (subpath "{dirs.project}"))')
    assert rules.index(f'(deny file-write* (subpath "{dirs.project}/.git/config"))') > work
    assert f'(deny file-read* file-write* (subpath "{dirs.home}/.ssh"))' in rules
    assert f'(allow file-read* file-write* (subpath "{dirs.home}/a \\"b\\" \\\\ c"))' in rules
    assert rules[-1] == "(deny network*)"
