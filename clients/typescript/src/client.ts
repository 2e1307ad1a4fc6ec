/** The client: one method for each operation of the document, all through one openapi-fetch client. */
import createClient, { type Client } from "openapi-fetch";
import type { components, operations } from "./document.gen.ts";
import { CarquetError } from "./errors.ts";
import { idempotentPaths } from "./operations.gen.ts";
import { type PageOf, Pages, type PagingOptions } from "./pages.ts";
import { type PathsWithSingles, type SingleOrList, serializeQuery } from "./query-string.ts";
import { type RetrySettings, withRetries } from "./retries.ts";

export interface ClientSettings extends RetrySettings {
  /** The URL of the service, for example `https://cars.example`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Sends requests; the global `fetch` by default. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/** The query of an operation; methods return JSON, so it has no `format`. */
type QueryOf<Id extends keyof operations> = SingleOrList<
  Omit<NonNullable<operations[Id]["parameters"]["query"]>, "format">
>;

type Schemas = components["schemas"];

/** Parts of the results of openapi-fetch that have the same shape for all operations. */
interface Result<Body> {
  readonly data?: Body;
  readonly error?: unknown;
  readonly response: Response;
}

/** The most items of a page, because a page is priced, not an item. */
const pageSize = 100;

/**
 * A client of one service with one API key. Every method throws a `CarquetError` for a response that is an error, and what `fetch` throws
 * if there is no response.
 */
export class CarquetClient {
  /** The openapi-fetch client below the methods, for other formats and for headers: it retries too, but returns errors. */
  readonly http: Client<PathsWithSingles, "application/json">;

  constructor({ baseUrl, apiKey, fetch = (request) => globalThis.fetch(request), ...retrySettings }: ClientSettings) {
    this.http = createClient<PathsWithSingles, "application/json">({
      baseUrl,
      headers: { Authorization: `Bearer ${apiKey}` },
      querySerializer: serializeQuery,
      fetch: withRetries(fetch, retrySettings),
    });
    this.http.use({
      onRequest({ request, schemaPath }) {
        if (idempotentPaths.has(schemaPath) && !request.headers.has("Idempotency-Key"))
          request.headers.set("Idempotency-Key", crypto.randomUUID());
      },
      onResponse({ response, options }) {
        const isJson = /\bjson\b/i.test(response.headers.get("Content-Type") ?? "");
        if (response.ok && options.parseAs === "json" && !isJson) throw new CarquetError(response, undefined);
      },
    });
  }

  /** Searches listings. Pages have 100 listings unless `limit` says otherwise. */
  listings(
    query: QueryOf<"searchListings"> = {},
    options: PagingOptions = {},
  ): Pages<Listing, Schemas["ListingCollection"]> {
    return paged(query, options, (page, request) =>
      this.http.GET("/v1/listings", { params: { query: { ...query, ...page } }, ...request }),
    );
  }

  /** Searches dealers. */
  dealers(
    query: QueryOf<"searchDealers"> = {},
    options: PagingOptions = {},
  ): Pages<Dealer, Schemas["DealerCollection"]> {
    return paged(query, options, (page, request) =>
      this.http.GET("/v1/dealers", { params: { query: { ...query, ...page } }, ...request }),
    );
  }

  /** Searches the inventory of one dealer. */
  dealerListings(
    dealerId: string,
    query: QueryOf<"searchDealerListings"> = {},
    options: PagingOptions = {},
  ): Pages<Listing, Schemas["ListingCollection"]> {
    const path = { dealer_id: dealerId };
    return paged(query, options, (page, request) =>
      this.http.GET("/v1/dealers/{dealer_id}/listings", { params: { path, query: { ...query, ...page } }, ...request }),
    );
  }

  /** Retrieves a listing by its id. */
  async listing(id: string, query: QueryOf<"getListing"> = {}, options: RequestOptions = {}) {
    return bodyOf(
      await this.http.GET("/v1/listings/{listing_id}", { params: { path: { listing_id: id }, query }, ...options }),
    );
  }

  /** Retrieves a vehicle by its VIN, in any state. */
  async vin(vin: string, query: QueryOf<"getVin"> = {}, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/vins/{vin}", { params: { path: { vin }, query }, ...options }));
  }

  /** Explains the history of a VIN: what feeds stated, and by which rules it was attributed, missing or sold. */
  async evidence(vin: string, query: QueryOf<"getEvidence"> = {}, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/vins/{vin}/evidence", { params: { path: { vin }, query }, ...options }));
  }

  /** Returns the dealers within a distance that sell vehicles like one fastest. */
  async fittingDealers(vin: string, query: QueryOf<"findFittingDealers"> = {}, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/vins/{vin}/dealer-fit", { params: { path: { vin }, query }, ...options }));
  }

  /** Returns what a dealer sells, in the order of how much faster than the dealers around it. */
  async fittingModels(dealer_id: string, query: QueryOf<"findFittingModels"> = {}, options: RequestOptions = {}) {
    const params = { path: { dealer_id }, query };
    return bodyOf(await this.http.GET("/v1/dealers/{dealer_id}/fit", { params, ...options }));
  }

  /** Counts listings by attribute value, with metrics. */
  async facets(query: QueryOf<"getFacets">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/facets", { params: { query }, ...options }));
  }

  /** Counts and measures the combinations of the values of up to three attributes. */
  async groups(query: QueryOf<"getGroups">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/groups", { params: { query }, ...options }));
  }

