"""`frozen` classes behave like frozen dataclasses."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, field, fields, is_dataclass, replace
from inspect import signature
from threading import Barrier
from typing import Any, ClassVar

import pytest

from kimi_tui.base.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 0
    tags: tuple[str, ...] = ()


@frozen
class Other:
    x: int
    y: int = 0
    tags: tuple[str, ...] = ()


@frozen
class Counts:
    by_name: dict[str, int] = field(default_factory=dict)


@frozen(kw_only=True)
class Account:
    """An account."""

    owner: str
    number: "int" = 0
    secret: str = field(default="", repr=False)
    known: ClassVar[tuple[str, ...]] = ("ann",)

    @property
    def is_known(self) -> bool:
        return self.owner in self.known


def test_instances_are_equal_if_their_classes_and_fields_are() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Point(1) != Other(1)
    assert Point(1) != (1, 0, ())


def test_equal_instances_have_the_same_hash() -> None:
    assert len({Point(1), Point(1), Other(1)}) == 2


def test_the_repr_has_the_fields() -> None:
    assert repr(Point(1, tags=("a",))) == "Point(x=1, y=0, tags=('a',))"


def test_replace_and_positional_matching_work() -> None:
    match replace(Point(1), y=5):
        case Point(x, y):
            assert (x, y) == (1, 5)


def test_each_instance_gets_its_own_default() -> None:
    first = Counts()
    first.by_name["a"] = 1
    assert Counts().by_name == {}


def test_keyword_only_fields_reject_positional_arguments() -> None:
    account: Any = Account
    assert account(owner="ann", number=3).number == 3
    with pytest.raises(TypeError):
        account("ann")


def test_fields_without_repr_are_hidden() -> None:
    assert repr(Account(owner="ann", secret="key")) == "Account(owner='ann', number=0)"


def test_a_class_variable_is_not_a_field() -> None:
    assert [item.name for item in fields(Account)] == ["owner", "number", "secret"]
    assert Account(owner="ann").is_known


def test_an_instance_has_no_other_attributes() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError):
        point.z = 1


def test_fields_and_signature_are_available_before_the_first_instance() -> None:
    @frozen
    class Fresh:
        """Without instances."""

        x: int
        y: int = 0

    assert is_dataclass(Fresh)
    assert [(item.name, item.default) for item in fields(Fresh)] == [("x", MISSING), ("y", 0)]

    @frozen
    class Another:
        """Without instances."""

        x: int
        y: int = 0

    assert list(signature(Another).parameters) == ["x", "y"]


def test_an_instance_can_be_copied_and_pickled() -> None:
    account = Account(owner="ann", secret="key")
    assert pickle.loads(pickle.dumps(account)) == copy.deepcopy(account) == copy.copy(account) == account


def test_threads_can_create_the_first_instances_simultaneously() -> None:
    n_threads = 8
    barrier = Barrier(n_threads)

    def create(of: Any) -> Any:
        barrier.wait()
        return of(x=1, items=[])

    with ThreadPoolExecutor(n_threads) as threads:
        for _ in range(20):

            @frozen
            class Shared:
                """First instantiated by several threads."""

                x: int
                items: list[int] = field(default_factory=list)
                y: int = 2

            instances = list(threads.map(create, [Shared] * n_threads))
            assert instances == [Shared(1)] * n_threads
