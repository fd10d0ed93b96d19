import json

from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.llm.openai.tool_calls import ToolCallAssembler


def fragment(arguments=None, *, index=None, call_id=None, name=None, **extras):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}
    return {**fields, "type": "function", "function": function, **extras}


def assemble(*fragments):
    """Return id, name and arguments of the calls in `fragments`."""
    calls = ToolCallAssembler()
    made: dict[str, list[str]] = {}
    last = ""
    for item in fragments:
        match calls.add_fragment(item):
            case ToolCall() as call:
                assert call.id not in made
                made[call.id] = [call.function.name, call.function.arguments or ""]
                last = call.id
            case ToolCallPart(arguments_part=part, tool_call_id=call_id):
                made[call_id or last][1] += part
            case None:
                pass
    return [(call_id, name, arguments) for call_id, (name, arguments) in made.items()]


def test_fragments_of_one_call_make_one_call():
    assert assemble(
        fragment("", index=0, call_id="a", name="Read"), fragment('{"p":', index=0), fragment('"x"}', index=0)
    ) == [("a", "Read", '{"p":"x"}')]


def test_fragments_that_repeat_id_and_name_are_one_call():
    pieces = ['{"path"', ': "a', ".p", "y", '",', '"n"', ": ", "1", "}"]
    assert assemble(*(fragment(piece, index=0, call_id="a", name="Read") for piece in pieces)) == [
        ("a", "Read", '{"path": "a.py","n": 1}')
    ]


def test_interleaved_calls_keep_their_own_arguments():
    assert assemble(
        fragment("", index=0, call_id="a", name="Read"),
        fragment("", index=1, call_id="b", name="Grep"),
        fragment('{"x"', index=0),
        fragment('{"y"', index=1),
        fragment(":1}", index=0),
        fragment(":2}", index=1),
    ) == [("a", "Read", '{"x":1}'), ("b", "Grep", '{"y":2}')]


def test_interleaved_calls_without_index_are_distinguished_by_id():
    assert assemble(
        fragment("", call_id="a", name="Read"),
        fragment("", call_id="b", name="Read"),
        fragment('{"x":1}', call_id="a"),
        fragment('{"y":2}', call_id="b"),
    ) == [("a", "Read", '{"x":1}'), ("b", "Read", '{"y":2}')]


def test_fragments_without_index_belong_to_the_last_call():
    assert assemble(fragment("", call_id="a", name="Read"), fragment('{"x":'), fragment("1}")) == [
        ("a", "Read", '{"x":1}')
    ]


def test_complete_calls_that_all_have_index_zero_are_separate():
    assert assemble(
        fragment('{"x":1}', index=0, call_id="a", name="Read"),
        fragment('{"y":2}', index=0, call_id="b", name="Read"),
    ) == [("a", "Read", '{"x":1}'), ("b", "Read", '{"y":2}')]


def test_calls_without_arguments_that_all_have_index_zero_are_separate():
    assert assemble(
        fragment("", index=0, call_id="a", name="LS"), fragment("", index=0, call_id="b", name="LS")
    ) == [
        ("a", "LS", ""),
        ("b", "LS", ""),
    ]


def test_fragments_with_different_ids_are_one_call():
    assert assemble(
        fragment('{"x"', index=0, call_id="a", name="Read"),
        fragment(": 1", index=0, call_id="b", name="Read"),
        fragment("}", index=0, call_id="c", name="Read"),
        fragment("", index=0, call_id="d"),
    ) == [("a", "Read", '{"x": 1}')]


def test_missing_and_duplicate_ids_become_unique():
    named = assemble(
        fragment('{"x":1}', index=0, call_id="same", name="Read"),
        fragment('{"y":2}', index=1, call_id="same", name="Read"),
        fragment('{"z":3}', index=2, call_id="", name="Read"),
        fragment('{"z":4}', index=3, name="Read"),
    )
    assert [arguments for _, _, arguments in named] == ['{"x":1}', '{"y":2}', '{"z":3}', '{"z":4}']
    ids = [call_id for call_id, _, _ in named]
    assert ids[:2] == ["same", "same_2"]
    assert all(ids)
    assert len(set(ids)) == 4


def test_complete_calls_without_id_or_index_are_separate():
    named = assemble(
        fragment('{"x":1}', name="Read"), fragment('{"x":1}', name="Read"), fragment("{}", name="LS")
    )
    assert [(name, arguments) for _, name, arguments in named] == [
        ("Read", '{"x":1}'),
        ("Read", '{"x":1}'),
        ("LS", "{}"),
    ]


def test_a_call_repeated_completely_at_the_end_is_not_duplicated():
    assert assemble(
        fragment('{"x":', index=0, call_id="a", name="Read"),
        fragment("1}", index=0),
        fragment('{"x":1}', index=0, call_id="a", name="Read"),
    ) == [("a", "Read", '{"x":1}')]


def test_a_call_is_emitted_when_its_name_arrives():
    assert assemble(
        fragment("", index=0, call_id="a"), fragment('{"x":1}', index=0), fragment(index=0, name="Read")
    ) == [("a", "Read", '{"x":1}')]


def test_arguments_as_an_object_become_json_text():
    [(_, _, arguments)] = assemble(fragment({"x": "é"}, index=0, call_id="a", name="Read"))
    assert json.loads(arguments) == {"x": "é"}


def test_provider_specific_fields_are_kept_with_the_call():
    calls = ToolCallAssembler()
    call = calls.add_fragment(
        fragment("{}", index=0, call_id="a", name="Read", extra_content={"google": {"sig": "s"}})
    )
    assert isinstance(call, ToolCall)
    assert call.extras == {"extra_content": {"google": {"sig": "s"}}}


def test_fragments_of_earlier_calls_have_a_call_id():
    calls = ToolCallAssembler()
    for item in (
        fragment("", index=0, call_id="a", name="Read"),
        fragment("", index=1, call_id="b", name="Read"),
    ):
        calls.add_fragment(item)
    assert calls.add_fragment(fragment("{", index=0)) == ToolCallPart("{", "a")
    assert calls.add_fragment(fragment("{", index=1)) == ToolCallPart("{", None)
