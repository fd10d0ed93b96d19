"""D-Mails: one at a time, to an existing checkpoint."""

from kimi_tui.tools.dmail import DMail, DMailbox, SendDMail, SendDMailParams
from kimi_tui.wire.events import ToolReturn
from tests.tools.call_context import build_context


def build_mailbox(*checkpoints: int) -> DMailbox:
    mailbox = DMailbox()
    mailbox.set_checkpoint_source(lambda: checkpoints)
    return mailbox


async def send(mailbox: DMailbox, checkpoint_id: int, message: str = "look in b.py") -> ToolReturn:
    return await SendDMail(mailbox).run(
        SendDMailParams(message=message, checkpoint_id=checkpoint_id), build_context()
    )


async def test_a_pending_dmail_is_delivered_once() -> None:
    mailbox = build_mailbox(0, 1, 2)
    result = await send(mailbox, 1)
    assert not result.is_error
    assert "call no more tools" in result.message
    assert mailbox.pop_pending() == DMail("look in b.py", 1)
    assert mailbox.pop_pending() is None


async def test_a_second_dmail_is_refused_while_one_is_pending() -> None:
    mailbox = build_mailbox(0, 1, 2)
    await send(mailbox, 1, "first")
    assert (await send(mailbox, 2, "second")).is_error
    assert mailbox.pop_pending() == DMail("first", 1)


async def test_an_unknown_checkpoint_is_refused_with_a_list_of_valid_ones() -> None:
    mailbox = build_mailbox(0, 1, 2, 5, 7, 8)
    result = await send(mailbox, 3)
    assert result.is_error
    assert "0-2, 5, 7-8" in result.message
    assert mailbox.pop_pending() is None


async def test_a_negative_checkpoint_is_refused() -> None:
    result = await send(build_mailbox(0), -1)
    assert result.is_error
    assert "negative" in result.message


async def test_without_checkpoints_a_dmail_is_refused() -> None:
    result = await send(build_mailbox(), 0)
    assert result.is_error
    assert "No checkpoints yet" in result.message


async def test_an_empty_message_is_refused() -> None:
    mailbox = build_mailbox(0)
    assert (await send(mailbox, 0, "  ")).is_error
    assert mailbox.pop_pending() is None


async def test_a_removed_checkpoint_is_refused() -> None:
    mailbox = build_mailbox(0, 1, 2)
    mailbox.set_checkpoint_source(lambda: [0])
    assert (await send(mailbox, 2)).is_error
