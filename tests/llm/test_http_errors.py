import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kimi_tui.base.errors import APIStatusError, ContextTooLong
from kimi_tui.llm.transport.endpoint import MAX_QUOTE_CHARS, Endpoint
from kimi_tui.llm.transport.http_errors import parse_server_message, retry_after_s, status_error, stream_error

KEY = "sk-live-0123456789abcdef"
ENDPOINT = Endpoint(
    kind="kimi",
    base_url="https://user:pass@api.example.com:8443/v1?token=t",
    model="kimi-k2",
    api_key=KEY,
    headers={"X-Gateway": "Bearer gateway-token-42"},
)


def failure(status: int, body: str = "", **headers: str) -> APIStatusError:
    return status_error(ENDPOINT, status, parse_server_message(body), headers)


def test_the_error_for_a_rejected_key_says_how_to_set_it_without_the_key():
    error = failure(401, f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}')
    assert "api.example.com:8443" in error.what
    assert "KIMI_API_KEY" in error.hint
    assert KEY not in str(error)


def test_a_missing_key_has_its_own_error():
    keyless = Endpoint(kind="openai", base_url="https://api.openai.com/v1", model="m")
    assert "none is set" in status_error(keyless, 401, parse_server_message("")).what


def test_keys_that_a_server_echoes_are_redacted():
    for secret in (KEY, "gateway-token-42"):
        for status in (400, 403, 418, 429, 500, 503):
            error = failure(status, f'{{"error": "no: {secret} is bad"}}')
            assert secret not in str(error)
            assert "[key]" in str(error)


def test_the_base_url_is_shown_without_secrets():
    assert ENDPOINT.address == "https://api.example.com:8443/v1"


def test_an_unknown_model_is_named():
    error = failure(404, '{"error": {"message": "Not found the model kimi-k9", "code": "model_not_found"}}')
    assert "has no model named “kimi-k2”" in error.what
    assert "--model" in error.hint


def test_the_error_for_a_missing_path_points_to_the_base_url():
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
def test_missing_credit_has_its_own_error(status: int, body: str):
    assert "no credit" in failure(status, body).what


def test_a_rate_limit_error_has_the_seconds_to_wait():
    error = failure(429, "", **{"retry-after": "7"})
    assert error.retry_after == 7
    assert error.retryable
    assert "7 s" in error.hint


def test_retry_after_may_be_a_date_milliseconds_or_invalid():
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
def test_some_statuses_are_retryable(status: int, retryable: bool):
    assert failure(status).retryable is retryable


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_context_that_is_too_long_has_its_own_error(status: int):
    error = failure(status, '{"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}')
    assert isinstance(error, ContextTooLong)
    assert "/compact" in error.hint


def test_request_entity_too_large_means_that_the_context_is_too_long():
    assert isinstance(
        failure(413, "<html><title>413 Request Entity Too Large</title></html>"), ContextTooLong
    )


@pytest.mark.parametrize(
    ("message", "ending"), [("out of memory", "memory."), ("Wait!", "Wait!"), ("稍后再试。", "试。")]
)
def test_a_server_s_message_ends_with_punctuation(message: str, ending: str):
    error = failure(500, json.dumps({"error": {"message": message}}))
    assert error.what.endswith(ending)


def test_a_server_s_message_is_one_short_sanitized_line():
    error = failure(400, '{"error": {"message": "bad\\u001b[31m\\nnews ' + "x" * 5000 + '"}}')
    assert "\x1b" not in str(error)
    assert "\n" not in str(error)
    assert "bad news" in error.what
    assert len(error.what) < MAX_QUOTE_CHARS + 100


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
def test_errors_of_every_known_shape_are_parsed(body: str, message: str):
    assert parse_server_message(body).message == message


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
    assert stream_error(ENDPOINT, error).status_code == status


def test_a_context_limit_error_inside_a_stream_is_detected():
    error = stream_error(ENDPOINT, {"error": {"message": "the input length exceeds the context length"}})
    assert isinstance(error, ContextTooLong)
