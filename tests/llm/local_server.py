"""Fake local model servers: model lists and chat completions."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def serve_json(
    answers: Mapping[str, Any], *, text: str = "ok", keys: list[str] | None = None, status: int = 200
) -> Iterator[str]:
    """Yield the address of a server that returns JSON for each path, and `text` for chat completions.

    `status` is that of its responses to GET.

    API keys that it receives are appended to `keys`.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(answers.get(self.path), status=status)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v1/chat/completions":
                model_names = [model["id"] for model in answers.get("/v1/models", {}).get("data", [])]
                if model_names and body["model"] not in model_names:
                    message = f"model {body['model']} not found"
                    self._reply({"error": {"message": message, "code": "model_not_found"}}, status=404)
                else:
                    self._stream()
            else:
                by_model = answers.get(self.path)
                self._reply(by_model.get(body.get("model")) if by_model else None)

        def _reply(self, answer: Any, *, status: int = 200) -> None:
            if keys is not None and (key := self.headers["Authorization"]):
                keys.append(key)
            body = json.dumps(answer if answer is not None else {"error": "not found"}).encode()
            self.send_response(status if answer is not None else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for delta, reason in (({"role": "assistant", "content": text}, None), ({}, "stop")):
                choice = {"index": 0, "delta": delta, "finish_reason": reason}
                chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None:
            """Don't log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def model_list(*names: str, **more: Any) -> dict[str, Any]:
    """Return a response to `GET /v1/models`."""
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}
