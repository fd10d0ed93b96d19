"""Programs of ours that work on what the web sent: each a process, so that it can be ended at any moment.

Neither a page that is slow to take apart nor a native library that hangs holds the session up.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kimi_tui.base.child_environment import helper_environment


class ChildFailed(Exception):
    """A program of ours gave up; the text is its last line."""


async def run_child(module: str, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
    """What `python -m module` answers to `request`: a JSON object to its input, one from its output.

    Raises TimeoutError when it takes longer, ChildFailed when it fails. Cancelled or late, it is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module),
        env=helper_environment(),
        cwd=sys.prefix,  # the modules of the work dir are none of its business
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(seconds):
            output, errors = await process.communicate(json.dumps(request).encode())
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()
    if process.returncode:
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ChildFailed(last[:200] or f"exit code {process.returncode}")
    answer: dict[str, Any] = json.loads(output)
    return answer
