"""Damaged and malicious text: samples that are truncated, joined and mixed with unusual bytes."""

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

DEEP = 5_000

fuzz_settings = settings(
    max_examples=int(os.environ.get("KIMI_TUI_FUZZ_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
"""The test suite runs a few examples; `make faults` runs many."""

_ODD = st.sampled_from(
    [
        b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\x85", b"\r", b"\n", b"\n\n", b"\t",
        b"\x1b]0;x\x07",
        b"{", b"}", b"[", b"]", b'"', b"'", b"\\", b":", b",", b"-", b"#", b"&a ", b"*a", b"!!bool x",
        b"!!int x",
        b"!!timestamp x", b"!!binary x", b"!!python/name:os.system", b"2024-99-99", b"null", b"NaN", b"1e999",
        b"9" * 5_000, b"-0", b"true", b"\\ud800", b"---", b"...", b"<<", b"? ", b"%YAML 9", b"%", b"@", b"`",
        b"${HOME}", b"${", b"$", b"~", b"../", b"/", b"[[", b"]]", b"=",
    ]
)  # fmt: skip


def mangle(*samples: str) -> st.SearchStrategy[bytes]:
    """Return a strategy for one of `samples` with up to four random changes."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> bytes:
        data = draw(st.sampled_from(samples)).encode()
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, len(data)))
            match draw(st.sampled_from(["put", "cut", "drop", "double", "noise"])):
                case "put":
                    data = data[:at] + draw(_ODD) + data[at:]
                case "cut":
                    data = data[:at]
                case "drop":
                    data = data[:at] + data[at + draw(st.integers(1, 12)) :]
                case "double":
                    data = data[:at] + data[at : at + draw(st.integers(1, 40))] + data[at:]
                case _:
                    data = data[:at] + draw(st.binary(max_size=6)) + data[at:]
        return data

    return draw_one()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["", "2.0", "user", "assistant", "_checkpoint", "text", "c1", "\ud800", "/etc/passwd"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
"""Any JSON value."""


def objects_with_keys(*keys: str) -> st.SearchStrategy[dict[str, object]]:
    """Return a strategy for objects with some of `keys` and arbitrary values."""
    return st.dictionaries(st.sampled_from(keys), JSON, max_size=len(keys))
