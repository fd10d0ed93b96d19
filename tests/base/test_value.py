"""Values behave like frozen dataclasses, at less cost."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, field, fields, is_dataclass, replace
from inspect import signature
from threading import Barrier
from typing import Any, ClassVar

import pytest

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


@value(kw_only=True)
class Account:
    """Whose it is."""

    owner: str
    number: "int" = 0
    secret: str = field(default="", repr=False)
    known: ClassVar[tuple[str, ...]] = ("ann",)

    @property
    def is_known(self) -> bool:
        return self.owner in self.known


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


def test_fields_of_a_value_are_given_by_name_when_it_wants_that() -> None:
    account: Any = Account
    assert account(owner="ann", number=3).number == 3
    with pytest.raises(TypeError):
        account("ann")


def test_a_value_hides_the_fields_that_it_should() -> None:
    assert repr(Account(owner="ann", secret="key")) == "Account(owner='ann', number=0)"


def test_a_variable_of_the_class_is_no_field() -> None:
    assert [item.name for item in fields(Account)] == ["owner", "number", "secret"]
    assert Account(owner="ann").is_known


def test_a_value_has_room_for_its_fields_only() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError):
        point.z = 1


def test_what_a_value_takes_can_be_looked_up_before_the_first_is_made() -> None:
    @value
    class Fresh:
        """Never made."""

        x: int
        y: int = 0

    assert is_dataclass(Fresh)
    assert [(item.name, item.default) for item in fields(Fresh)] == [("x", MISSING), ("y", 0)]

    @value
    class Another:
        """Never made either."""

        x: int
        y: int = 0

    assert list(signature(Another).parameters) == ["x", "y"]


def test_a_value_can_be_copied_and_pickled() -> None:
    account = Account(owner="ann", secret="key")
    assert pickle.loads(pickle.dumps(account)) == copy.deepcopy(account) == copy.copy(account) == account


def test_threads_may_make_the_first_ones_at_the_same_time() -> None:
    together = 8
    barrier = Barrier(together)

    def make(of: Any) -> Any:
        barrier.wait()
        return of(x=1, things=[])

    with ThreadPoolExecutor(together) as threads:
        for _ in range(20):

            @value
            class Shared:
                """Made by many."""

                x: int
                things: list[int] = field(default_factory=list)
                y: int = 2

            made = list(threads.map(make, [Shared] * together))
            assert made == [Shared(1)] * together
