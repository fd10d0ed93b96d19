"""Key bindings: IDs, defaults, and the user's keymap."""

import pytest

from kimi_tui.tui.keys.keymap import GROUPS, KeyLabels, keymap_errors, known_binding_ids


def test_binding_ids_are_unique() -> None:
    ids = [key.id for _, keys in GROUPS for key in keys]
    assert len(ids) == len(set(ids))
    assert all(ids)


def test_the_default_keys_do_not_clash() -> None:
    default_keymap = {key.id: key.keys for _, keys in GROUPS for key in keys}
    assert keymap_errors(default_keymap) == []


def test_conflicts_and_unknown_ids_are_reported() -> None:
    (unknown, clash) = keymap_errors({"prompt.sned": "f5", "prompt.steer": "enter"})
    assert "prompt.sned" in unknown
    assert (
        clash
        == "The keymap assigns enter to prompt.send and prompt.steer. Assign another key to one of them."
    )


def test_some_default_keys_give_way_to_the_users() -> None:
    keymap = {"panes.timeline": "f5,alt+t"}
    assert keymap_errors(keymap) == []
    labels = KeyLabels(keymap)
    assert labels.all_keys("panes.timeline") == "f5, alt+t"
    assert labels.all_keys("app.running_sessions") == labels.first_key("app.running_sessions") == ""
    assert keymap_errors({"panes.timeline": "f5", "app.running_sessions": "f5"}) != []


def test_a_key_may_have_different_actions_in_different_regions() -> None:
    assert keymap_errors({"approvals.once": "enter2", "tools.open": "o,enter"}) == []


def test_labels_follow_the_keymap() -> None:
    labels = KeyLabels({"prompt.send": "ctrl+enter, f5"})
    assert labels.first_key("prompt.send") == "ctrl+enter"
    assert labels.all_keys("prompt.send") == "ctrl+enter, f5"


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("left_square_bracket", "["),
        ("ctrl+right_square_bracket", "ctrl+]"),
        ("question_mark", "?"),
        ("slash", "/"),
        ("alt+full_stop", "alt+."),
        ("shift+tab", "shift+tab"),
        ("space", "space"),
        ("up", "up"),
    ],
)
def test_punctuation_is_shown_as_the_character(key: str, shown: str) -> None:
    assert KeyLabels({"prompt.send": key}).first_key("prompt.send") == shown
    assert KeyLabels({"prompt.send": f"enter, {key}"}).all_keys("prompt.send") == f"enter, {shown}"
    assert "prompt.send" in known_binding_ids()
