"""Model setup dialog: choose a source, enter an API key, and test both before anything is saved."""

from collections.abc import Sequence
from typing import Unpack, assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_id
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import join_sentences, tr, tr_n, translate_message
from kimi_tui.tui.dialogs.filter_dialog import filter_choices
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import SETUP_KEYS
from kimi_tui.tui.widgets.action_button import ActionButton
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.wire.model_setup import (
    CancelConnection,
    ConnectModel,
    FindModels,
    LocalModel,
    LocalServer,
    ModelConnected,
    ModelService,
    ModelSources,
)

_TITLES = {"kimi": "Kimi (Moonshot AI)", "openai": "OpenAI", "anthropic": "Anthropic (Claude)"}


@frozen
class CustomServer:
    """A server whose address the user enters."""


ModelSource = ModelService | LocalServer | CustomServer


class ModelSetupDialog(StateBoundDialog[str | None]):
    """Returns a message about the connected model, or None if the user canceled.

    The API key is entered in a password field and is sent only to the engine.
    """

    BINDINGS = bindings(SETUP_KEYS)
    AUTO_FOCUS = None

    choices = getters.query_one(ChoiceList)
    status_line = getters.query_one("#setup-status", Static)
    title_line = getters.query_one("#setup-title", Static)
    form = getters.query_one("#setup-form", Vertical)
    key_field = getters.query_one("#setup-key", Input)
    address_field = getters.query_one("#setup-address", Input)
    model_field = getters.query_one("#setup-model", Input)

    def __init__(self, *, service: str = "", **source: Unpack[StateSource]) -> None:
        """`service` is the name of the service whose form opens."""
        super().__init__(**source)
        self._service = service
        self._model_sources = self._host.state.replies.model_sources
        self._last_result = self._host.state.replies.model_connected
        self._selected_source: ModelSource | None = None
        self._models: tuple[Choice, ...] = ()
        """All models in the form's list."""
        self._attempt_id = ""
        """The id of the connection attempt whose result is pending."""

    def compose(self) -> ComposeResult:
        """Yield the title, the form, the list, the status line and the buttons."""
        with Vertical(id="setup", classes="dialog"):
            yield Static(id="setup-title", classes="dialog-title", markup=False)
            with Vertical(id="setup-form"):
                yield from self._field_row("setup-address", tr("URL"))
                yield from self._field_row("setup-key", tr("API key"), secret=True)
                yield from self._field_row("setup-model", tr("model"))
            yield ChoiceList()
            yield Static(id="setup-status", markup=False)
            with Horizontal(id="setup-buttons"):
                first = self._key_labels.first_key
                yield ActionButton(first("setup.take"), tr("select"), "take", id="setup-take")
                yield ActionButton(first("setup.take"), tr("test and connect"), "try_it", id="setup-try")
                yield ActionButton(first("setup.back"), tr("back"), "back")

    def _field_row(self, id_: str, label: str, *, secret: bool = False) -> ComposeResult:
        field = Input(id=id_, password=secret)
        field.cursor_blink = False
        with Horizontal(classes="setup-row", id=f"{id_}-row"):
            yield Static(label, classes="setup-label", markup=False)
            yield field

    def on_mount(self) -> None:
        """Request the available sources and watch for the engine's replies."""
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self._list_sources()
        self._open_requested_service()
        self._host.command(FindModels())

    # from the engine

    def _update_from_state(self, state: SessionViewState) -> None:
        if state.replies.model_sources is not self._model_sources:
            self._model_sources = state.replies.model_sources
            if self._selected_source is None:
                self._list_sources()
                self._open_requested_service()
        if state.replies.model_connected is not self._last_result:
            self._last_result = state.replies.model_connected
            if self._last_result is not None and self._last_result.id == self._attempt_id:
                self._attempt_id = ""
                self._handle_result(self._last_result)

    def _handle_result(self, result: ModelConnected) -> None:
        message = join_sentences(*(sanitize_line(translate_message(it)) for it in (result.what, result.hint)))
        if result.model:
            self.dismiss(message)
            return
        self._show_message(message, failed=True)
        if result.choices:
            self.model_field.value = ""
            self._show_models([Choice(value=name, label=name) for name in result.choices])
            self.set_focus(self.model_field)
        else:
            no_key = isinstance(self._selected_source, CustomServer) and not self.key_field.value
            self.set_focus(self.address_field if no_key else self.key_field)

    # the list of sources

    def _list_sources(self) -> None:
        self._selected_source = None
        self._models = ()
        self.set_focus(None)
        self._show_form(shown=False)
        self.title_line.update(tr("Connect a model"))
        sources = self._model_sources or ModelSources(looking=True)
        choices = [
            *(self._service_choice(service) for service in sources.services),
            *(self._server_choice(index, server) for index, server in enumerate(sources.servers)),
            Choice(
                value="custom",
                label=tr("Other server"),
                detail=tr("OpenAI-compatible: vLLM, LM Studio, a gateway …"),
            ),
            Choice(value="skip", label=self._skip_label()),
        ]
        highlighted = self.choices.highlighted if len(self.choices.choices) else 0
        self.choices.show(choices)
        self.choices.highlighted = min(highlighted, len(choices) - 1)
        self._show_message(tr("Searching for local servers …") if sources.looking else "")

    def _open_requested_service(self) -> None:
        services = self._model_sources.services if self._model_sources is not None else ()
        service = next((it for it in services if it.name == self._service), None)
        if service is not None:
            self._service = ""
            self._open(service)

    def _skip_label(self) -> str:
        return tr("Continue with the demo") if self._host.state.is_demo else tr("Cancel")

    def _service_choice(self, service: ModelService) -> Choice:
        match service.key:
            case "":
                detail = tr("requires an API key")
            case "stored":
                detail = tr("API key stored")
            case "environment":
                detail = tr("{variable} is set", variable=service.key_variable)
            case _:
                assert_never(service.key)
        return Choice(value=f"service:{service.name}", label=_title(service), detail=detail)

    def _server_choice(self, index: int, server: LocalServer) -> Choice:
        count = len(server.models)
        detail = tr_n(
            "{count} local model, {url}",
            "{count} local models, {url}",
            count,
            url=server.base_url,
        )
        return Choice(value=f"server:{index}", label=server.name, detail=detail)

    # the form

    def _open(self, source: ModelSource) -> None:
        self._selected_source = source
        self._show_form(shown=True)
        self._show_message("")
        for field in (self.key_field, self.address_field, self.model_field):
            field.value = field.placeholder = ""
        match source:
            case ModelService():
                self._open_service(source)
            case LocalServer():
                self._open_server(source)
            case CustomServer():
                self._open_custom_server()
            case _:
                assert_never(source)

    def _show_form(self, *, shown: bool) -> None:
        # CSS would be applied too late: a field that is still hidden can't receive the next keys.
        self.form.display = shown
        self.set_class(shown, "-form")

    def _show_rows(self, *, address: bool, key: bool) -> None:
        self.query_one("#setup-address-row").display = address
        self.query_one("#setup-key-row").display = key

    def _open_service(self, service: ModelService) -> None:
        self.title_line.update(_title(service))
        self._show_rows(address=True, key=True)
        self.address_field.value = service.base_url
        self.model_field.value = service.model
        if not service.model:
            self.model_field.placeholder = tr("leave empty to list the server's models")
        self._show_models(())
        if service.key == "stored":
            self.key_field.placeholder = tr("leave empty to use the stored key")
        elif service.key == "environment":
            self.key_field.placeholder = tr("leave empty to use {variable}", variable=service.key_variable)
        else:
            self.key_field.placeholder = tr("paste your key (not shown)")
        self.set_focus(self.key_field)

    def _open_server(self, server: LocalServer) -> None:
        self.title_line.update(f"{sanitize_line(server.name)}   {sanitize_line(server.base_url)}")
        self._show_rows(address=False, key=False)
        self.model_field.placeholder = tr("type a name or choose one below")
        self._show_models([_model_choice(model) for model in server.models])
        self.set_focus(self.model_field)

    def _open_custom_server(self) -> None:
        self.title_line.update(tr("Other server"))
        self._show_rows(address=True, key=True)
        self.address_field.placeholder = "http://localhost:8000/v1"
        self.key_field.placeholder = tr("leave empty if not required")
        self.model_field.placeholder = tr("leave empty to list the server's models")
        self._show_models(())
        self.set_focus(self.address_field)

    def _try(self, source: ModelSource) -> None:
        if self._attempt_id:
            return
        model = self._model_name()
        key, address = self.key_field.value.strip(), self.address_field.value.strip()
        self._attempt_id = new_id()
        match source:
            case ModelService():
                command = ConnectModel(self._attempt_id, source.name, model, key, address)
            case LocalServer():
                size = next((it.max_context_size for it in source.models if it.name == model), None)
                command = ConnectModel(
                    self._attempt_id, source.name, model, base_url=source.base_url, max_context_size=size or 0
                )
            case CustomServer():
                command = ConnectModel(self._attempt_id, "", model, key, address)
            case _:
                assert_never(source)
        self._show_message(tr("Testing {model} …", model=model) if model else tr("Listing models …"))
        self._host.command(command)

    def _show_models(self, models: Sequence[Choice]) -> None:
        self._models = tuple(models)
        self.choices.show(self._models)

    def _model_name(self) -> str:
        """Return the typed name, or the highlighted model if models match the typed text."""
        typed, choice = self.model_field.value.strip(), self.choices.choice
        if choice is None or any(it.value == typed for it in self._models):
            return typed
        return choice.value

    @on(Input.Changed, "#setup-model")
    def _filter_models(self, event: Input.Changed) -> None:
        event.stop()
        if self._models:
            self.choices.show(filter_choices(self._models, event.value.strip()))

    def _show_message(self, text: str, *, failed: bool = False) -> None:
        self.status_line.update(sanitize(text))
        self.status_line.set_class(failed, "-failed")

    # keys and mouse

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_try_it()

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        if self._selected_source is None:
            self.action_take()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the input field handle enter in the form, so that it is handled after the keys typed before
        it.
        """
        return self._selected_source is None if action == "take" else super().check_action(action, parameters)

    def action_try_it(self) -> None:
        """Test the entered values and connect the model."""
        if self._selected_source is not None:
            self._try(self._selected_source)

    def action_take(self) -> None:
        """Open the highlighted source."""
        sources, choice = self._model_sources, self.choices.choice
        if choice is None:
            return
        kind, _, name = choice.value.partition(":")
        if kind == "service" and sources is not None:
            self._open(next(it for it in sources.services if it.name == name))
        elif kind == "server" and sources is not None:
            self._open(sources.servers[int(name)])
        elif kind == "custom":
            self._open(CustomServer())
        else:
            self.dismiss(None)

    def action_move(self, lines: int) -> None:
        """Move the highlight."""
        self.choices.move(lines)

    def action_back(self) -> None:
        """Return from the form to the list, or close the dialog."""
        if self._selected_source is None:
            self.dismiss(None)
        else:
            if self._attempt_id:
                self._host.command(CancelConnection(self._attempt_id))
            self._attempt_id = ""
            self._list_sources()


def _title(service: ModelService) -> str:
    return _TITLES.get(service.name) or sanitize_line(service.title or service.name)


def _model_choice(model: LocalModel) -> Choice:
    size = model.max_context_size
    detail = tr("{count} tokens", count=f"{size:,}") if size else ""
    return Choice(value=model.name, label=model.name, detail=detail)
