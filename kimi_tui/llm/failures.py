"""Failures on the way to a model: connections, certificates, time-outs and answers that break off."""

import socket
import ssl
from collections.abc import Sequence

from kimi_tui.base.errors import APIConnectionError, APIEmptyResponseError, APITimeoutError, ChatProviderError
from kimi_tui.llm.endpoint import Endpoint


def transport_errors() -> tuple[type[Exception], ...]:
    """What the SDKs' HTTP client raises when a connection fails or breaks."""
    import anyio
    import httpx2

    return httpx2.HTTPError, httpx2.StreamError, anyio.EndOfStream, OSError


def connection_failure(
    error: BaseException, endpoint: Endpoint, *, answered: bool = False
) -> ChatProviderError:
    """The error to raise for `error`, an exception of an SDK, of httpx2 or of a socket.

    `answered` is whether the server has answered before.
    """
    chain = _chain(error)
    failure = _failure(chain, endpoint)
    if answered and isinstance(failure, APIConnectionError) and _is_unreached(chain):
        failure.dropped = True
    return failure


def _is_unreached(chain: Sequence[BaseException]) -> bool:
    import httpx2

    unreached = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
    distrusted = any(isinstance(link, ssl.SSLCertVerificationError) for link in chain)
    return not distrusted and any(isinstance(link, unreached) for link in chain)


def _failure(chain: Sequence[BaseException], endpoint: Endpoint) -> ChatProviderError:
    import httpx2

    for link in chain:
        match link:
            case httpx2.ProxyError():
                return APIConnectionError(
                    f"The proxy on the way to {endpoint.host} refused.",
                    hint="Check HTTPS_PROXY and NO_PROXY.",
                )
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return APITimeoutError(
                    f"No connection to {endpoint.host} came about in time.",
                    hint="Check the network connection, and base_url.",
                )
            case httpx2.TimeoutException():
                return silence(endpoint)
            case httpx2.ConnectError():
                return _unreachable(chain, endpoint)
            case httpx2.LocalProtocolError():
                return ChatProviderError(
                    f"The request to {endpoint.host} can't be sent as it is.",
                    hint="Check the provider's api_key and custom_headers.",
                )
            case _:
                continue
    return broken_off(endpoint)


def _unreachable(chain: Sequence[BaseException], endpoint: Endpoint) -> APIConnectionError:
    for cause in chain:
        match cause:
            case ssl.SSLCertVerificationError():
                why = endpoint.quote(cause.verify_message)
                return APIConnectionError(
                    f"The certificate of {endpoint.host} can't be trusted: {why}.",
                    hint="Behind a company proxy, let SSL_CERT_FILE name the file of its certificate.",
                )
            case ssl.SSLError():
                return APIConnectionError(
                    f"No encrypted connection to {endpoint.host} could be made.",
                    hint="If the server speaks plain HTTP, let base_url begin with http://.",
                )
            case socket.gaierror():
                return APIConnectionError(
                    f"The address of {endpoint.host} can't be found.",
                    hint="Check base_url and the network connection.",
                )
            case ConnectionRefusedError():
                advice = "Check base_url and the network connection."
                return APIConnectionError(
                    f"Nothing answers at {endpoint.address}: the connection was refused.",
                    hint="Start the server, or check base_url." if endpoint.is_local else advice,
                )
            case _:
                continue
    return APIConnectionError(
        f"No connection to {endpoint.host} could be made.", hint="Check the network connection, and base_url."
    )


def silence(endpoint: Endpoint) -> APITimeoutError:
    """Not a byte came for the idle time-out."""
    return APITimeoutError(
        f"{endpoint.host} fell silent and the wait was given up.",
        hint="Try again; for a slow model raise the provider's idle_timeout_s.",
    )


def broken_off(endpoint: Endpoint) -> APIConnectionError:
    """The connection or the answer ended before the answer was whole."""
    return APIConnectionError(
        f"The answer of {endpoint.host} broke off.", hint="Try again; if it stays so, check the network."
    )


def garbled(endpoint: Endpoint, text: str) -> APIConnectionError:
    """The server sent something that is no part of an answer."""
    return APIConnectionError(
        f"{endpoint.host} sent an answer that can't be read: {endpoint.quote(text[:80])}",
        hint="Try again; if it stays so, check base_url and the server's log.",
    )


def endless(endpoint: Endpoint, most: int) -> ChatProviderError:
    """The server sends bytes without end that make no event."""
    return ChatProviderError(
        f"{endpoint.host} sent more than {most // 1_000_000:,} MB without an end to one event.",
        hint="Check base_url: what answers there is no model's server, or a broken one.",
    )


def empty_answer(endpoint: Endpoint, *, at_limit: bool = False) -> APIEmptyResponseError:
    """The answer is whole and holds nothing; `at_limit` is whether it ended at the limit of its output."""
    if at_limit:
        return APIEmptyResponseError(
            f"{endpoint.model} reached its output limit before it said a word.",
            hint="Raise max_output_tokens of the model, or /compact the conversation.",
        )
    return APIEmptyResponseError(
        f"{endpoint.model} at {endpoint.host} answered with nothing.",
        hint="Some servers do that when the conversation is too long for the model: try /compact.",
    )


def web_page(endpoint: Endpoint) -> ChatProviderError:
    """The server answered with HTML: a portal, or a base URL that is a web site's."""
    return ChatProviderError(
        f"{endpoint.address} answered with a web page instead of a model's answer.",
        hint="Check base_url: for most servers it ends in /v1.",
    )


def declined(endpoint: Endpoint) -> ChatProviderError:
    """The model, or a filter before it, would not answer."""
    return ChatProviderError(
        f"{endpoint.model} declined to answer this.",
        hint="Put it another way, or revert to an earlier step.",
    )


def _chain(error: BaseException) -> Sequence[BaseException]:
    """`error` and what it comes from, its nearest causes first."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop(0)
        if current is None or current in found:
            continue
        found.append(current)
        waiting += (current.__cause__, current.__context__)
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
    return found
