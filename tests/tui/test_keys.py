"""The keys: names, defaults, and the user's key map."""

from kimi_tui.tui.keys import GROUPS, KeyNames, complaints, known_ids


def test_every_binding_has_a_name_of_its_own() -> None:
    ids = [key.id for _, keys in GROUPS for key in keys]
    assert len(ids) == len(set(ids))
    assert all(ids)


def test_the_default_keys_do_not_clash() -> None:
    everything = {key.id: key.keys for _, keys in GROUPS for key in keys}
    assert complaints(everything) == []


def test_a_key_given_twice_and_an_unknown_name_are_complained_of() -> None:
    (unknown, clash) = complaints({"prompt.sned": "f5", "prompt.steer": "enter"})
    assert "prompt.sned" in unknown
    assert clash == "The key map gives enter to prompt.send and prompt.steer. Give one of them another key."


def test_the_same_key_may_mean_other_things_in_other_places() -> None:
    assert complaints({"approvals.once": "enter2", "tools.open": "o,enter"}) == []


def test_names_follow_the_key_map() -> None:
    names = KeyNames({"prompt.send": "ctrl+enter, f5"})
    assert names.first("prompt.send") == "ctrl+enter"
    assert names.all("prompt.send") == "ctrl+enter, f5"
    assert "prompt.send" in known_ids()
