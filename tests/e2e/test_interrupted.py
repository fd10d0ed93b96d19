"""Interrupting print mode, twice in a row."""

import json
import signal
import time
from pathlib import Path

from tests.e2e.processes import is_alive
from tests.e2e.program import Program, script, tool_call
from tests.e2e.scenarios import pids, wait_for
from tests.timeouts import TEST_TIMEOUT_S

STUBBORN = "trap '' TERM INT; echo $$ > ../pid; while :; do sleep 0.2; done"


def test_interrupting_twice_stops_the_command_and_writes_the_result(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.script(script(tool_call("c1", "Bash", command=STUBBORN)), "text: never said")
    process = program.start("--yolo", "-p", "go", "--output-format", "stream-json")
    wait_for(lambda: pids(program))
    (pid,) = pids(program)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)  # a second press while the command still gets time to exit
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 130
    result = json.loads(stdout.splitlines()[-1])
    assert (result["type"], result["outcome"], result["exit_code"]) == ("result", "interrupted", 130)
    wait_for(lambda: not is_alive(pid))
