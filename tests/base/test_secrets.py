"""Secrets: what is known to be one, and what looks like one."""

import pytest

from kimi_tui.base.secrets import blacked_out, fit_to_share, keep_hidden, secrets_in, sounds_secret

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GITHUB_PAT", "DB_PASS", "X-Api-Key", "token"])
def test_names_of_secrets_are_known(name: str) -> None:
    assert sounds_secret(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "HOME", "Accept", "PATIENCE"])
def test_other_names_are_not_taken_for_them(name: str) -> None:
    assert not sounds_secret(name)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-0123456789abcdef", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "glpat-0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE", JWT, "xoxb-0123456789-abcdefghij",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_what_can_be_nothing_but_a_secret_is_blacked_out_everywhere(secret: str) -> None:
    for hide in (blacked_out, fit_to_share):
        assert hide(f"it is {secret} there") == "it is [hidden] there"


def test_passwords_of_addresses_are_blacked_out_and_the_rest_stays() -> None:
    said = "postgres://shop:correct-horse@db.example/x and http://example.org:80/a@b"
    assert fit_to_share(said) == "postgres://shop:[hidden]@db.example/x and http://example.org:80/a@b"


@pytest.mark.parametrize(
    "line",
    ["Authorization: Basic dXNlcjpwYXNz", "authorization=Bearer dXNlcjpwYXNz", "client_secret: dXNlcjpwYXNz"],
)
def test_a_log_loses_the_value_behind_a_name_that_says_what_it_is(line: str) -> None:
    assert "dXNlcjpwYXNz" not in blacked_out(line)


def test_the_kind_of_a_token_is_no_secret_and_what_stands_behind_it_stays_hidden() -> None:
    keep_hidden(secrets_in({"access_token": "quite-a-token", "token_type": "Bearer"}))
    assert blacked_out("a Bearer of news") == "a Bearer [hidden] news"
    assert blacked_out("authorization: Bearer dXNlcjpwYXNz") == "authorization: Bearer [hidden]"
    assert fit_to_share("The Bearer is quite-a-token") == "The Bearer is [hidden]"


def test_code_that_speaks_of_tokens_is_shared_as_it_is() -> None:
    code = "token = parse(source)\npassword: str = field()\nheaders['Authorization'] = token\nsk-learn"
    assert fit_to_share(code) == code


def test_what_is_known_is_hidden_but_for_short_words() -> None:
    keep_hidden(secrets_in({"A_TOKEN": "Bearer quite-a-token", "A_KEY": "none", "AUTH_SOCK": "/run/agent"}))
    assert fit_to_share("quite-a-token, none, /run/agent") == "[hidden], none, /run/agent"
