"""Fixtures that start the real program and connect clients to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.wireserver.client import WireTestClient


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def connect(program: Program) -> Iterator[Callable[..., WireTestClient]]:
    """Function that starts the program and connects a client to it."""
    clients: list[WireTestClient] = []

    def start(*arguments: str, **options: Any) -> WireTestClient:
        clients.append(WireTestClient(program, *arguments, **options))
        return clients[-1]

    yield start
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def connect_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireTestClient]:
    """Client of a server that many tests share. None of them starts a turn."""
    program = Program(tmp_path_factory.mktemp("shared"))
    program.script("text: unused")
    client = WireTestClient(program)
    yield client
    client.close()
