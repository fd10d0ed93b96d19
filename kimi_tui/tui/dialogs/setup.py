"""Connecting a model: what there is is chosen, its key pasted, and both are tried before anything is kept."""

from typing import Unpack, assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from kimi_tui.base.identity import new_id
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.base.value import value
from kimi_tui.language.saying import retell, say, say_many
from kimi_tui.tui.buttons import ActionButton
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.dialogs.following import Followed, FollowingDialog
from kimi_tui.tui.key_tables import SETUP_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.setup import (
    ConnectModel,
    LocalModel,
    LocalServer,
    LookForModels,
    ModelConnected,
    ModelService,
    ModelSources,
)

_TITLES = {"kimi": "Kimi (Moonshot AI)", "openai": "OpenAI", "anthropic": "Anthropic (Claude)"}


@value
class OwnServer:
    """A server that the user knows of."""


Source = ModelService | LocalServer | OwnServer


class SetupDialog(FollowingDialog[str | None]):
    """Answers with what was connected, in a sentence; None when nothing was.

    The key stands in a field that shows dots, and goes from there to the engine only.
    """

    BINDINGS = bindings(SETUP_KEYS)
    AUTO_FOCUS = None

    choices = getters.query_one(Choices)
    told = getters.query_one("#setup-told", Static)
    title_line = getters.query_one("#setup-title", Static)
    form = getters.query_one("#setup-form", Vertical)
    key_field = getters.query_one("#setup-key", Input)
    address_field = getters.query_one("#setup-address", Input)
    model_field = getters.query_one("#setup-model", Input)

    def __init__(self, **followed: Unpack[Followed]) -> None:
        super().__init__(**followed)
        self._known = self._state().replies.model_sources
        self._connected = self._state().replies.model_connected
        self._source: Source | None = None
        self._attempt = ""
        """The id of the attempt that is awaited."""

    def compose(self) -> ComposeResult:
        """Title, list, the fields of what was chosen, what was told, the buttons."""
        with Vertical(id="setup", classes="dialog"):
            yield Static(id="setup-title", classes="dialog-title", markup=False)
            with Vertical(id="setup-form"):
                yield from self._row("setup-address", say("address"))
                yield from self._row("setup-key", say("key"), secret=True)
                yield from self._row("setup-model", say("model"))
            yield Choices()
            yield Static(id="setup-told", markup=False)
            with Horizontal(id="setup-buttons"):
                name = self._names.first
                yield ActionButton(name("setup.take"), say("choose it"), "take", id="setup-take")
                yield ActionButton(name("setup.take"), say("try it and connect"), "try_it", id="setup-try")
                yield ActionButton(name("setup.back"), say("back"), "back")

    def _row(self, id_: str, label: str, *, secret: bool = False) -> ComposeResult:
        field = Input(id=id_, password=secret)
        field.cursor_blink = False
        with Horizontal(classes="setup-row", id=f"{id_}-row"):
            yield Static(label, classes="setup-label", markup=False)
            yield field

    def on_mount(self) -> None:
        """Ask what there is, and follow what comes."""
        self.watch(self._owner, "state", self._follow, init=False)
        self._list_sources()
        self._command(LookForModels())

    # from the engine

    def _follow(self, state: ScreenState) -> None:
        if state.replies.model_sources is not self._known:
            self._known = state.replies.model_sources
            if self._source is None:
                self._list_sources()
        if state.replies.model_connected is not self._connected:
            self._connected = state.replies.model_connected
            if self._connected is not None and self._connected.id == self._attempt:
                self._attempt = ""
                self._learn(self._connected)

    def _learn(self, result: ModelConnected) -> None:
        words = " ".join(retell(plain_line(it)) for it in (result.what, result.hint) if it)
        if result.model:
            self.dismiss(words)
            return
        self._tell(words, failed=True)
        if result.choices:
            self.model_field.value = ""
            self.choices.show([Choice(value=name, label=name) for name in result.choices])
            self.set_focus(self.model_field)
        else:
            self.set_focus(self.address_field if isinstance(self._source, OwnServer) else self.key_field)

    # the list of what there is

    def _list_sources(self) -> None:
        self._source = None
        self.set_focus(None)
        self._show_form(shown=False)
        self.title_line.update(say("Connect a model"))
        known = self._known or ModelSources(looking=True)
        lines = [
            *(self._service_line(service) for service in known.services),
            *(self._server_line(index, server) for index, server in enumerate(known.servers)),
            Choice(
                value="own",
                label=say("Another server"),
                detail=say("one that speaks OpenAI's API: vLLM, LM Studio, a gateway …"),
            ),
            Choice(value="nothing", label=self._as_it_is()),
        ]
        marked = self.choices.marked if len(self.choices.choices) else 0
        self.choices.show(lines)
        self.choices.marked = min(marked, len(lines) - 1)
        self._tell(say("Looking for servers on this machine …") if known.looking else "")

    def _as_it_is(self) -> str:
        return say("Go on with the demo") if self._state().is_demo else say("Leave it as it is")

    def _service_line(self, service: ModelService) -> Choice:
        match service.key:
            case "":
                detail = say("with an API key")
            case "stored":
                detail = say("a key is stored")
            case "environment":
                detail = say("{variable} is set", variable=service.key_variable)
            case _:
                assert_never(service.key)
        return Choice(
            value=f"service:{service.name}", label=_TITLES.get(service.name, service.name), detail=detail
        )

    def _server_line(self, index: int, server: LocalServer) -> Choice:
        count = len(server.models)
        detail = say_many(
            "{count} model on this machine, {url}",
            "{count} models on this machine, {url}",
            count,
            url=server.base_url,
        )
        return Choice(value=f"server:{index}", label=server.name, detail=detail)

    # the form

    def _open(self, source: Source) -> None:
        self._source = source
        self._show_form(shown=True)
        self._tell("")
        for field in (self.key_field, self.address_field, self.model_field):
            field.value = field.placeholder = ""
        match source:
            case ModelService():
                self._open_service(source)
            case LocalServer():
                self._open_server(source)
            case OwnServer():
                self._open_own()
            case _:
                assert_never(source)

    def _show_form(self, *, shown: bool) -> None:
        # At once, not when styles are worked out next: what is hidden can't take the keys that follow.
        self.form.display = shown
        self.set_class(shown, "-form")

    def _show_rows(self, *, address: bool, key: bool) -> None:
        self.query_one("#setup-address-row").display = address
        self.query_one("#setup-key-row").display = key

    def _open_service(self, service: ModelService) -> None:
        self.title_line.update(_TITLES.get(service.name, plain_line(service.name)))
        self._show_rows(address=True, key=True)
        self.address_field.value = service.base_url
        self.model_field.value = service.model
        self.choices.show(())
        if service.key == "stored":
            self.key_field.placeholder = say("empty: the one that is stored")
        elif service.key == "environment":
            self.key_field.placeholder = say("empty: the one in {variable}", variable=service.key_variable)
        else:
            self.key_field.placeholder = say("paste it here; it is not shown")
        self.set_focus(self.key_field)  # at once: keys may follow

    def _open_server(self, server: LocalServer) -> None:
        self.title_line.update(f"{plain_line(server.name)}   {plain_line(server.base_url)}")
        self._show_rows(address=False, key=False)
        self.model_field.placeholder = say("type a name, or choose below")
        self.choices.show([_model_line(model) for model in server.models])
        self.set_focus(self.model_field)  # at once: keys may follow

    def _open_own(self) -> None:
        self.title_line.update(say("Another server"))
        self._show_rows(address=True, key=True)
        self.address_field.placeholder = "http://localhost:8000/v1"
        self.key_field.placeholder = say("empty if it needs none")
        self.model_field.placeholder = say("empty: the server is asked")
        self.choices.show(())
        self.set_focus(self.address_field)  # at once: keys may follow

    def _try(self, source: Source) -> None:
        if self._attempt:
            return
        chosen = self.choices.choice
        model = self.model_field.value.strip() or (chosen.value if chosen is not None else "")
        key, address = self.key_field.value.strip(), self.address_field.value.strip()
        self._attempt = new_id()
        match source:
            case ModelService():
                wanted = ConnectModel(self._attempt, source.name, model, key, address)
            case LocalServer():
                size = next((it.max_context_size for it in source.models if it.name == model), None)
                wanted = ConnectModel(
                    self._attempt, source.name, model, base_url=source.base_url, max_context_size=size or 0
                )
            case OwnServer():
                wanted = ConnectModel(self._attempt, "", model, key, address)
            case _:
                assert_never(source)
        self._tell(say("Trying {model} …", model=model) if model else say("Asking the server …"))
        self._command(wanted)

    def _tell(self, words: str, *, failed: bool = False) -> None:
        self.told.update(plain(words))
        self.told.set_class(failed, "-failed")

    # keys and mouse

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_try_it()

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        if self._source is None:
            self.action_take()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the form, enter is for the field: it comes after what was typed, however fast that came."""
        return self._source is None if action == "take" else super().check_action(action, parameters)

    def action_try_it(self) -> None:
        """Try what the form says, and connect it."""
        if self._source is not None:
            self._try(self._source)

    def action_take(self) -> None:
        """Open what is marked."""
        known, chosen = self._known, self.choices.choice
        if chosen is None:
            return
        kind, _, name = chosen.value.partition(":")
        if kind == "service" and known is not None:
            self._open(next(it for it in known.services if it.name == name))
        elif kind == "server" and known is not None:
            self._open(known.servers[int(name)])
        elif kind == "own":
            self._open(OwnServer())
        else:
            self.dismiss(None)

    def action_move(self, lines: int) -> None:
        """Move the mark."""
        self.choices.move(lines)

    def action_back(self) -> None:
        """From the form to the list; from the list back to work."""
        if self._source is None:
            self.dismiss(None)
        else:
            self._attempt = ""
            self._list_sources()


def _model_line(model: LocalModel) -> Choice:
    size = model.max_context_size
    detail = say("{count} tokens", count=f"{size:,}") if size else ""
    return Choice(value=model.name, label=model.name, detail=detail)
