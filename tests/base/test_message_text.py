"""Messages with ids: English text, copies, and the form that is recorded."""

import copy
import json

from kimi_tui.base.message_text import MessageText, change_text, msg, restore_texts, texts_to_jsonable
from kimi_tui.wire.codec import decode, encode
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import Notification, ToolResult, ToolReturn, TurnEnd, TurnFailure

DENIED = msg("Can't read {path}: {reason}.", path="a.py", reason=msg("{name} is gone", name="x"))


def failed_turn() -> TurnEnd:
    return TurnEnd("failed", failure=TurnFailure(DENIED, hint="Check the path."))


def test_a_message_is_its_english_text() -> None:
    assert DENIED == "Can't read a.py: x is gone."
    assert msg("{size:,} bytes in {path}", size=1234, path="{x}") == "1,234 bytes in {x}"


def test_a_message_without_parameters_may_contain_braces() -> None:
    assert msg("Write ${VARIABLE}.") == "Write ${VARIABLE}."


def test_a_copy_keeps_the_id_and_the_parameters() -> None:
    copied = copy.deepcopy(DENIED)

    assert (copied, copied.id, copied.params) == (DENIED, DENIED.id, DENIED.params)


def test_changing_a_message_changes_only_its_parameters() -> None:
    shouted = change_text(DENIED, str.upper)

    assert shouted == "Can't read A.PY: X is gone."
    assert isinstance(shouted, MessageText)
    assert shouted.id == DENIED.id
    assert change_text("it failed", str.upper) == "IT FAILED"


def test_clients_receive_english() -> None:
    assert json.loads(json.dumps(encode(failed_turn())))["payload"]["failure"] == {
        "what": "Can't read a.py: x is gone.",
        "hint": "Check the path.",
        "kind": "",
        "retryable": False,
    }


def test_messages_keep_their_ids_within_the_process() -> None:
    decoded = decode(encode(failed_turn()))

    assert isinstance(decoded, TurnEnd)
    assert decoded.failure is not None
    assert isinstance(decoded.failure.what, MessageText)
    assert decoded.failure.what.id == "Can't read {path}: {reason}."


def test_recorded_messages_are_restored_from_their_ids() -> None:
    result = ToolResult("c1", ToolReturn(display=(BriefBlock("plain"), BriefBlock(DENIED))))
    recorded = json.loads(json.dumps({"message": encode(result), "texts": texts_to_jsonable(result)}))

    restored = restore_texts(decode(recorded["message"]), recorded["texts"])

    assert restored == result
    block = restored.return_value.display[1]
    assert isinstance(block, BriefBlock)
    assert isinstance(block.text, MessageText)
    assert isinstance(block.text.params["reason"], MessageText)


def test_invalid_recorded_messages_are_ignored() -> None:
    event = Notification("1", "session", "notice", "engine", "", title="Some title", body="")
    other_text = {"id": "Another {word}", "params": {"word": "title"}}

    for texts in (None, [], {"title": 3}, {"title": other_text}, {"nothing/0": other_text}):
        assert restore_texts(event, texts) == event
