"""The parts of the screen that are loaded after the first frame: session view, commands and dialogs."""

import os

from kimi_tui.base.assets import asset_path
from kimi_tui.frontend.command_usage import CommandUsage
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.tui.approvals.request_panel import KeyboardConfig
from kimi_tui.tui.commands.command_host import PaneName
from kimi_tui.tui.commands.command_runner import CommandRunner
from kimi_tui.tui.commands.command_search import CommandSearch
from kimi_tui.tui.commands.modes import cycle_mode
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.commands.screen_commands import SCREEN_COMMANDS, add_theme_names
from kimi_tui.tui.commands.screen_host import ScreenCommandHost
from kimi_tui.tui.commands.usage_recorder import UsageRecorder
from kimi_tui.tui.dialogs.fork_prompt import ask_after_fork
from kimi_tui.tui.images.renderer import ImageRenderer, detect_protocol, set_image_renderer
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.prompt_actions import PromptActions
from kimi_tui.tui.screen.prompt_restore import PromptRestorer
from kimi_tui.tui.screen.session_screen import SessionScreen
from kimi_tui.tui.screen.session_view import SessionView
from kimi_tui.tui.screen.typing_activity import TypingActivity
from kimi_tui.tui.terminal.output import SequenceSender
from kimi_tui.wire.argument_completion import ArgumentChoices
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.message_search import MessageMatches
from kimi_tui.wire.timeline import Reverted, SessionForked

_STYLES = ("transcript", "approvals", "panes", "dialogs")


class ScreenControllers:
    """Controllers of a complete screen. The screen mounts `session_view`."""

    def __init__(
        self,
        *,
        screen: SessionScreen,
        wire: Wire,
        session: SessionController,
        prompt: PromptBox,
        typing: TypingActivity,
        options: TuiOptions,
        key_labels: KeyLabels,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        set_image_renderer(
            ImageRenderer(
                detect_protocol(options.images),
                terminal=SequenceSender(screen.app),
                in_tmux="TMUX" in os.environ,
            )
        )
        usage = CommandUsage(options.data_dir)
        recorder = UsageRecorder(usage, node=screen.app, wall_clock=options.wall_clock)
        recorder.load()
        self.registry = CommandRegistry(
            add_theme_names(SCREEN_COMMANDS, options.data_dir),
            session=session,
            search=CommandSearch(usage, wall_clock=options.wall_clock),
            key_labels=key_labels,
        )
        self.host = ScreenCommandHost(
            screen,
            wire=wire,
            session=session,
            prompt=prompt,
            registry=self.registry,
            options=options,
            key_labels=key_labels,
        )
        self.commands = CommandRunner(host=self.host, registry=self.registry, usage=recorder)
        self.prompt_actions = PromptActions(
            prompt, host=self.host, clipboard=options.clipboard, key_labels=key_labels
        )
        self._prompt_restorer = PromptRestorer(prompt, host=self.host)
        self.session_view = SessionView(
            host=self.host,
            session=session,
            typing=typing,
            keyboard=KeyboardConfig(
                key_labels=key_labels,
                clock=options.clock,
                letter_pause_s=options.letter_pause_s,
                prompt=prompt,
            ),
            thinking=options.thinking,
        )

    def load_styles(self) -> None:
        """Add the styles of these parts to the app's style sheet."""
        sheet = self._screen.app.stylesheet
        sheet.read_all([asset_path("styles", f"{name}.tcss") for name in _STYLES])
        sheet.parse()

    def show(self, batch: MessageBatch) -> None:
        """Show new messages. The timeline drops messages for its dialogs from the conversation."""
        if self.host.has_timeline:
            self.host.timeline.consume(batch)
        self.session_view.show(batch)
        if batch.has_any(ArgumentChoices, MessageMatches):
            self._prompt.completions.refresh_list()
        for fork in batch.of_type(SessionForked):
            self._screen.run_worker(self._offer_fork(fork), group="fork")
        for reverted in batch.of_type(Reverted):
            self._prompt_restorer.handle_revert(reverted)

    async def _offer_fork(self, fork: SessionForked) -> None:
        await ask_after_fork(fork, self.host)

    async def toggle_pane(self, name: PaneName) -> None:
        """Show and focus a pane, or hide it. The focus has moved when the method returns."""
        if name == "timeline":
            await self.host.timeline.toggle()
        else:
            self.session_view.toggle_pane(name)

    def close_front_layer(self) -> None:
        """Close the layer that escape closes before it interrupts."""
        if self.session_view.front_layer == "timeline":
            self.host.timeline.close()
        else:
            self.session_view.close_front_layer()

    def cycle_mode(self) -> None:
        """Switch to the next permission mode: ask, accept edits, plan."""
        cycle_mode(self.host)

    def clear_images(self) -> None:
        """Delete the conversation's images from the terminal."""
        set_image_renderer(ImageRenderer())
