"""Pasting what the clipboard holds, where the terminal itself pastes nothing."""

from collections.abc import Callable

from kimi_tui.language.saying import say
from kimi_tui.tui.clipboard import Clipboard
from kimi_tui.tui.images.reading import photo_of
from kimi_tui.tui.prompt.prompt import Prompt


async def paste(clipboard: Clipboard, prompt: Prompt, *, warn: Callable[[str], None]) -> None:
    """Put the clipboard's picture or text into the prompt; `warn` when it gives neither."""
    if picture := await clipboard.paste_picture():
        await prompt.attachments.attach(lambda: photo_of(picture, name=say("What the clipboard holds")))
    elif text := await clipboard.paste():
        prompt.editor.insert_pasted(text)
    else:
        warn(
            say(
                "The clipboard holds neither text nor a picture, or can't be read here. Paste with the"
                " terminal's own key; /image PATH attaches a picture."
            )
        )
