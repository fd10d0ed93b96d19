"""What the program writes is for its user alone, however careless the umask."""

import stat

from tests.e2e.program import Program, script, tool_call


def test_everything_in_the_share_dir_is_private_whatever_the_umask(program: Program) -> None:
    program.script(
        script(
            tool_call("c1", "Bash", command="seq 1 60000; echo changed > file.txt"),
            tool_call("c2", "Bash", command="sleep 300", run_in_background=True),
        ),
        script("text: done"),
    )
    with (program.share_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.share_dir / "config.toml").chmod(0o644)  # as an editor leaves it
    running = program.start("--print", "--yolo", "-p", "go", umask=0)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
    modes = {
        str(path.relative_to(program.share_dir)): stat.S_IMODE(path.lstat().st_mode)
        for path in program.share_dir.rglob("*")
    }
    wide = {name: oct(mode) for name, mode in modes.items() if mode & 0o077}
    assert wide == {}
    written = {name.rpartition("/")[2] for name in modes}
    assert {"context.jsonl", "wire.jsonl", "state.json", "kimi-tui.log", "bash-1.log", "store"} <= written


def test_secrets_of_config_and_environment_stay_out_of_the_log(program: Program) -> None:
    key, token = "unguessable-key-of-the-config", "unguessable-token-of-the-environment"
    program.env = {"MY_TOKEN": token}
    program.configure(
        f"""
        default_model = "m"
        [providers.p]
        type = "openai"
        base_url = "http://127.0.0.1:9/{key}"
        api_key = "{key}"
        [models.m]
        provider = "p"
        model = "x-{token}"
        max_context_size = 1000
        [loop_control]
        max_retries_per_step = 1
        """
    )
    program.run("--print", "-p", "hello", "--debug")
    logged = (program.share_dir / "logs" / "kimi-tui.log").read_text()
    assert logged
    assert key not in logged
    assert token not in logged
