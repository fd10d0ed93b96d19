"""One MCP server of a session: connected, lost, connected again."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from kimi_tui.base.completion import carry_out
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.secrets import keep_hidden, secrets_in
from kimi_tui.base.value import value
from kimi_tui.tools.mcp.answer import McpAnswer
from kimi_tui.tools.mcp.in_flight import InFlight
from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.listener import Elicitation, Elicited, Sampled, Sampling
from kimi_tui.tools.mcp.offer import Offer
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server_config import RemoteServer, ServerConfig
from kimi_tui.tools.mcp.server_log import ServerLog
from kimi_tui.tools.mcp.token_file import TokenFile, token_path
from kimi_tui.tools.tool import RunningCall

if TYPE_CHECKING:
    from kimi_tui.tools.mcp.connection import Connection, OnProgress

logger = logging.getLogger(__name__)

T = TypeVar("T")

State = Literal["pending", "connecting", "connected", "failed", "unauthorized"]

PAUSES_S = (1.0, 3.0, 10.0, 30.0, 60.0)
"""Between attempts; after the last one it is left alone until it is asked for."""
_CALM_S = 0.2
"""At least between two looks at an offer that keeps changing."""


async def prepare() -> None:
    """Import what connections are made with: slow, 1.4 s of CPU, and so in a thread."""
    await asyncio.to_thread(import_module, "kimi_tui.tools.mcp.connection")


class Asking(Protocol):
    """Whoever answers what servers ask during a call."""

    async def elicit(self, server: str, call: RunningCall, wanted: Elicitation) -> Elicited:
        """Ask the user."""
        ...

    async def sample(self, server: str, call: RunningCall, wanted: Sampling) -> Sampled:
        """Ask the model, when the user allows it. Raises KimiTuiError."""
        ...


@value(kw_only=True)
class Surroundings:
    """Where servers run, and whom they may ask."""

    work_dir: Path
    share_dir: Path
    asking: Asking
    roots: tuple[Path, ...] = ()
    """The folders that they are told to be the user's concern."""
    pauses_s: Sequence[float] = PAUSES_S
    leash: Leash = field(default_factory=Leash)