  /** Returns what a text begins to name, with the filters that it becomes. */
  async suggestions(query: QueryOf<"suggestFilters">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/suggest", { params: { query }, ...options }));
  }

  /** Returns the value of a listing and the listings most like it. */
  async comparablesOf(listing_id: string, query: QueryOf<"getListingComparables"> = {}, options: RequestOptions = {}) {
    const params = { path: { listing_id }, query };
    return bodyOf(await this.http.GET("/v1/listings/{listing_id}/comparables", { params, ...options }));
  }

  /** Returns the value of a vehicle and the listings most like it. */
  async comparables(query: QueryOf<"findComparables">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/comparables", { params: { query }, ...options }));
  }

  /** Returns the values of up to 100 vehicles. */
  async valuations(query: QueryOf<"valueVehicles">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/valuations", { params: { query }, ...options }));
  }

  /** Returns the prices of a model by age or miles, with a fitted curve. */
  async depreciation(query: QueryOf<"getDepreciation">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/depreciation", { params: { query }, ...options }));
  }

  /** Returns the pages of what has changed since an older version. `meta.data_version` of any page is the next `since`, once all have been applied. */
  async *changes(
    query: QueryOf<"listChanges">,
    options: RequestOptions = {},
  ): AsyncGenerator<Schemas["ChangeCollection"], void, undefined> {
    for (let cursor = query.cursor ?? null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const params = { query: cursor === null ? query : { ...query, cursor } };
      const page: Schemas["ChangeCollection"] = bodyOf(await this.http.GET("/v1/changes", { params, ...options }));
      yield page;
      cursor = page.pagination.next_cursor;
    }
  }

  /** Returns the filters that the words of a question stand for. */
  async interpretation(query: QueryOf<"interpretQuestion">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/interpret", { params: { query }, ...options }));
  }

  /** Returns counts, prices and sales over time. */
  async trends(query: QueryOf<"getTrends">, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/trends", { params: { query }, ...options }));
  }

  /** Retrieves a dealer. */
  async dealer(id: string, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/dealers/{dealer_id}", { params: { path: { dealer_id: id } }, ...options }));
  }

  /** Returns the requests and charges of the account. */
  async usage(query: QueryOf<"getUsage"> = {}, options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/usage", { params: { query }, ...options }));
  }

  /** Runs SQL over the published version, if the service allows it; returns the rows of the last statement. `params` are the values of `$name`. */
  async sql(sql: string, params: SqlParameters = {}, options: RequestOptions = {}) {
    return bodyOf(await this.http.POST("/v1/sql", { body: { sql, params }, ...options }));
  }

  /** Returns the saved searches of the account. */
  async searches(options: RequestOptions = {}) {
    return bodyOf(await this.http.GET("/v1/searches", { ...options }));
  }

  /** Saves a search, whose changes are posted to its webhook. The answer alone has the secret that signs the messages. */
  async saveSearch(
    search: operations["createSearch"]["requestBody"]["content"]["application/json"],
    options: RequestOptions = {},
  ) {
    return bodyOf(await this.http.POST("/v1/searches", { body: search, ...options }));
  }

  /** Starts the stopped messages of a saved search again. */
  async resumeSearch(search_id: string, options: RequestOptions = {}) {
    return bodyOf(
      await this.http.POST("/v1/searches/{search_id}/resume", { params: { path: { search_id } }, ...options }),
    );
  }

  /** Replaces the secret of a saved search; for 24 hours, messages have a signature with the old one too. */
  async rotateSearchSecret(search_id: string, options: RequestOptions = {}) {
    return bodyOf(
      await this.http.POST("/v1/searches/{search_id}/rotate", { params: { path: { search_id } }, ...options }),
    );
  }

  async deleteSearch(search_id: string, options: RequestOptions = {}) {
    return bodyOf(await this.http.DELETE("/v1/searches/{search_id}", { params: { path: { search_id } }, ...options }));
  }

  /** Returns all listings of a search as one file: a response whose body is a stream. It may be cut off: compare `Content-Length`. */
  async exportListings(
    query: SingleOrList<NonNullable<operations["exportListings"]["parameters"]["query"]>>,
    options: RequestOptions = {},
  ): Promise<Response> {
    const result = await this.http.GET("/v1/exports", { params: { query }, parseAs: "stream", ...options });
    if (!result.response.ok) throw new CarquetError(result.response, result.error);
    return result.response;
  }
}

type SqlParameters = Readonly<Record<string, string | number | boolean | null>>;
type Listing = Schemas["ListingCollection"]["data"][number];
type Dealer = Schemas["DealerCollection"]["data"][number];

interface PageRequest {
  readonly limit?: number;
  readonly offset?: number;
  readonly cursor?: string;
}

/** Returns the pages that `request` returns, from `cursor` or `offset` of the query on. */
function paged<Item, Page extends PageOf<Item>>(
  { limit = pageSize, offset = 0, cursor }: PageRequest,
  { itemsMax, ...options }: PagingOptions,
  request: (page: PageRequest, options: RequestOptions) => Promise<Result<Page>>,
): Pages<Item, Page> {
  const load = async (at: number | string): Promise<Page> =>
    bodyOf(await request({ limit, ...(typeof at === "string" ? { cursor: at } : { offset: at }) }, options));
  return new Pages(load, cursor ?? offset, itemsMax);
}

/** Returns the body of a response; throws a CarquetError if it is an error. */
function bodyOf<Body>({ data, error, response }: Result<Body>): Body {
  if (!response.ok || data === undefined) throw new CarquetError(response, error);
  return data;
}
