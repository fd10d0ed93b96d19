"""Command palette: all commands by topic, or the commands that match the typed text."""

from collections.abc import Sequence

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.choice_list import Choice


class CommandPalette(Picker):
    """Returns the name of a command, or None if the user closed the dialog."""

    def __init__(self, registry: CommandRegistry, *, key_labels: KeyLabels) -> None:
        super().__init__(tr("Commands"), (), key_labels=key_labels)
        self._registry = registry

    def _find(self, query: str) -> Sequence[Choice]:
        return self._registry.commands(query)
