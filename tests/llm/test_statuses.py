import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kimi_tui.base.errors import APIStatusError, ContextTooLong
from kimi_tui.llm.endpoint import LONGEST_QUOTE, Endpoint
from kimi_tui.llm.statuses import retry_after_s, server_words, status_failure, stream_failure

KEY = "sk-live-0123456789abcdef"
ENDPOINT = Endpoint(
    kind="kimi",
    base_url="https://user:pass@api.example.com:8443/v1?token=t",
    model="kimi-k2",
    api_key=KEY,
    headers={"X-Gateway": "Bearer gateway-token-42"},
)


def failure(status: int, body: str = "", **headers: str) -> APIStatusError:
    return status_failure(ENDPOINT, status, server_words(body), headers)


def test_a_refused_key_says_where_and_how_to_set_it_and_never_the_key():
    error = failure(401, f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}')
    assert "api.example.com:8443" in error.what
    assert "KIMI_API_KEY" in error.hint
    assert KEY not in str(error)


def test_a_missing_key_is_told_from_a_wrong_one():
    keyless = Endpoint(kind="openai", base_url="https://api.openai.com/v1", model="m")
    assert "none is set" in status_failure(keyless, 401, server_words("")).what


def test_keys_that_a_server_echoes_are_taken_out_of_any_error():
    for secret in (KEY, "gateway-token-42"):
        for status in (400, 403, 418, 429, 500, 503):
            error = failure(status, f'{{"error": "no: {secret} is bad"}}')
            assert secret not in str(error)
            assert "[key]" in str(error)


def test_the_base_url_is_shown_without_what_may_be_secret_in_it():
    assert ENDPOINT.address == "https://api.example.com:8443/v1"


def test_an_unknown_model_is_named():
    error = failure(404, '{"error": {"message": "Not found the model kimi-k9", "code": "model_not_found"}}')
    assert "knows no model “kimi-k2”" in error.what
    assert "--model" in error.hint


def test_a_path_that_is_not_there_points_at_the_base_url():
    error = failure(404, "<html><head><title>404 Not Found</title></head></html>")
    assert "https://api.example.com:8443/v1" in error.what
    assert "/v1" in error.hint


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, "{}"),
        (429, '{"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}}'),
        (429, '{"error": {"type": "exceeded_current_quota_error", "message": "Your account is suspended"}}'),
        (400, '{"error": {"message": "Your credit balance is too low to access the Anthropic API."}}'),
    ],
)
def test_an_empty_account_is_named_as_such(status: int, body: str):
    assert "no credit" in failure(status, body).what


def test_a_rate_limit_carries_the_seconds_to_wait():
    error = failure(429, "", **{"retry-after": "7"})
    assert error.retry_after == 7
    assert error.retryable
    assert "7 s" in error.hint


def test_retry_after_may_be_a_date_milliseconds_or_nonsense():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    waited = retry_after_s({"retry-after": later})
    assert waited is not None
    assert 50 < waited <= 60
    assert retry_after_s({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after_s({"retry-after-ms": "1500"}) == 1.5
    for nonsense in ("soon", "nan", "inf", "", "-"):
        assert retry_after_s({"retry-after": nonsense}) is None


@pytest.mark.parametrize(
    ("status", "retryable"), [(408, True), (500, True), (503, True), (529, True), (418, False)]
)
def test_statuses_say_whether_to_try_again(status: int, retryable: bool):
    assert failure(status).retryable is retryable


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_context_too_long_is_its_own_error(status: int):
    error = failure(status, '{"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}')
    assert isinstance(error, ContextTooLong)
    assert "/compact" in error.hint


def test_a_request_entity_too_large_counts_as_a_context_too_long():
    assert isinstance(
        failure(413, "<html><title>413 Request Entity Too Large</title></html>"), ContextTooLong
    )


@pytest.mark.parametrize(
    ("said", "ending"), [("out of memory", "memory."), ("Wait!", "Wait!"), ("稍后再试。", "试。")]
)
def test_what_a_server_said_is_a_sentence_before_what_to_do(said: str, ending: str):
    error = failure(500, json.dumps({"error": {"message": said}}))
    assert error.what.endswith(ending)


def test_what_a_server_says_is_one_short_plain_line():
    error = failure(400, '{"error": {"message": "bad\\u001b[31m\\nnews ' + "x" * 5000 + '"}}')
    assert "\x1b" not in str(error)
    assert "\n" not in str(error)
    assert "bad news" in error.what
    assert len(error.what) < LONGEST_QUOTE + 100


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error": {"message": "a"}}', "a"),
        ('{"error": "a"}', "a"),
        ('{"object": "error", "message": "a", "code": 400}', "a"),
        ('{"detail": "a"}', "a"),
        ('[{"error": {"message": "a"}}]', "a"),
        ('{"error": {"message": null}}', ""),
        ("plain a", "plain a"),
        ("<html><title>502 Bad\nGateway</title>", "502 Bad\nGateway"),
        ("null", ""),
        ('{"detail": [{"msg": "field required"}]}', '[{"msg": "field required"}]'),
    ],
)
def test_errors_are_found_in_every_known_shape(body: str, message: str):
    assert server_words(body).message == message


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"error": {"message": "x", "code": 502}}, 502),
        ({"error": {"message": "x", "code": "429"}}, 429),
        ({"error": {"message": "x", "type": "rate_limit_error"}}, 429),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529),
        ({"error": {"message": "x", "code": "something_new"}}, 500),
        ({"error": "x"}, 500),
    ],
)
def test_an_error_inside_a_stream_has_the_status_it_names_or_500(error: object, status: int):
    assert stream_failure(ENDPOINT, error).status_code == status


def test_a_context_too_long_inside_a_stream_is_understood():
    error = stream_failure(ENDPOINT, {"error": {"message": "the input length exceeds the context length"}})
    assert isinstance(error, ContextTooLong)
