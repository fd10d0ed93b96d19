"""The real program, and clients of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.wireserver.client import WireClient


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def connect(program: Program) -> Iterator[Callable[..., WireClient]]:
    """Starts the program and connects with it."""
    clients: list[WireClient] = []

    def connected(*arguments: str, **options: Any) -> WireClient:
        clients.append(WireClient(program, *arguments, **options))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def connect_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireClient]:
    """One server for many lines, none of which makes a turn."""
    program = Program(tmp_path_factory.mktemp("shared"))
    program.script("text: unused")
    client = WireClient(program)
    yield client
    client.close()
