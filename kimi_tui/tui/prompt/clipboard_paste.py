"""Pasting from the system clipboard, for content that the terminal can't paste."""

from collections.abc import Callable

from kimi_tui.frontend.clipboard import Clipboard
from kimi_tui.frontend.image_loader import load_image
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.prompt.prompt import PromptBox


async def paste_clipboard(clipboard: Clipboard, prompt: PromptBox, *, warn: Callable[[str], None]) -> None:
    """Paste the clipboard's image or text into the prompt. Call `warn` if it contains neither."""
    if image := await clipboard.paste_image():
        await prompt.attachments.attach(lambda: load_image(image, name=tr("The clipboard's image")))
    elif text := await clipboard.paste():
        prompt.editor.insert_pasted(text)
    else:
        warn(
            tr(
                "The clipboard is empty or can't be read. Paste with your terminal's own key, or attach an"
                " image with /image PATH."
            )
        )
