"""Bounds of reading: what a command may see before it is allowed."""

from pathlib import Path

from kimi_tui.workspaces.sandbox.policy import build_policy
from kimi_tui.workspaces.sandbox.read_bounds import restrict_reads
from tests.workspaces.bounded_env import BoundedEnv


async def test_the_rest_of_the_home_directory_is_empty(bounded_env: BoundedEnv) -> None:
    home = bounded_env.home
    project = home / "code" / "project"
    added = home / "library"
    for folder in (
        project,
        added,
        home / "notes",
        home / ".nvm",
        home / "bin",
        home / ".config" / "git",
        home / "open",
    ):
        folder.mkdir(parents=True)
        (folder / "file").write_text(f"{folder.name}\n")
    (home / ".gitconfig").write_text("[user]\n")
    (home / ".netrc").write_text("secret\n")
    (home / "bin" / "tool").write_text("#!/bin/sh\necho tool runs\n")
    (home / "bin" / "tool").chmod(0o755)
    policy = restrict_reads(
        build_policy(
            work_dir=project,
            additional_dirs=(added,),
            writable=(),
            readable=(home / "open",),
            hidden=(),
            home=home,
            temp=bounded_env.temp,
            network=False,
            environment=(),
            secrets=frozenset(),
        ),
        home=home,
        program_path=f"{home}/bin:/usr/bin:/bin",
    )
    bounded_env.env.work = project
    bounded_env.work = project
    ran = await bounded_env.run(
        f"cd {home}; ls -A; ls -A .config; cat */file .nvm/file code/project/file; bin/tool; echo x > new; "
        "chmod 700 . && echo x > new; test -e .netrc || echo no netrc; ls / /var; ls /usr/bin/env",
        policy=policy,
        added=(added,),
    )
    lines = ran.output.split("\n")
    assert lines[:8] == [".config", ".gitconfig", ".nvm", "bin", "code", "library", "open", "git"]
    assert {"library", "open", "bin", ".nvm", "project", "tool runs", "no netrc"} <= set(lines)
    assert "notes" not in lines
    assert not (home / "new").exists()
    assert "new: Read-only file system" in ran.output
    assert {"usr", "etc", "/usr/bin/env"} <= set(lines)


async def test_a_home_directory_that_is_the_work_dir_stays_complete(bounded_env: BoundedEnv) -> None:
    home = bounded_env.work
    (home / "file").write_text("mine\n")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_rsa").write_text("secret\n")
    policy = restrict_reads(
        build_policy(
            work_dir=home,
            additional_dirs=(),
            writable=(),
            readable=(),
            hidden=(),
            home=home,
            temp=bounded_env.temp,
            network=False,
            environment=(),
            secrets=frozenset(),
        ),
        home=home,
        program_path="/usr/bin",
    )
    ran = await bounded_env.run("cat file; ls -A .ssh; echo x > new && cat new", policy=policy)
    assert ran.output == "mine\nx\n"


def test_programs_outside_of_the_system_stay_readable(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("tools/1.0/bin", "plain", "home/.local/bin", "home/own/sbin"):
        (tmp_path / name).mkdir(parents=True)
    policy = build_policy(
        work_dir=tmp_path / "work",
        additional_dirs=(),
        writable=(),
        readable=(),
        hidden=(),
        home=home,
        temp=tmp_path,
        network=False,
        environment=(),
        secrets=frozenset(),
    )
    path = ":".join(
        [
            f"{tmp_path}/tools/1.0/bin",
            f"{tmp_path}/plain",
            f"{home}/.local/bin",
            f"{home}/own/sbin",
            "",
            str(home),
            ".",
        ]
    )
    access = restrict_reads(policy, home=home, program_path=path).access
    readable = {
        str(each.relative_to(tmp_path))
        for each, rule in access.items()
        if rule == "read" and each.is_relative_to(tmp_path)
    }
    assert readable == {"tools/1.0", "plain", "home/.local/bin", "home/own"}
    assert access[home] == "hidden"
