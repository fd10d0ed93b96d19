"""What an agent reaches the web with, as the settings say."""

import os
from collections.abc import Mapping

from kimi_tui.config.settings import Settings, Web
from kimi_tui.tools.web.engines import PublicEngines
from kimi_tui.tools.web.fetcher import Fetcher
from kimi_tui.tools.web.moonshot import MoonshotSearch
from kimi_tui.tools.web.search import SearchService


def new_fetcher(web: Web) -> Fetcher:
    """What fetches pages."""
    return Fetcher(may_reach=lambda address: True) if web.allow_private_addresses else Fetcher()


def search_service(settings: Settings, *, environ: Mapping[str, str] = os.environ) -> SearchService:
    """Moonshot's service when the settings have a key for it, else public search engines."""
    service = settings.services.moonshot_search
    if service is None:
        return PublicEngines()
    key = service.api_key.get_secret_value()
    if key.startswith("env:"):
        key = environ.get(key.removeprefix("env:"), "")
    if not key.strip():
        return PublicEngines()
    return MoonshotSearch(base_url=service.base_url, api_key=key.strip(), headers=service.custom_headers)
