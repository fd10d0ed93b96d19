"""D-Mails: one at a time, to a checkpoint that exists."""

from kimi_tui.tools.dmail import DMail, DMailbox, SendDMail, SendDMailParams
from kimi_tui.wire.events import ToolReturn
from tests.tools.calls import running_call


def mailbox(*checkpoints: int) -> DMailbox:
    box = DMailbox()
    box.set_checkpoints(lambda: checkpoints)
    return box


async def send(box: DMailbox, checkpoint_id: int, message: str = "look in b.py") -> ToolReturn:
    return await SendDMail(box).run(
        SendDMailParams(message=message, checkpoint_id=checkpoint_id), running_call()
    )


async def test_a_dmail_waits_to_be_taken_once() -> None:
    box = mailbox(0, 1, 2)
    result = await send(box, 1)
    assert not result.is_error
    assert "call no more tools" in result.message
    assert box.take() == DMail("look in b.py", 1)
    assert box.take() is None


async def test_a_second_dmail_is_refused_and_the_first_stays() -> None:
    box = mailbox(0, 1, 2)
    await send(box, 1, "first")
    assert (await send(box, 2, "second")).is_error
    assert box.take() == DMail("first", 1)


async def test_an_unknown_checkpoint_is_refused_with_those_that_exist() -> None:
    box = mailbox(0, 1, 2, 5, 7, 8)
    result = await send(box, 3)
    assert result.is_error
    assert "0-2, 5, 7-8" in result.message
    assert box.take() is None


async def test_a_negative_checkpoint_is_refused() -> None:
    result = await send(mailbox(0), -1)
    assert result.is_error
    assert "negative" in result.message


async def test_without_checkpoints_there_is_nowhere_to_go() -> None:
    result = await send(mailbox(), 0)
    assert result.is_error
    assert "no checkpoint yet" in result.message


async def test_an_empty_message_is_refused() -> None:
    box = mailbox(0)
    assert (await send(box, 0, "  ")).is_error
    assert box.take() is None


async def test_a_checkpoint_that_is_gone_can_no_longer_be_reached() -> None:
    box = mailbox(0, 1, 2)
    box.set_checkpoints(lambda: [0])
    assert (await send(box, 2)).is_error
