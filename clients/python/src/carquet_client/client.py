"""The client: one method for each operation of the document, all through one `httpx.Client`."""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from types import TracebackType
from typing import Any, Self, Unpack

import httpx

from .errors import error_of, json_of
from .exports import Export, ExportFormat, Statements
from .models import (
    ChangeCollection,
    ComparablesEnvelope,
    DealerEnvelope,
    DealerSummary,
    EvidenceEnvelope,
    ExportListingsQuery,
    FacetEnvelope,
    FindComparablesQuery,
    FindFittingDealersQuery,
    FindFittingModelsQuery,
    FittingDealersEnvelope,
    FittingModelsEnvelope,
    GetDepreciationQuery,
    GetEvidenceQuery,
    GetFacetsQuery,
    GetGroupsQuery,
    GetListingComparablesQuery,
    GetListingQuery,
    GetTrendsQuery,
    GetUsageQuery,
    GetVinQuery,
    GroupEnvelope,
    InterpretQuestionQuery,
    InterpretationEnvelope,
    ListChangesQuery,
    ListingDetailEnvelope,
    ListingSummary,
    ModelPricesEnvelope,
    OpenApiDocument,
    SearchCollection,
    SearchDealerListingsQuery,
    SearchDealersQuery,
    SearchEnvelope,
    SearchListingsQuery,
    SuggestFiltersQuery,
    SuggestionCollection,
    TrendEnvelope,
    UsageEnvelope,
    ValuationCollection,
    ValueVehiclesQuery,
    VinEnvelope,
)
from .operations import IDEMPOTENT_PATHS
from .pages import Pages
from .query import path_segment, query_string
from .responses import ResponseInfo, info_of
from .retries import RetrySettings, send_with_retries

_PAGE_SIZE = 100
"""The most items of a page, because a page is priced, not an item."""

_IDEMPOTENT_PATH = re.compile("|".join(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) for path in IDEMPOTENT_PATHS))


