"""Minimal reader of a model's stream: `python -m benchmarks.baselines.sse_reader URL REQUESTS`."""

import json
import sys

import httpx


def main(url: str, requests: int) -> None:
    """Send `requests` requests and print each response."""
    with httpx.Client() as client:
        for _ in range(requests):
            with client.stream(
                "POST", f"{url}/chat/completions", json={"messages": [], "stream": True}
            ) as response:
                for line in response.iter_lines():
                    if line.startswith("data: ") and line != "data: [DONE]":
                        choices = json.loads(line[6:])["choices"]
                        if choices and (text := choices[0]["delta"].get("content")):
                            sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
