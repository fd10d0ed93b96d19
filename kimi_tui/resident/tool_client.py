"""The one client of a session whose tools and hooks the agent uses."""

from kimi_tui.resident.reply_recipients import ReplyReceiver
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import ExcludeTools, RegisterTools, SubscribeHooks
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import HookRequest, HookResponse, ToolCallRequest, ToolCallResponse

ProviderCommand = RegisterTools | ExcludeTools | SubscribeHooks


class ToolClient:
    """Tracks which client provides tools and hooks, and the requests sent to it.

    The first client that registers any is the provider until it leaves. Then its tools and hooks are removed.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._client: ReplyReceiver | None = None
        self._commands: set[type[ProviderCommand]] = set()
        """Kinds of commands whose effect ends with the provider."""
        self._requests: dict[str, ToolCallRequest | HookRequest] = {}

    def accepts(self, client: ReplyReceiver, command: ProviderCommand) -> bool:
        """Make `client` the provider, if there is no other. Return whether the engine gets its command."""
        if self._client is None and not _is_empty(command):
            self._client = client
        if self._client is not client:
            return self._client is None
        self._commands.add(type(command))
        return True

    def recipients_of(self, request: Outgoing) -> frozenset[ReplyReceiver]:
        """Return who gets a call of a tool or hook: the provider."""
        if not isinstance(request, ToolCallRequest | HookRequest) or self._client is None:
            return frozenset()
        self._requests[request.id] = request
        return frozenset({self._client})

    def forget(self, request_id: str) -> None:
        """Forget a request that was answered or closed."""
        self._requests.pop(request_id, None)

    def release(self, client: ReplyReceiver) -> None:
        """Remove the tools and hooks of a client that has left, and end its calls."""
        if client is not self._client:
            return
        self._client = None
        for request in self._requests.values():
            self._wire.answer(_answer_without_client(request))
        self._requests.clear()
        for kind in self._commands:
            self._wire.command(kind(()))
        self._commands.clear()


def _is_empty(command: ProviderCommand) -> bool:
    """Return whether a command registers nothing."""
    match command:
        case RegisterTools(tools=items) | ExcludeTools(names=items) | SubscribeHooks(hooks=items):
            return not items


def _answer_without_client(request: ToolCallRequest | HookRequest) -> ToolCallResponse | HookResponse:
    if isinstance(request, HookRequest):
        return HookResponse(request.id)
    result = ToolReturn(is_error=True, message="The client that runs this tool has disconnected.")
    return ToolCallResponse(request.id, result)