class Client:
    """
    A client of one service with one API key. Every method raises a `CarquetError` for a response that is an error, and an `httpx.RequestError`
    if there is no response. Threads can share a client.

    - `retries`: how often a request is repeated at most; 0 for never.
    - `longest_wait_seconds`: the longest wait before a retry. A response that demands a longer one is an error at once.
    - `timeout_seconds`: how long the service may send nothing. Exports, which have a longer deadline, wait without a limit.
    - `transport`: sends requests; name one to use a proxy or other certificates.
    - `on_response`: called with what the headers of each response say; responses before a retry are left out.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        retries: int = 3,
        longest_wait_seconds: float = 60.0,
        timeout_seconds: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        on_response: Callable[[ResponseInfo], None] | None = None,
    ) -> None:
        if not re.match(r"https?://[^/?#]", url):
            raise ValueError(f'Invalid value "{url}" for url: expected an address such as https://cars.example.')
        if not re.fullmatch("[!-~]+", api_key):
            raise ValueError("Invalid api_key: expected letters, digits and punctuation of ASCII.")
        self._url = url.rstrip("/")
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {api_key}"}, timeout=timeout_seconds, transport=transport
        )
        self._timeout_seconds = timeout_seconds
        self._retries = RetrySettings(retries, longest_wait_seconds)
        self._on_response = on_response
        self._lock = threading.Lock()
        self._cost_micros = 0
        self._last_response: ResponseInfo | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections to the service."""
        self._http.close()

    @property
    def last_response(self) -> ResponseInfo | None:
        """What the headers of the newest response say: its cost, the rate limits, the version of the data."""
        return self._last_response

    @property
    def cost_micros(self) -> int:
        """What all responses to this client were charged together, in millionths of a US dollar."""
        return self._cost_micros

    def listings(self, *, items_max: int | None = None, **query: Unpack[SearchListingsQuery]) -> Pages[ListingSummary]:
        """Searches listings. Pages have 100 listings unless `limit` says otherwise."""
        return self._paged("/v1/listings", query, items_max)

    def dealers(self, *, items_max: int | None = None, **query: Unpack[SearchDealersQuery]) -> Pages[DealerSummary]:
        """Searches dealers."""
        return self._paged("/v1/dealers", query, items_max)

    def dealer_listings(
        self, dealer_id: str, *, items_max: int | None = None, **query: Unpack[SearchDealerListingsQuery]
    ) -> Pages[ListingSummary]:
        """Searches the inventory of one dealer."""
        return self._paged(f"/v1/dealers/{path_segment(dealer_id)}/listings", query, items_max)

    def listing(
        self, listing_id: str, *, idempotency_key: str | None = None, **query: Unpack[GetListingQuery]
    ) -> ListingDetailEnvelope:
        """Retrieves a listing by its id."""
        body: ListingDetailEnvelope = self._json(f"/v1/listings/{path_segment(listing_id)}", query, idempotency_key)
        return body

    def vin(self, vin: str, *, idempotency_key: str | None = None, **query: Unpack[GetVinQuery]) -> VinEnvelope:
        """Retrieves a vehicle by its VIN, in any state."""
        body: VinEnvelope = self._json(f"/v1/vins/{path_segment(vin)}", query, idempotency_key)
        return body

    def evidence(
        self, vin: str, *, idempotency_key: str | None = None, **query: Unpack[GetEvidenceQuery]
    ) -> EvidenceEnvelope:
        """Explains the history of a VIN: what feeds stated, and by which rules it was attributed, missing or sold."""
        body: EvidenceEnvelope = self._json(f"/v1/vins/{path_segment(vin)}/evidence", query, idempotency_key)
        return body

    def fitting_dealers(
        self, vin: str, *, idempotency_key: str | None = None, **query: Unpack[FindFittingDealersQuery]
    ) -> FittingDealersEnvelope:
        """Returns the dealers within a distance that sell vehicles like one fastest."""
        body: FittingDealersEnvelope = self._json(f"/v1/vins/{path_segment(vin)}/dealer-fit", query, idempotency_key)
        return body

    def fitting_models(
        self, dealer_id: str, *, idempotency_key: str | None = None, **query: Unpack[FindFittingModelsQuery]
    ) -> FittingModelsEnvelope:
        """Returns what a dealer sells, in the order of how much faster than the dealers around it."""
        path = f"/v1/dealers/{path_segment(dealer_id)}/fit"
        body: FittingModelsEnvelope = self._json(path, query, idempotency_key)
        return body

    def facets(self, *, idempotency_key: str | None = None, **query: Unpack[GetFacetsQuery]) -> FacetEnvelope:
        """Counts listings by attribute value, with metrics."""
        body: FacetEnvelope = self._json("/v1/facets", query, idempotency_key)
        return body

    def groups(self, *, idempotency_key: str | None = None, **query: Unpack[GetGroupsQuery]) -> GroupEnvelope:
        """Counts and measures the combinations of the values of up to three attributes."""
        body: GroupEnvelope = self._json("/v1/groups", query, idempotency_key)
        return body

    def suggestions(
        self, *, idempotency_key: str | None = None, **query: Unpack[SuggestFiltersQuery]
    ) -> SuggestionCollection:
        """Returns what a text begins to name, with the filters that it becomes."""
        body: SuggestionCollection = self._json("/v1/suggest", query, idempotency_key)
        return body

    def comparables_of(
        self, listing_id: str, *, idempotency_key: str | None = None, **query: Unpack[GetListingComparablesQuery]
    ) -> ComparablesEnvelope:
        """Returns the value of a listing and the listings most like it."""
        path = f"/v1/listings/{path_segment(listing_id)}/comparables"
        body: ComparablesEnvelope = self._json(path, query, idempotency_key)
        return body

    def comparables(
        self, *, idempotency_key: str | None = None, **query: Unpack[FindComparablesQuery]
    ) -> ComparablesEnvelope:
        """Returns the value of a vehicle and the listings most like it."""
        body: ComparablesEnvelope = self._json("/v1/comparables", query, idempotency_key)
        return body

    def valuations(
        self, *, idempotency_key: str | None = None, **query: Unpack[ValueVehiclesQuery]
    ) -> ValuationCollection:
        """Returns the values of up to 100 vehicles."""
        body: ValuationCollection = self._json("/v1/valuations", query, idempotency_key)
        return body

    def depreciation(
        self, *, idempotency_key: str | None = None, **query: Unpack[GetDepreciationQuery]
    ) -> ModelPricesEnvelope:
        """Returns the prices of a model by age or miles, with a fitted curve."""
        body: ModelPricesEnvelope = self._json("/v1/depreciation", query, idempotency_key)
        return body

    def changes(self, **query: Unpack[ListChangesQuery]) -> Iterator[ChangeCollection]:
        """Yields the pages of what has changed since an older version. Their `meta.data_version` is the next `since`, once all have been applied."""
        cursor: str | None = query.get("cursor")
        while True:
            body: ChangeCollection = self._json("/v1/changes", query if cursor is None else {**query, "cursor": cursor}, None)
            yield body
            cursor = body["pagination"]["next_cursor"]
            if cursor is None:
                return

    def interpretation(
        self, *, idempotency_key: str | None = None, **query: Unpack[InterpretQuestionQuery]
    ) -> InterpretationEnvelope:
        """Returns the filters that the words of a question stand for."""
        body: InterpretationEnvelope = self._json("/v1/interpret", query, idempotency_key)
        return body

    def trends(self, *, idempotency_key: str | None = None, **query: Unpack[GetTrendsQuery]) -> TrendEnvelope:
        """Returns counts, prices and sales over time."""
        body: TrendEnvelope = self._json("/v1/trends", query, idempotency_key)
        return body

    def dealer(self, dealer_id: str, *, idempotency_key: str | None = None) -> DealerEnvelope:
        """Retrieves a dealer."""
        body: DealerEnvelope = self._json(f"/v1/dealers/{path_segment(dealer_id)}", {}, idempotency_key)
        return body

    def usage(self, **query: Unpack[GetUsageQuery]) -> UsageEnvelope:
        """Returns the requests and charges of the account."""
        body: UsageEnvelope = self._json("/v1/usage", query)
        return body

    def sql(self, sql: str, **params: str | float | bool | None) -> Statements:
        """
        Returns SQL over the published version, if the service allows it, which runs when its result is read or saved: that of the last statement.
        `params` are the values of `$name`.
        """

        key = str(uuid.uuid4())

        @contextmanager
        def run(format: str) -> Iterator[httpx.Response]:
            address, query = self._url + "/v1/sql", {"format": format}
            headers = {"Idempotency-Key": f"{key}-{format}"}
            request = self._http.build_request("POST", address, params=query, headers=headers, json={"sql": sql, "params": params})
            request.extensions["timeout"] = httpx.Timeout(self._timeout_seconds, read=None).as_dict()
            with closing(self._send(request, is_stream=True)) as response:
                yield response

        return Statements(run)

    def searches(self) -> SearchCollection:
        """Returns the saved searches of the account."""
        body: SearchCollection = self._json("/v1/searches", {})
        return body

    def save_search(self, name: str, query: str = "", *, webhook_url: str | None = None) -> SearchEnvelope:
        """Saves a search, whose changes are posted to its webhook. The answer alone has the secret that signs the messages."""
        search = {"name": name, "query": query, **({} if webhook_url is None else {"webhook_url": webhook_url})}
        request = self._http.build_request("POST", self._url + "/v1/searches", json=search)
        body: SearchEnvelope = json_of(self._send(request))
        return body

    def resume_search(self, search_id: str) -> SearchEnvelope:
        """Starts the stopped messages of a saved search again."""
        path = f"/v1/searches/{path_segment(search_id)}/resume"
        body: SearchEnvelope = json_of(self._send(self._http.build_request("POST", self._url + path)))
        return body

    def rotate_search_secret(self, search_id: str) -> SearchEnvelope:
        """Replaces the secret of a saved search; for 24 hours, messages have a signature with the old one too."""
        path = f"/v1/searches/{path_segment(search_id)}/rotate"
        body: SearchEnvelope = json_of(self._send(self._http.build_request("POST", self._url + path)))
        return body

    def delete_search(self, search_id: str) -> SearchEnvelope:
        """Deletes a saved search."""
        path = f"/v1/searches/{path_segment(search_id)}"
        body: SearchEnvelope = json_of(self._send(self._http.build_request("DELETE", self._url + path)))
        return body

    def document(self) -> OpenApiDocument:
        """Returns the OpenAPI document of the service."""
        body: OpenApiDocument = self._json("/v1/openapi.json", {})
        return body

    def export(self, **query: Unpack[ExportListingsQuery]) -> Export:
        """Returns all listings of a search as one file, which is requested when it is saved or read."""

        @contextmanager
        def download(format: ExportFormat) -> Iterator[httpx.Response]:
            request = self._request("/v1/exports", {**query, "format": format}, {})
            request.extensions["timeout"] = httpx.Timeout(self._timeout_seconds, read=None).as_dict()
            with closing(self._send(request, is_stream=True)) as response:
                yield response

        return Export(download)

    def get(
        self, path: str, query: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """
        Requests a path such as `/v1/facets`, for other formats and for headers. A 304, which answers `If-None-Match`, is not an error.
        """
        return self._send(self._request(path, query or {}, headers or {}))

    def _request(self, path: str, query: Mapping[str, object], headers: Mapping[str, str]) -> httpx.Request:
        encoded = query_string(query)
        request = self._http.build_request("GET", f"{self._url}{path}{'?' if encoded else ''}{encoded}", headers=dict(headers))
        if _IDEMPOTENT_PATH.fullmatch(path) and "Idempotency-Key" not in request.headers:
            request.headers["Idempotency-Key"] = str(uuid.uuid4())
        return request

    def _send(self, request: httpx.Request, *, is_stream: bool = False) -> httpx.Response:
        """Returns the response to a request. Raises a CarquetError if it is an error."""
        response = send_with_retries(self._http, request, self._retries, is_stream=is_stream)
        info = info_of(response)
        with self._lock:
            self._last_response = info
            self._cost_micros += info.cost_micros
        if self._on_response is not None:
            self._on_response(info)
        if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
            return response
        response.read()
        raise error_of(response)

    def _json(self, path: str, query: Mapping[str, object], idempotency_key: str | None = None) -> Any:
        return json_of(self.get(path, query, {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}))

    def _paged(self, path: str, query: Mapping[str, Any], items_max: int | None) -> Pages[Any]:
        """Returns the pages of a search, from `cursor` or `offset` of the query on."""
        limit, offset, cursor = query.get("limit"), query.get("offset"), query.get("cursor")

        def load(at: int | str) -> Any:
            position = {"cursor": at} if isinstance(at, str) else {"offset": at}
            return self._json(path, {**query, "limit": _PAGE_SIZE if limit is None else limit, **position})

        return Pages(load, cursor if cursor is not None else 0 if offset is None else offset, items_max)
