"""Worker processes for data from the web, which can be killed at any time.

Neither a page that is slow to convert nor a hanging native library blocks the session.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.message_text import msg


class WorkerFailed(Exception):
    """Raised if a worker fails. The message is the last line of its errors."""


async def run_worker(module: str, request: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
    """Send `request` to `python -m module` as a JSON object and return the JSON object it prints.

    Raises TimeoutError if it takes longer than `timeout_s`, WorkerFailed if it fails. It is killed if it is
    late or canceled.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module),
        env=helper_environment(),
        cwd=sys.prefix,  # it must not import modules of the working directory
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(timeout_s):
            output, errors = await process.communicate(json.dumps(request).encode())
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()
    if process.returncode:
        last_line = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise WorkerFailed(last_line[:200] or msg("exit code {code}", code=process.returncode))
    response: dict[str, Any] = json.loads(output)
    return response
