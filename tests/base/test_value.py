"""Values behave like frozen dataclasses, at less cost."""

from dataclasses import field, replace

from kimi_tui.base.value import value


@value
class Point:
    x: int
    y: int = 0
    tags: tuple[str, ...] = ()


@value
class Other:
    x: int
    y: int = 0
    tags: tuple[str, ...] = ()


@value
class Bag:
    things: dict[str, int] = field(default_factory=dict)


def test_values_are_equal_when_their_kind_and_their_fields_are() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Point(1) != Other(1)
    assert Point(1) != (1, 0, ())


def test_equal_values_hash_alike_and_different_kinds_do_not_collide_in_a_set() -> None:
    assert len({Point(1), Point(1), Other(1)}) == 2


def test_a_value_shows_its_fields() -> None:
    assert repr(Point(1, tags=("a",))) == "Point(x=1, y=0, tags=('a',))"


def test_a_value_can_be_copied_with_changes_and_matched_by_position() -> None:
    match replace(Point(1), y=5):
        case Point(x, y):
            assert (x, y) == (1, 5)


def test_each_value_has_a_default_of_its_own() -> None:
    first = Bag()
    first.things["a"] = 1
    assert Bag().things == {}
