"""Errors of model connections: network, TLS, timeouts, and incomplete or invalid responses."""

import socket
import ssl
from collections.abc import Sequence

from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APITimeoutError,
    ChatProviderError,
    EmptyAtOutputLimit,
)
from kimi_tui.base.message_text import msg
from kimi_tui.llm.transport.endpoint import Endpoint


def transport_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that the HTTP client raises when a connection fails or breaks."""
    import anyio
    import httpx2

    return httpx2.HTTPError, httpx2.StreamError, anyio.EndOfStream, OSError


def connection_error(
    error: BaseException, endpoint: Endpoint, *, has_answered: bool = False
) -> ChatProviderError:
    """Return the error to raise for `error`, an exception of Anthropic's SDK, of httpx2 or of a socket.

    `has_answered`: whether the server has responded to an earlier request.
    """
    chain = _cause_chain(error)
    failure = _to_error(chain, endpoint)
    if has_answered and isinstance(failure, APIConnectionError) and _is_unreachable(chain):
        failure.dropped = True
    return failure


def _is_unreachable(chain: Sequence[BaseException]) -> bool:
    import httpx2

    connect_errors = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
    is_untrusted = any(isinstance(link, ssl.SSLCertVerificationError) for link in chain)
    return not is_untrusted and any(isinstance(link, connect_errors) for link in chain)


def _to_error(chain: Sequence[BaseException], endpoint: Endpoint) -> ChatProviderError:
    import httpx2

    for link in chain:
        match link:
            case httpx2.ProxyError():
                return APIConnectionError(
                    msg("The proxy refused the connection to {host}.", host=endpoint.host),
                    hint="Check HTTPS_PROXY and NO_PROXY.",
                )
            case httpx2.ConnectTimeout() | httpx2.ConnectError() if proxy := proxy_of(endpoint):
                return _proxy_error(chain, endpoint, proxy)
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return APITimeoutError(
                    msg("The connection to {host} timed out.", host=endpoint.host),
                    hint="Check the network connection and base_url.",
                )
            case httpx2.TimeoutException():
                return timeout_error(endpoint)
            case httpx2.ConnectError():
                return _unreachable_error(chain, endpoint)
            case httpx2.LocalProtocolError():
                return ChatProviderError(
                    msg("The request to {host} isn't valid HTTP.", host=endpoint.host),
                    hint="Check the provider's api_key and custom_headers.",
                )
            case _:
                continue
    return truncated_response(endpoint)


def proxy_of(endpoint: Endpoint) -> str:
    """Return the address of the proxy that the environment sets for the server; empty without one."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    url = urlsplit(endpoint.base_url)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all") or ""
    if not proxy or proxy_bypass(url.hostname or ""):
        return ""
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _proxy_error(chain: Sequence[BaseException], endpoint: Endpoint, proxy: str) -> APIConnectionError:
    for cause in chain:
        match cause:
            case ssl.SSLError():
                return _unreachable_error(chain, endpoint)  # the tunnel is up, so the server was reached
            case socket.gaierror():
                reason = msg("its host name can't be resolved")
                break
            case ConnectionRefusedError():
                reason = msg("connection refused")
                break
            case _:
                continue
    else:
        reason = msg("no response")
    return APIConnectionError(
        msg(
            "Can't connect to the proxy {proxy} for {host}: {reason}.",
            proxy=proxy,
            host=endpoint.host,
            reason=reason,
        ),
        hint="Check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY in the environment.",
    )


