"""Text that a front end can translate: an id and parameters."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, Union

MessageParam = Union[str, int, float, "MessageText"]
"""Value of a placeholder. Text is a message too, which is translated before it is filled in."""
_NO_PARAMS: Mapping[str, MessageParam] = MappingProxyType({})

TWO_SENTENCES = "{first} {second}"
"""Id of a message of two sentences. Some languages put no space between them."""


class MessageText(str):
    """The English text of a message, with the id and the parameters that a front end translates it by.

    The id is the English template, such as `Can't read {path}: {reason}.` Models, logs and programs see the
    English text. A plain str is a message without parameters, whose id is its text.
    """

    __slots__ = ("id", "params")

    id: str
    params: Mapping[str, MessageParam]

    def __new__(cls, template: str, params: Mapping[str, MessageParam] = _NO_PARAMS) -> "MessageText":
        """Fill `params` into the placeholders of `template`. They may have format specs."""
        text = super().__new__(cls, template.format(**params) if params else template)
        text.id = template
        text.params = params
        return text

    def __str__(self) -> str:
        """Return the message itself, so that an exception's text keeps the id."""
        return self

    def __getnewargs__(self) -> tuple[str, Mapping[str, MessageParam]]:  # type: ignore[override]
        """Return the arguments of the constructor, for copies."""
        return self.id, self.params

    def with_params(self, change: Callable[[str], str]) -> "MessageText":
        """Return the message with `change` applied to its parameters that are text."""
        return MessageText(self.id, {name: _change(value, change) for name, value in self.params.items()})


def join_messages(first: str, second: str) -> str:
    """Return two sentences as one message. Either may be empty."""
    return (
        MessageText(TWO_SENTENCES, {"first": first, "second": second})
        if first and second
        else first or second
    )


def msg(template: str, /, **params: object) -> MessageText:
    """Return a message. Parameters other than numbers become text.

    `template` is a literal, so that the catalogs can be checked for it.
    """
    return MessageText(
        template,
        {
            name: value if isinstance(value, str | int | float) else str(value)
            for name, value in params.items()
        },
    )


def msg_n(one: str, many: str, count: int, /, **params: object) -> MessageText:
    """Return `one` if `count` is 1, else `many`. Both may contain `{count}`."""
    return msg(one if count == 1 else many, count=count, **params)


def as_message(text: str) -> MessageText:
    """Return `text` as a message. A plain str is one without parameters."""
    return text if isinstance(text, MessageText) else MessageText(text)


def change_text(text: str, change: Callable[[str], str]) -> str:
    """Return `change(text)`. A message with an id keeps it: `change` is applied to its parameters."""
    return text.with_params(change) if isinstance(text, MessageText) else change(text)


def texts_to_jsonable(value: Any) -> dict[str, Any]:
    """Return the ids and parameters of the messages in a dataclass or JSON value, by path.

    A path such as `files/0/note` consists of field names, keys and indexes. Plain text isn't included.
    """
    return {path: _to_jsonable(text) for path, text in _find_texts(value)}


def add_texts(data: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return `data`, the JSON object of `value`, with the field `texts` if there are messages in it."""
    texts = texts_to_jsonable(value)
    return {**data, "texts": texts} if texts else data


def restore_texts(value: Any, texts: Any) -> Any:
    """Return `value`, which was decoded from JSON, with the messages of `texts_to_jsonable`.

    Invalid entries are ignored, and those whose text has changed.
    """
    for path, data in texts.items() if isinstance(texts, dict) else ():
        try:
            value = _replace(value, path.split("/"), _from_jsonable(data))
        except (LookupError, AttributeError, TypeError, ValueError):
            continue
    return value


def _change(value: MessageParam, change: Callable[[str], str]) -> MessageParam:
    return change_text(value, change) if isinstance(value, str) else value


def _find_texts(value: Any, path: str = "") -> Iterator[tuple[str, MessageText]]:
    match value:
        case MessageText():
            yield path, value
        case str():
            return
        case dict():
            for key, item in value.items():
                yield from _find_texts(item, f"{path}/{key}" if path else str(key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _find_texts(item, f"{path}/{index}" if path else str(index))
        case _ if is_dataclass(value):
            for field in fields(value):
                yield from _find_texts(
                    getattr(value, field.name), f"{path}/{field.name}" if path else field.name
                )
        case _:
            return


def _replace(value: Any, path: list[str], text: MessageText) -> Any:
    """Return `value` with `text` at `path`, where it has the same English text."""
    if not path:
        if value != text:
            raise ValueError("The text isn't that of the message.")
        return text
    first, *rest = path
    match value:
        case dict():
            return {**value, first: _replace(value[first], rest, text)}
        case list() | tuple():
            index = int(first)
            changed = [*value[:index], _replace(value[index], rest, text), *value[index + 1 :]]
            return type(value)(changed)
        case _:
            return replace(value, **{first: _replace(getattr(value, first), rest, text)})


def _to_jsonable(text: MessageText) -> dict[str, Any]:
    return {
        "id": text.id,
        "params": {
            name: _to_jsonable(value) if isinstance(value, MessageText) else value
            for name, value in text.params.items()
        },
    }


def _from_jsonable(data: Any) -> MessageText:
    params = {
        name: value if isinstance(value, str | int | float) else _from_jsonable(value)
        for name, value in data["params"].items()
    }
    return MessageText(data["id"], params)
