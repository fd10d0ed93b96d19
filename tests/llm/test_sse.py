from kimi_tui.llm.transport.sse import BodyKind, SseParser


def data_of(*chunks: bytes) -> list[str]:
    parser = SseParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return [event.data for event in (*events, *parser.finish())]


def test_an_event_is_the_same_for_all_chunk_boundaries():
    stream = 'data: {"text": "héllo"}\r\n\r\ndata: two\n\n'.encode()
    for size in (1, 2, 3, 7, len(stream)):
        chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert data_of(*chunks) == ['{"text": "héllo"}', "two"]


def test_unicode_line_separators_stay_inside_their_text():
    assert data_of("data: a\u2028b\u2029c\u0085d\x0ce\n\n".encode()) == ["a\u2028b\u2029c\u0085d\x0ce"]


def test_comments_retries_and_ids_are_not_events():
    assert data_of(b": hello\n\nretry: 3000\n\nid: 7\n\ndata: x\n\n") == ["x"]


def test_the_last_event_counts_without_its_blank_line():
    assert data_of(b"data: one\n\ndata: two") == ["one", "two"]


def test_data_of_several_lines_is_joined_by_newlines():
    assert data_of(b"data: {\ndata: }\n\n") == ["{\n}"]


def test_whitespace_and_a_byte_order_mark_before_the_first_event_are_ignored():
    assert data_of(b"\r\n\r\n", b"   \n", b"\xef\xbb\xbf\ndata: x\n\n") == ["x"]


def test_invalid_utf8_is_replaced():
    assert data_of(b"data: a\xff\xfeb\n\n") == ["a\ufffd\ufffdb"]


def test_an_error_event_is_marked_and_the_next_one_is_not():
    parser = SseParser()
    events = parser.feed(b"event: error\ndata: bad\n\ndata: good\n\n")
    assert [(event.data, event.is_error) for event in events] == [("bad", True), ("good", False)]


def test_json_documents_and_web_pages_are_detected():
    for body, kind in ((b' {"a": 1}', BodyKind.DOCUMENT), (b"<!doctype html>", BodyKind.WEB_PAGE)):
        parser = SseParser()
        assert parser.feed(body) == []
        assert parser.kind is kind


def test_a_line_of_ten_megabytes_is_parsed_in_linear_time():
    big = b"data: " + b"x" * 10_000_000 + b"\n\n"
    chunks = [big[start : start + 16_384] for start in range(0, len(big), 16_384)]
    assert [len(data) for data in data_of(*chunks)] == [10_000_000]