class McpServer:
    """A `Listener`. `run` keeps it connected; calls wait for a connection that is being made."""

    def __init__(
        self, config: ServerConfig, surroundings: Surroundings, *, changed: Callable[[], None]
    ) -> None:
        self.config = config
        keep_hidden(secrets_in(config.named))
        self.state: State = "pending"
        self.offer = Offer()
        """Empty until it was connected once; kept while it is connected again."""
        self.problem: McpProblem | None = None
        """Why it is not connected."""
        self.settled = asyncio.Event()
        """Set once the first attempt has succeeded or failed."""
        self._surroundings = surroundings
        self._changed = changed
        self._connection: Connection | None = None
        self._ready = asyncio.Event()
        """Set whenever no attempt is under way."""
        self._stir = asyncio.Event()
        self._lost: McpProblem | None = None
        self._is_offer_old = False
        self._is_wanted_anew = False
        self._in_flight: list[InFlight] = []

    @property
    def name(self) -> str:
        """Its name in the config."""
        return self.config.name

    async def run(self) -> None:
        """Connect, and again after each loss, until cancelled."""
        failures = 0
        try:
            while True:
                began, was_up = time.monotonic(), False
                try:
                    await self._connect()
                    was_up = True
                    await self._stay()
                    self._lost = self._lost or McpProblem("It is connected anew.")
                    raise self._lost
                except McpProblem as problem:
                    held = time.monotonic() - began > max(self._surroundings.pauses_s, default=0)
                    failures = 0 if held and was_up else failures
                    await self._disconnect()
                    await self._pause(self._cause_of(problem), failures)
                    failures = 0 if self._is_wanted_anew else failures + 1
        finally:
            self.settled.set()
            self._ready.set()
            await self._disconnect()

    def reconnect(self) -> None:
        """Connect anew, whatever the state."""
        self._is_wanted_anew = True
        self._stir.set()

    async def call(
        self, name: str, arguments: dict[str, Any], call: RunningCall, *, on_progress: "OnProgress"
    ) -> McpAnswer:
        """Call a tool for `call`. Raises McpProblem."""
        connection = await self._connected()
        in_flight = InFlight(call, silence_s=self.config.patience.silence_s)

        def progressed(progress: float | None, total: float | None, message: str) -> None:
            in_flight.heard()
            on_progress(progress, total, message)

        self._in_flight.append(in_flight)
        try:
            async with in_flight.limited():
                work = connection.call(name, arguments, on_progress=progressed, heard=in_flight.heard)
                return await self._unless_lost(work)
        finally:
            self._in_flight.remove(in_flight)

    async def prompt(self, name: str, arguments: dict[str, str]) -> McpAnswer:
        """What a prompt comes to. Raises McpProblem."""
        return await self._unless_lost((await self._connected()).prompt(name, arguments))

    async def values(self, prompt: str, argument: str, text: str, given: dict[str, str]) -> tuple[str, ...]:
        """What an argument of a prompt may be that begins with `text`. Raises McpProblem."""
        connection = await self._connected()
        return await self._unless_lost(connection.values(prompt, argument, text, given))

    async def resource(self, uri: str) -> McpAnswer:
        """What a resource holds. Raises McpProblem."""
        return await self._unless_lost((await self._connected()).resource(uri))

    # as a Listener

    def lost(self, problem: McpProblem) -> None:
        """The server is heard no more."""
        if self._lost is None:
            self._lost = problem
            self._ready.clear()
            self._stir.set()
            if self.state == "connected":
                self._tell("connecting")

    def offer_changed(self) -> None:
        """The server offers something else than before."""
        self._is_offer_old = True
        self._stir.set()

    async def elicit(self, wanted: Elicitation) -> Elicited:
        """Ask the user, on behalf of the last call that the server is at work on; without one, nobody."""
        if not self._in_flight:
            return Elicited("cancel")
        last = self._in_flight[-1]
        asked = await last.ask(self._surroundings.asking.elicit(self.name, last.call, wanted))
        return asked or Elicited("cancel")

    async def sample(self, wanted: Sampling) -> Sampled:
        """Ask the model, on behalf of the last call that the server is at work on. Raises KimiTuiError."""
        if not self._in_flight:
            raise KimiTuiError("The model can be asked during a tool call only.")
        last = self._in_flight[-1]
        sampled = await last.ask(self._surroundings.asking.sample(self.name, last.call, wanted))
        if sampled is None:
            raise KimiTuiError("The call has ended.")
        return sampled

    # connecting

    async def _connect(self) -> None:
        self._ready.clear()
        self._lost, self._is_offer_old, self._is_wanted_anew = None, False, False
        self._tell("connecting")
        tokens = self._tokens()
        if isinstance(self.config, RemoteServer) and self.config.oauth and not (tokens and tokens.has_tokens):
            raise McpProblem(
                "You have not signed in to it.",
                hint=f"Use `kimi-tui mcp auth {self.name}`, or /mcp auth {self.name}.",
                persistence="unauthorized",
            )
        await prepare()
        from kimi_tui.tools.mcp.connection import Connection
        from kimi_tui.tools.mcp.oauth import SignIn

        log = ServerLog(self.name, secrets=self.config.secrets)
        try:
            self._connection = await Connection.open(
                self.config,
                listener=self,
                log=log,
                leash=self._surroundings.leash,
                work_dir=self._surroundings.work_dir,
                roots=self._surroundings.roots,
                sign_in=(
                    SignIn(self.config.url, tokens)
                    if tokens is not None and isinstance(self.config, RemoteServer)
                    else None
                ),
            )
            self.offer = await self._connection.offer()
        except McpProblem as problem:
            raise self._cause_of(problem) from None
        self.problem = None
        self._tell("connected")
        self.settled.set()
        self._ready.set()

    async def _stay(self) -> None:
        """Until the server is lost, or to be connected anew; its offer is kept up to date."""
        while True:
            await self._stir.wait()
            self._stir.clear()
            if self._lost is not None or self._is_wanted_anew:
                return
            if self._is_offer_old and self._connection is not None:
                self._is_offer_old = False
                self.offer = await self._connection.offer()
                self._changed()
                await asyncio.sleep(_CALM_S)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # In a task of its own: fastmcp swallows a cancellation that reaches it here.
            await carry_out(connection.close())

    async def _pause(self, problem: McpProblem, failures: int) -> None:
        """Tell of `problem` and wait: for a while, or until the server is asked for."""
        if self._is_wanted_anew:
            return
        logger.warning("the MCP server %s: %s", self.name, problem)
        pauses = self._surroundings.pauses_s
        again = problem.persistence == "passing" and failures < len(pauses)
        self.problem = problem
        self._stir.clear()
        self._tell("unauthorized" if problem.persistence == "unauthorized" else "failed")
        self.settled.set()
        if not again:
            self._give_up()
        with suppress(TimeoutError):
            async with asyncio.timeout(pauses[failures] if again else None):
                while not self._is_wanted_anew:
                    await self._stir.wait()
                    self._stir.clear()

    def _give_up(self) -> None:
        self.offer = Offer()
        self._ready.set()
        self._changed()

    def _tokens(self) -> TokenFile | None:
        """Where its tokens are kept, when it wants some or has some."""
        if not isinstance(self.config, RemoteServer):
            return None
        tokens = TokenFile(token_path(self._surroundings.share_dir, self.config.url))
        return tokens if self.config.oauth or tokens.has_tokens else None

    def _tell(self, state: State) -> None:
        self.state = state
        self._changed()

    # asking

    async def _connected(self) -> "Connection":
        """The connection, once an attempt under way has ended. Raises McpProblem without one."""
        if self._connection is None or self._lost is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.config.patience.connect_s):
                    await self._ready.wait()
        if self._connection is None or self.state != "connected":
            why = f" {self.problem.what}" if self.problem is not None else ""
            raise McpProblem(
                f"The MCP server {self.name} is not connected.{why}",
                hint="Go on without it; the user can reconnect it with /mcp.",
            )
        return self._connection

    async def _unless_lost(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of `work`. Raises McpProblem; one that breaks the connection has it made again."""
        try:
            return await work
        except McpProblem as problem:
            if problem.breaks:
                self.lost(problem)
            raise self._cause_of(problem) from None

    def _cause_of(self, problem: McpProblem) -> McpProblem:
        """What a process tells of its end says more than that its connection broke."""
        return self._lost if problem.breaks and self._lost is not None else problem