def _unreachable_error(chain: Sequence[BaseException], endpoint: Endpoint) -> APIConnectionError:
    for cause in chain:
        match cause:
            case ssl.SSLCertVerificationError():
                why = endpoint.redact(cause.verify_message)
                return APIConnectionError(
                    msg("The certificate of {host} isn't trusted: {reason}.", host=endpoint.host, reason=why),
                    hint="Behind a company proxy, set SSL_CERT_FILE to the proxy's certificate file.",
                )
            case ssl.SSLError():
                return APIConnectionError(
                    msg("Can't establish an encrypted connection to {host}.", host=endpoint.host),
                    hint="If the server uses plain HTTP, start base_url with http://.",
                )
            case socket.gaierror():
                return APIConnectionError(
                    msg("Can't resolve the host name of {host}.", host=endpoint.host),
                    hint="Check base_url and the network connection.",
                )
            case ConnectionRefusedError():
                advice = "Check base_url and the network connection."
                return APIConnectionError(
                    msg("Can't connect to {address}: connection refused.", address=endpoint.address),
                    hint="Start the server, or check base_url." if endpoint.is_local else advice,
                )
            case _:
                continue
    return APIConnectionError(
        msg("Can't connect to {host}.", host=endpoint.host), hint="Check the network connection and base_url."
    )


def timeout_error(endpoint: Endpoint) -> APITimeoutError:
    """Return the error for a stream that sent no data within the idle timeout."""
    return APITimeoutError(
        msg("The response from {host} timed out.", host=endpoint.host),
        hint="Try again. If the model is slow, raise the provider's idle_timeout_s.",
    )


def truncated_response(endpoint: Endpoint) -> APIConnectionError:
    """Return the error for a connection or response that ended before the response was complete."""
    return APIConnectionError(
        msg("The response from {host} was cut off.", host=endpoint.host),
        hint="Try again. If this keeps happening, check the network connection.",
    )


def malformed_response(endpoint: Endpoint, text: str) -> APIConnectionError:
    """Return the error for data that isn't part of a valid response."""
    return APIConnectionError(
        msg(
            "{host} sent an invalid response: {response}",
            host=endpoint.host,
            response=endpoint.redact(text[:80]),
        ),
        hint="Try again. If this keeps happening, check base_url and the server's log.",
    )


def response_too_long(endpoint: Endpoint, max_bytes: int) -> ChatProviderError:
    """Return the error for a stream that exceeds `max_bytes` without completing an event."""
    return ChatProviderError(
        msg(
            "{host} sent more than {megabytes:,} MB without completing an event.",
            host=endpoint.host,
            megabytes=max_bytes // 1000000,
        ),
        hint="Check base_url. It may not be a model server, or the server is broken.",
    )


def empty_response(endpoint: Endpoint, *, at_limit: bool = False) -> APIEmptyResponseError:
    """Return the error for a response without content. `at_limit`: whether it reached the output limit."""
    if at_limit:
        return EmptyAtOutputLimit(
            msg("{model} reached its output limit without any output.", model=endpoint.model),
            hint="Raise the model's max_output_tokens, lower its thinking level, or run /compact.",
        )
    return APIEmptyResponseError(
        msg("{model} at {host} sent an empty response.", model=endpoint.model, host=endpoint.host),
        hint="The conversation may be too long for the model. Try /compact.",
    )


def web_page_response(endpoint: Endpoint) -> ChatProviderError:
    """Return the error for an HTML response, from a captive portal or a website's base URL."""
    return ChatProviderError(
        msg("{address} sent a web page instead of a response.", address=endpoint.address),
        hint="Check base_url. For most servers it ends in /v1.",
    )


def response_declined(endpoint: Endpoint) -> ChatProviderError:
    """Return the error for a response that the model or a content filter declined."""
    return ChatProviderError(
        msg("{model} declined to respond.", model=endpoint.model),
        hint="Rephrase your prompt, or revert to an earlier checkpoint.",
    )


def _cause_chain(error: BaseException) -> Sequence[BaseException]:
    """Return `error` and its causes, nearest first."""
    chain: list[BaseException] = []
    queue: list[BaseException | None] = [error]
    while queue:
        current = queue.pop(0)
        if current is None or current in chain:
            continue
        chain.append(current)
        queue += (current.__cause__, current.__context__)
        if isinstance(current, BaseExceptionGroup):
            queue += current.exceptions
    return chain
