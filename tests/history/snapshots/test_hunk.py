"""Hunks: any selection of changes yields each line as it is in one of the versions."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.history.snapshots.hunk import UnknownHunk, apply_hunks, find_hunks

EXAMPLES = int(os.environ.get("KIMI_TUI_HUNK_EXAMPLES", "300"))
KEPT = [b"keep %d\n" % number for number in range(200)]
CONTENT = st.binary(max_size=6).map(lambda data: data.replace(b"\n", b"").replace(b"\0", b""))
CHANGED_LINES = st.lists(
    st.builds(lambda text, end: b"x" + text + end, CONTENT, st.sampled_from([b"\n", b"\r\n", b"\r\r\n"])),
    max_size=4,
)


@st.composite
def versions_and_choices(draw: st.DrawFn) -> tuple[bytes, bytes, list[bool], bytes]:
    """Return two versions whose hunks are known, which hunks to apply, and the expected result.

    The expectation is put together from the same pieces, without comparing the versions.
    """
    pieces: list[tuple[bytes, bytes, bool]] = []
    number = draw(st.integers(1, 8))
    for index in range(number):
        removed = [b"old%d " % index + line for line in draw(CHANGED_LINES)]
        added = [b"new%d " % index + line for line in draw(CHANGED_LINES)]
        is_last = index == number - 1
        if is_last and removed and draw(st.booleans()):
            removed[-1] = removed[-1].rstrip(b"\r\n")
        if is_last and added and draw(st.booleans()):
            added[-1] = added[-1].rstrip(b"\r\n")
        kept = KEPT[index * 20 : index * 20 + draw(st.integers(1, 5))]
        pieces.append((b"".join(kept), b"".join(kept), False))
        pieces.append((b"".join(removed), b"".join(added), True))
    old = b"".join(piece[0] for piece in pieces)
    new = b"".join(piece[1] for piece in pieces)
    changes = [piece for piece in pieces if piece[2] and piece[0] != piece[1]]
    chosen = draw(st.lists(st.booleans(), min_size=len(changes), max_size=len(changes)))
    decisions = iter(chosen)
    result = b"".join(
        (after if next(decisions) else before) if before != after else before for before, after, _ in pieces
    )
    return old, new, chosen, result


@settings(deadline=None, max_examples=EXAMPLES)
@given(versions_and_choices())
def test_any_selection_of_hunks_is_exact_to_the_byte(case: tuple[bytes, bytes, list[bool], bytes]) -> None:
    old, new, chosen, expected = case
    hunks = find_hunks(old, new)
    assert len(hunks) == len(chosen)
    ids = [hunk.id for hunk, is_chosen in zip(hunks, chosen, strict=True) if is_chosen]
    assert apply_hunks(old, new, ids) == expected


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60), st.binary(max_size=60), st.randoms(use_true_random=False))
def test_hunks_lead_from_one_content_to_the_other(old: bytes, new: bytes, random) -> None:
    hunks = find_hunks(old, new)
    ids = [hunk.id for hunk in hunks]
    assert len(set(ids)) == len(ids)
    if b"\0" in old + new:
        assert not hunks
        return
    assert apply_hunks(old, new, ids) == new
    assert apply_hunks(old, new, []) == old
    first = [it for it in ids if random.random() < 0.5]
    middle = apply_hunks(old, new, first)
    assert lines_of(middle) <= lines_of(old) | lines_of(new)
    assert bool(find_hunks(old, new)) == (old != new)


def lines_of(content: bytes) -> set[bytes]:
    return set(content.split(b"\n"))


def test_a_hunk_keeps_its_id_when_other_lines_change():
    old = b"".join(b"%d\n" % number for number in range(30))
    new = old.replace(b"5\n", b"five\n", 1).replace(b"\n20\n", b"\ntwenty\n")
    before = [hunk.id for hunk in find_hunks(old, new)]
    shifted = [hunk.id for hunk in find_hunks(b"mine\n" + old, b"mine\n" + new)]
    assert before == shifted
    assert len(set(before)) == 2


def test_equal_changes_have_different_ids():
    old, new = b"a\nx\nb\nx\nc\n", b"a\nb\nc\n"
    first, second = find_hunks(old, new)
    assert first.id != second.id
    assert apply_hunks(old, new, [second.id]) == b"a\nx\nb\nc\n"


def test_an_unknown_hunk_is_rejected():
    with pytest.raises(UnknownHunk):
        apply_hunks(b"a\n", b"b\n", ["0123"])
