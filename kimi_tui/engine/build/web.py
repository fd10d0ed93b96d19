"""Web services of an agent, built from the settings."""

import os
from collections.abc import Mapping

from kimi_tui.config.settings import Settings, WebSettings
from kimi_tui.tools.web.moonshot_search import MoonshotSearch
from kimi_tui.tools.web.page_fetcher import PageFetcher
from kimi_tui.tools.web.public_address import AddressFilter, AnyAddressFilter
from kimi_tui.tools.web.public_search import PublicSearch
from kimi_tui.tools.web.search import SearchService


def build_fetcher(web: WebSettings) -> PageFetcher:
    """Return the page fetcher."""
    return PageFetcher(AnyAddressFilter() if web.allow_private_addresses else AddressFilter())


def build_search_service(settings: Settings, *, environ: Mapping[str, str] = os.environ) -> SearchService:
    """Return Moonshot's search service if the settings have a key for it, else public search engines."""
    service = settings.services.moonshot_search
    if service is None:
        return PublicSearch()
    key = service.api_key.get_secret_value()
    if key.startswith("env:"):
        key = environ.get(key.removeprefix("env:"), "")
    if not key.strip():
        return PublicSearch()
    return MoonshotSearch(base_url=service.base_url, api_key=key.strip(), headers=service.custom_headers)
