"""Which turn answers a prompt in a session that other clients use too."""

from kimi_tui.wire.events import SessionInfo, TurnBegin
from kimi_tui.wireserver.jsonrpc import RpcCall
from kimi_tui.wireserver.session_status import SessionStatus


def status_with_prompt(*, is_resident: bool) -> tuple[SessionStatus, str | None]:
    status = SessionStatus()
    status.update_info(SessionInfo("s-1", "/work", "", "kimi", "scripted", "default", resident=is_resident))
    status.prompt = RpcCall("prompt", {}, "1")
    return status, status.start_turn()


def test_only_the_own_turn_answers_a_prompt() -> None:
    status, prompt_id = status_with_prompt(is_resident=True)
    for begin in (TurnBegin("theirs"), TurnBegin("theirs", "other")):
        status.begin_turn(begin)
        assert status.end_turn() is None
        assert not status.in_turn
    call = status.prompt
    status.begin_turn(TurnBegin("mine", prompt_id))
    assert call is not None
    assert status.end_turn() is call
    assert status.prompt is None


def test_every_turn_is_the_own_one_in_a_session_of_this_process() -> None:
    status, prompt_id = status_with_prompt(is_resident=False)
    call = status.prompt
    status.begin_turn(TurnBegin("mine"))
    assert (prompt_id, status.end_turn()) == (None, call)
