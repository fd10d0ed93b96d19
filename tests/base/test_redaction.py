"""Redaction of registered secrets and of text that looks like a secret."""

import pytest

from kimi_tui.base.redaction import (
    looks_like_secret_name,
    redact,
    redact_for_sharing,
    register_secrets,
    secret_values,
)

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GITHUB_PAT", "DB_PASS", "X-Api-Key", "token"])
def test_names_of_secrets_are_detected(name: str) -> None:
    assert looks_like_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "HOME", "Accept", "PATIENCE"])
def test_other_names_are_not_detected(name: str) -> None:
    assert not looks_like_secret_name(name)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-0123456789abcdef", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "glpat-0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE", JWT, "xoxb-0123456789-abcdefghij",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_unambiguous_secrets_are_always_redacted(secret: str) -> None:
    for hide in (redact, redact_for_sharing):
        assert hide(f"it is {secret} there") == "it is [hidden] there"


def test_only_the_password_of_a_url_is_redacted() -> None:
    text = "postgres://shop:correct-horse@db.example/x and http://example.org:80/a@b"
    assert redact_for_sharing(text) == "postgres://shop:[hidden]@db.example/x and http://example.org:80/a@b"


@pytest.mark.parametrize(
    "line",
    ["Authorization: Basic dXNlcjpwYXNz", "authorization=Bearer dXNlcjpwYXNz", "client_secret: dXNlcjpwYXNz"],
)
def test_values_after_names_of_secrets_are_redacted_in_logs(line: str) -> None:
    assert "dXNlcjpwYXNz" not in redact(line)


def test_an_authentication_scheme_is_not_secret_but_the_token_after_it_is() -> None:
    register_secrets(secret_values({"access_token": "quite-a-token", "token_type": "Bearer"}))
    assert redact("a Bearer of news") == "a Bearer [hidden] news"
    assert redact("authorization: Bearer dXNlcjpwYXNz") == "authorization: Bearer [hidden]"
    assert redact_for_sharing("The Bearer is quite-a-token") == "The Bearer is [hidden]"


def test_code_that_mentions_tokens_is_shared_unchanged() -> None:
    code = "token = parse(source)\npassword: str = field()\nheaders['Authorization'] = token\nsk-learn"
    assert redact_for_sharing(code) == code


def test_registered_secrets_are_redacted_except_short_ones() -> None:
    register_secrets(
        secret_values({"A_TOKEN": "Bearer quite-a-token", "A_KEY": "none", "AUTH_SOCK": "/run/agent"})
    )
    assert redact_for_sharing("quite-a-token, none, /run/agent") == "[hidden], none, /run/agent"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[hidden]"),
        ("export API_TOKEN='abcd1234'", "export API_TOKEN='[hidden]'"),
        (r'{"content":"A=1\nDB_PASSWORD=hunter2\nX=2"}', r'{"content":"A=1\nDB_PASSWORD=[hidden]\nX=2"}'),
        (r'{"content":"DB_PASSWORD=\"hunter2\""}', r'{"content":"DB_PASSWORD=\"[hidden]\""}'),
        (r"x\n\tMY_SECRET_KEY=s3cr3t", r"x\n\tMY_SECRET_KEY=[hidden]"),
        ("docker run -e DB_PASS=hunter2 x", "docker run -e DB_PASS=[hidden] x"),
    ],
)
def test_variables_with_secrets_are_hidden_in_shared_text(text: str, expected: str) -> None:
    assert redact_for_sharing(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=$(pass show key)", "API_KEY=os.environ['X']", "token = get_token()", "PATH=/usr/bin:/bin",
        "password=1", "KEY=abc", "self.TOKEN=parse(x)", "$TOKEN=value", "MONKEY=banana", "TOKEN={token}",
        "KEYBOARD=qwerty",
    ],
)  # fmt: skip
def test_code_that_only_names_secrets_is_unchanged(text: str) -> None:
    assert redact_for_sharing(text) == text
