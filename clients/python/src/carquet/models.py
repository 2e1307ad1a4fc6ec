"""The types of queries and responses. Generated from schemas/openapi.yaml."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Literal, NotRequired, Required, TypeAlias, TypedDict

Sort: TypeAlias = Literal["days_on_market", "-days_on_market", "listed_at", "-listed_at", "price", "-price", "miles", "-miles", "msrp", "-msrp", "discount", "-discount", "value", "-value", "price_drop", "-price_drop", "all_in_price", "-all_in_price", "distance"]

Fields: TypeAlias = Literal["default", "id", "vin", "year", "make", "model", "trim", "version", "body_type", "drivetrain", "fuel_type", "powertrain_type", "transmission", "engine", "cylinders", "doors", "seating_capacity", "exterior_color", "interior_color", "base_exterior_color", "base_interior_color", "msrp", "discount_from_msrp", "price", "miles", "days_on_market", "listed_at", "status", "inventory_status", "availability_status", "inventory_type", "stock_number", "vdp_url", "sold_date", "dealer_id", "dealer_name", "dealer_type", "city", "state", "postal_code", "latitude", "longitude", "distance_miles", "photo_urls", "features", "options_packages", "keywords", "market_value", "market_value_low", "market_value_high", "price_to_value", "value_step", "value_rating", "price_at_listing", "price_drop", "price_drop_percent", "price_drops", "price_changed_at", "seller_fees", "all_in_price"]

Include: TypeAlias = Literal["price_history", "options"]

Keywords: TypeAlias = Literal["one_owner", "clean_title", "branded", "fleet"]

InventoryType: TypeAlias = Literal["new", "used", "certified", "cpo"]

AvailabilityStatus: TypeAlias = Literal["stock", "transit", "build"]

ValueRating: TypeAlias = Literal["great", "good", "fair", "high"]

DealerType: TypeAlias = Literal["franchise", "independent"]

ExcludeKeywords: TypeAlias = Literal["one_owner", "clean_title", "branded", "fleet"]

ExcludeInventoryType: TypeAlias = Literal["new", "used", "certified", "cpo"]

InventoryStatus: TypeAlias = Literal["active", "sold"]

ValuedInventoryType: TypeAlias = Literal["new", "used", "certified"]

ValuedTitle: TypeAlias = Literal["clean", "branded"]

FollowedBy: TypeAlias = Literal["age", "miles"]

FacetNames: TypeAlias = Literal["make", "model", "inventory_type", "year", "trim", "version", "base_exterior_color", "exterior_color", "base_interior_color", "interior_color", "seating_capacity", "doors", "engine", "state", "drivetrain", "assembly_location", "assembly_country", "transmission", "fuel_type", "body_type", "cylinders", "dealer_type", "availability_status", "options_packages", "features", "keywords", "value_rating", "powertrain_type", "dealer_id", "price", "msrp", "miles", "days_on_market", "price_drop", "price_drops", "all_in_price"]

FacetMode: TypeAlias = Literal["conjunctive", "disjunctive"]

ChangeKinds: TypeAlias = Literal["new", "price", "changed", "returned", "missing", "sold", "ended", "removed"]

GroupBy: TypeAlias = Literal["make", "model", "inventory_type", "year", "trim", "version", "base_exterior_color", "exterior_color", "base_interior_color", "interior_color", "seating_capacity", "doors", "engine", "state", "drivetrain", "assembly_location", "assembly_country", "transmission", "fuel_type", "body_type", "cylinders", "dealer_type", "availability_status", "value_rating", "powertrain_type", "dealer_id"]

TrendInterval: TypeAlias = Literal["day", "week", "month", "quarter"]

TrendFacet: TypeAlias = Literal["make", "model", "inventory_type", "year", "trim", "version", "base_exterior_color", "exterior_color", "base_interior_color", "interior_color", "seating_capacity", "doors", "engine", "state", "drivetrain", "assembly_location", "assembly_country", "transmission", "fuel_type", "body_type", "cylinders", "dealer_type", "availability_status", "options_packages", "features", "keywords", "powertrain_type", "dealer_id"]

Type: TypeAlias = Literal["franchise", "independent"]

ExportFields: TypeAlias = Literal["default", "id", "vin", "year", "make", "model", "trim", "version", "body_type", "drivetrain", "fuel_type", "powertrain_type", "transmission", "engine", "cylinders", "doors", "seating_capacity", "exterior_color", "interior_color", "base_exterior_color", "base_interior_color", "msrp", "discount_from_msrp", "price", "miles", "days_on_market", "listed_at", "status", "inventory_status", "availability_status", "inventory_type", "stock_number", "vdp_url", "sold_date", "dealer_id", "dealer_name", "dealer_type", "city", "state", "postal_code", "latitude", "longitude", "distance_miles", "photo_urls", "features", "options_packages", "keywords", "market_value", "market_value_low", "market_value_high", "price_to_value", "value_step", "value_rating", "price_at_listing", "price_drop", "price_drop_percent", "price_drops", "price_changed_at", "seller_fees", "all_in_price", "model_code", "assembly_location", "assembly_country", "base_msrp", "window_sticker_verified", "vhr_url", "dealer_phone", "days_seen", "last_checked_at", "missing_since", "sold_on_record", "pricing"]

MeteringClass: TypeAlias = Literal["listing_search", "listing_search_historical", "listing_search_dealer_filtered", "listing_search_dealer_filtered_historical", "dealer_inventory_search", "dealer_inventory_search_historical", "listing_search_enriched", "facet_counts", "facet_counts_historical", "trend_series", "vehicle_detail", "vehicle_detail_enriched", "dealer_lookup", "suggestion", "comparables", "valuations", "depreciation", "listing_changes", "evidence", "dealer_fit", "listing_export", "listing_export_historical", "listing_export_enriched", "sql_statement"]

class Address(TypedDict):
    "A postal address. Unknown values are null."
    line1: str | None
    "The street address."
    city: str | None
    "The city."
    state: str | None
    "The state, as a two-letter code."
    postal_code: str | None
    "The postal code."
    country: str | None
    "The country."

class AmbiguousWords(TypedDict):
    "Words of a span that have further meanings."
    text: str
    "The words."
    start: int
    "Where they begin in the question, in UTF-16 code units."
    end: int
    "Where they end in the question, in UTF-16 code units."
    alternatives: list[Meaning]
    "The meanings that were not chosen."

BucketOrder: TypeAlias = Literal["-count", "count", "-metric", "metric"]
"The order of the values of a facet."

class Build(TypedDict):
    "The specification of a vehicle as built. Unknown values are null."
    year: int | None
    "The model year."
    make: str | None
    "The make, for example `Toyota`."
    model: str | None
    "The model, for example `Camry`."
    trim: str | None
    "The trim level."
    version: str | None
    "The version, a subdivision of the trim."
    body_type: str | None
    "The body type, for example `SUV`."
    drivetrain: str | None
    "The drivetrain, for example `AWD`."
    fuel_type: str | None
    "The fuel type."
    powertrain_type: str | None
    "The powertrain type, for example `HEV`."
    transmission: str | None
    "The transmission."
    engine: str | None
    "The engine, for example `2.5L I4`."
    cylinders: int | None
    "The number of cylinders; 0 for electric vehicles."
    doors: int | None
    "The number of doors."
    seating_capacity: int | None
    "The number of seats."
    exterior_color: str | None
    "The exterior color, as reported by the dealer."
    interior_color: str | None
    "The interior color, as reported by the dealer."
    base_exterior_color: str | None
    "The normalized exterior color."
    base_interior_color: str | None
    "The normalized interior color."
    assembly_location: str | None
    "The place of final assembly."
    window_sticker_verified: bool
    "Whether the specification was verified against the window sticker."
    base_msrp: int | None
    "The MSRP without options, in whole US dollars."
    combined_msrp: int | None
    "The MSRP with options, in whole US dollars."
    derived: dict[str, str]
    "The properties that the dealer's feed leaves unknown and that are derived, each with its source: `vin` is the pattern of the VIN, by NHTSA's vPIC. Empty if there are none. An extension."
    options: NotRequired[list[Option]]
    "The decoded options. Present if requested in `include`."

class ChangeCollection(TypedDict):
    "A page of changes."
    data: list[ListingChange]
    "The changes."
    pagination: ChangePagination
    meta: dict[str, object]
    "The versions that were compared. `data_version` is the next `since`."

class ChangePagination(TypedDict):
    "The position of a page."
    limit: int
    "The maximum number of changes on the page."
    next_cursor: str | None
    "The `cursor` of the next page. Null on the last page."

class CollectionMeta(TypedDict):
    "The data that the response was computed from."
    as_of: str
    "The as-of date: the day that the data describes."
    currency: str
    "The currency of all prices of the data, as an ISO 4217 code. An extension."
    data_version: str
    "The published version of the data."
    unmatched: NotRequired[UnmatchedValues]

class ComparableListing(TypedDict):
    "A listing that is like the vehicle."
    listing_id: str
    "The listing."
    vin: str
    "The VIN."
    status: Literal["active", "sold"]
    "Whether it is for sale or was sold."
    sold_date: str | None
    "The day of the sale."
    year: int | None
    "The model year."
    trim: str | None
    "The trim."
    version: str | None
    "The version."
    inventory_type: Literal["new", "used", "certified"] | None
    "The inventory type."
    miles: int | None
    "The odometer reading in miles."
    price: int
    "The price, or the last one before the sale, in US dollars."
    adjusted_price: int
    "What the price says about the vehicle: its value times the listing's price to the listing's fitted price."
    adjustment: int
    "`adjusted_price - price`: what differences in year, mileage, trim, options and place are worth."
    weight: float
    "How much it counts, from 0 to 1, rounded to 4 decimals."
    distance_miles: float | None
    "The distance between the dealers. Null without a place."
    dealer_name: str | None
    "The name of the dealer."
    city: str | None
    "The city of the dealer."
    state: str | None
    "The state of the dealer."

class Comparables(TypedDict):
    "A vehicle, its value, and the listings that are most like it."
    subject: ValuedSubject
    valuation: Valuation
    summary: dict[str, object] | None
    "What the up to 60 nearest listings say together. Null without a value, and for fewer than 5 of them."
    supply: dict[str, object]
    "The listings of the model and condition, at most 3 model years older or newer."
    comparables: list[ComparableListing]
    "The nearest listings, those with the greatest weight first."

class ComparablesEnvelope(TypedDict):
    "The value of a vehicle, its comparables, and their metadata."
    data: Comparables
    meta: dict[str, object]
    "The effective parameters of the request, and the data that the response was computed from."

class DayRange(TypedDict):
    "A range of days, both inclusive."
    start: str
    "The first day."
    end: str
    "The last day."

class DealerBrief(TypedDict):
    "The dealer that owns a listing. Unknown values are null."
    dealer_id: str
    "The ID of the dealer."
    name: str
    "The name of the dealer."
    city: str | None
    "The city of the dealer."
    state: str | None
    "The state of the dealer, as a two-letter code."
    postal_code: str | None
    "The postal code of the dealer."
    latitude: float | None
    "The latitude of the dealer, in degrees."
    longitude: float | None
    "The longitude of the dealer, in degrees."
    phone: str | None
    "The phone number of the dealer."

class DealerCollection(TypedDict):
    "A page of dealers."
    data: list[DealerSummary]
    "The dealers."
    pagination: Pagination
    meta: CollectionMeta

class DealerDetail(TypedDict):
    "The profile of a dealer, with phone and address. Unknown values are null."
    dealer_id: str
    "The ID of the dealer."
    name: str
    "The name of the dealer."
    city: str | None
    "The city of the dealer."
    state: str | None
    "The state of the dealer, as a two-letter code."
    postal_code: str | None
    "The postal code of the dealer."
    country: str | None
    "The country of the dealer."
    latitude: float | None
    "The latitude of the dealer, in degrees."
    longitude: float | None
    "The longitude of the dealer, in degrees."
    coordinates_source: Literal["feed", "postal_code"] | None
    "Where the coordinates come from: `feed`, or `postal_code` if the dealer's feed has none and they are those of its ZIP. Null without\ncoordinates. An extension.\n"
    type: Literal["franchise", "independent"] | None
    "The type of the dealer."
    website: str | None
    "The host name of the dealer's website, in lower case and without `www.`."
    makes: list[str]
    "The makes that the dealer holds a franchise of."
    listing_count: int
    "The number of active listings, after deduplication by VIN."
    phone: str | None
    "The phone number of the dealer."
    address: Address | None
    "The address. Null if unknown."

class DealerEnvelope(TypedDict):
    "A dealer and its metadata."
    data: DealerDetail
    meta: DetailMeta

class DealerSummary(TypedDict):
    "The profile of a dealer in a collection. Unknown values are null."
    dealer_id: str
    "The ID of the dealer."
    name: str
    "The name of the dealer."
    city: str | None
    "The city of the dealer."
    state: str | None
    "The state of the dealer, as a two-letter code."
    postal_code: str | None
    "The postal code of the dealer."
    country: str | None
    "The country of the dealer."
    latitude: float | None
    "The latitude of the dealer, in degrees."
    longitude: float | None
    "The longitude of the dealer, in degrees."
    coordinates_source: Literal["feed", "postal_code"] | None
    "Where the coordinates come from: `feed`, or `postal_code` if the dealer's feed has none and they are those of its ZIP. Null without\ncoordinates. An extension.\n"
    type: Literal["franchise", "independent"] | None
    "The type of the dealer."
    website: str | None
    "The host name of the dealer's website, in lower case and without `www.`."
    makes: list[str]
    "The makes that the dealer holds a franchise of."
    listing_count: int
    "The number of active listings, after deduplication by VIN."

class DetailMeta(TypedDict):
    "Additional information about the object. Usually empty."
    superseded_by: NotRequired[str]
    "The ID of the listing that replaced this one, which ended without a sale."

class EvidenceEnvelope(TypedDict):
    "The evidence about a VIN and its metadata."
    data: dict[str, object]
    meta: dict[str, object]
    "The effective parameters of the request, and the data that the response was computed from."

class EvidenceStep(TypedDict):
    "An observation, a claim or a decision about a VIN."
    day: str
    "The day."
    last_day: str | None
    "The last day, of what holds or is repeated on several days."
    event: Literal["claimed", "changed", "unconfirmed", "claim_ended", "issue", "listed", "kept", "returned", "missing", "sold", "ended"]
    "What happened. A dealer's claim began (`claimed`), its values changed, it stood without a row in a feed (`unconfirmed`), or it ended. A row or a value was refused or noted (`issue`). A listing began (`listed`), its owner kept the VIN by another rule or among other claimants (`kept`), it returned, became missing, was sold, or ended without a sale."
    rule: Literal["feed_row", "standing_claim", "collapsed_feed", "absent_from_feed", "silent_dealer", "only_claimant", "current_owner", "franchise_of_the_make", "has_a_price", "has_photos", "earliest_claim", "lowest_dealer_id", "unclaimed", "absent_long_enough", "missing_too_long", "superseded", "rejected_row", "unknown_value", "noted_value", "merged_row"] | None
    "The rule that decided. Null for a rule that the running release does not have."
    dealer_id: str | None
    "The dealer of the claim or listing, as the feed states it."
    listing_id: str | None
    "The listing. Null for claims of dealers that do not own the VIN."
    claimants: list[str]
    "The dealers that claim the VIN on the day of a decision."
    is_confirmed: bool | None
    "Whether the running release has the rule that decided when the day was ingested. Null for steps that are no decision."
    facts: list[dict[str, object]]
    "The numbers that the rule rests on."
    changes: list[dict[str, object]]
    "The values of a claim when it began, and those that changed."
    source: dict[str, object] | None
    "The newest feed row with these values. Null for decisions, and for days that were ingested before rows were recorded."
    text: str
    "The step in a sentence."

ExportRows: TypeAlias = Literal["days", "intervals"]
"The meaning of a row of an export of a range of days."

class FacetBucket(TypedDict):
    "A value and the number of matching listings that have it. A search with the value as an additional filter returns the same number, except for the keywords `branded` and `fleet`, which the filter excludes. Values that differ only in case share a bucket. A listing counts once for each of its `features`, `options_packages` and `keywords`."
    value: str
    "The value, spelled as the filter of the same name accepts it. Always a string, including numbers: `\"2027\"`."
    label: NotRequired[str | None]
    "The newest name of the dealer. Present for `dealer_id` only."
    count: int
    "The number of matching listings with the value."
    metric: NotRequired[FacetMetric]
    "Present if `metric` was requested."

class FacetEnvelope(TypedDict):
    "The facets and their metadata."
    data: FacetResult
    meta: FacetMeta

class FacetMeta(TypedDict):
    "The effective parameters of the request, and the data that the response was computed from. Never null."
    facets: list[str]
    "The requested facets."
    facet_mode: NotRequired[Literal["disjunctive"]]
    "The `facet_mode`, if it is not `conjunctive`."
    metric: str
    "The requested metric, or `count`."
    sort: Literal["-count", "count", "-metric", "metric"]
    "The effective sort order."
    minimum_metric_count: int
    "The number of matching listings below which the metric of a bucket is null: 10."
    definitions: NotRequired[list[MetricDefinition]]
    "The definition of `days_supply` or `sell_through`, if it was requested."
    as_of: str
    "The as-of date: the day that the data describes."
    currency: str
    "The currency of all prices of the data, as an ISO 4217 code. An extension."
    data_version: str
    "The published version of the data."
    unmatched: NotRequired[UnmatchedValues]

class FacetMetric(TypedDict):
    "A requested metric over the listings of a bucket or of a group."
    name: MetricName
    value: float | None
    "The aggregate over the `sample` listings with a known value. Percentiles interpolate linearly. Null if `sample` is less than 10. `days_supply` and `sell_through`: see `meta.definitions`."
    sample: int
    "The number of listings in the bucket with a known value. Of `days_supply`, the number of sales; of `sell_through`, the number of listings and sales."
    null_reason: NotRequired[Literal["insufficient_sample", "no_values", "no_data"]]
    "Why the value is null; absent otherwise. `insufficient_sample`: fewer than 10 listings of the bucket have a known value, or it has fewer than 10 listings. `no_values`: it has at least 10 listings, none with a known value, or none was sold. `no_data`: the 30 days of sales begin before the first snapshot."

class FacetResult(TypedDict):
    "The counts of all requested facets."
    total: int
    "The number of matching listings."
    facets: dict[str, list[FacetBucket]]
    "The buckets of each requested categorical facet, keyed by facet name."
    range_facets: dict[str, RangeFacet]
    "The ranges of each requested numeric facet, keyed by facet name."
    stats: dict[str, FacetStats]
    "The statistics of each requested numeric facet, keyed by facet name."

class FacetStats(TypedDict):
    "Statistics of a numeric facet over all matching listings. Null if none has a known value. `count` and `missing` add up to `total`."
    min: float | None
    "The least value."
    max: float | None
    "The greatest value."
    count: int
    "The number of matching listings with a known value."
    missing: int
    "The number of matching listings with an unknown value."
    mean: float | None
    "The arithmetic mean."
    median: float | None
    "The median."
    stddev: float | None
    "The sample standard deviation. Null for fewer than two values."

class FitMeta(TypedDict):
    "The effective parameters of the request, the numbers of the formula, and the data that the response was computed from."
    radius: float
    "The radius of the market in miles."
    origin: dict[str, object]
    "Its center."
    limit: int
    "The most dealers or models."
    total: int
    "The number of dealers or models with enough sales."
    truncated: bool
    "Whether slower ones were left out because of `limit`."
    insufficient_sample: int
    "The number of dealers or models with sales, of which they or the market have too few."
    sold_days: int
    "The number of days in which the sales became known."
    sold_from: str
    "The first of them, or the first day of the data."
    minimum_dealer_sales: int
    "The fewest sales of a dealer."
    minimum_market_sales: int
    "The fewest sales of the market."
    pull: int
    "The number of sales by which a dealer is pulled towards the market."
    formula: str
    "The formula of `expected_days` and `relative`."
    as_of: str
    "The as-of date: the day that the data describes."
    currency: str
    "The currency of all prices of the data, as an ISO 4217 code. An extension."
    data_version: str
    "The published version of the data."

FitStep: TypeAlias = Literal["model", "make_and_body"] | None
"What the compared sales have in common, besides the inventory type. Null if there are too few of them at every step."

class FittingDealer(TypedDict):
    "How fast a dealer sells vehicles like the subject."
    dealer_id: str
    "The dealer."
    dealer_name: str | None
    "Its name."
    city: str | None
    "Its city."
    state: str | None
    "Its state."
    distance_miles: float | None
    "Its distance from the origin in miles, rounded to 0.1."
    sales: int
    "The dealer's sales."
    median_days: float
    "The median of their days on market."
    expected_days: float
    "The median, pulled towards the market's, rounded to 1 decimal."
    relative: float | None
    "The ratio of `expected_days` to the market's median, rounded to 3 decimals. Null if the latter is 0."

class FittingDealersEnvelope(TypedDict):
    "The dealers that fit a vehicle."
    data: dict[str, object]
    meta: FitMeta

class FittingModel(TypedDict):
    "How fast a dealer sells a model, or the vehicles of a make and body type."
    make: str
    "The make."
    model: str | None
    "The model. Null in the step `make_and_body`."
    body_type: str | None
    "The body type. Null in the step `model`."
    inventory_type: str
    "The inventory type: `new`, `used` or `certified`."
    sales: int
    "The dealer's sales."
    median_days: float
    "The median of their days on market."
    expected_days: float
    "The median, pulled towards the market's, rounded to 1 decimal."
    relative: float | None
    "The ratio of `expected_days` to the market's median, rounded to 3 decimals. Null if the latter is 0."
    market_sales: int
    "The sales of the other dealers."
    market_median_days: float
    "The median of their days on market."

class FittingModelsEnvelope(TypedDict):
    "What fits a dealer."
    data: dict[str, object]
    meta: FitMeta

class GroupEnvelope(TypedDict):
    "The groups and their metadata."
    data: list[GroupRow]
    "The groups in the requested order."
    meta: GroupMeta

class GroupMeta(TypedDict):
    "The effective parameters of the request, the number of groups, and the data that the response was computed from."
    group_by: list[str]
    "The requested attributes."
    metric: list[str]
    "The requested metrics."
    sort: Literal["-count", "count", "-metric", "metric"]
    "The effective sort order."
    limit: int
    "The maximum number of groups."
    total: int
    "The number of matching listings in all groups."
    total_groups: int
    "The number of groups, beyond `limit` too."
    truncated: bool
    "Whether there are more groups than `limit`."
    minimum_metric_count: int
    "The number of matching listings below which the metric of a group is null: 10."
    definitions: NotRequired[list[MetricDefinition]]
    "The definitions of `days_supply` and `sell_through`, if they were requested."
    as_of: str
    "The as-of date: the day that the data describes."
    currency: str
    "The currency of all prices of the data, as an ISO 4217 code. An extension."
    data_version: str
    "The published version of the data."
    unmatched: NotRequired[UnmatchedValues]

class GroupRow(TypedDict):
    "A combination of values, and the matching listings that have them."
    values: dict[str, str | None]
    "The value of each attribute in `group_by`, spelled as the filter of the same name accepts it. Always a string, or null if it is unknown. Values that differ only in case are one value."
    dealer_name: NotRequired[str | None]
    "The newest name of the dealer. Present if `dealer_id` is in `group_by`."
    count: int
    "The number of matching listings in the group."
    metrics: list[FacetMetric]
    "The requested metrics, in the requested order."

class IgnoredWords(TypedDict):
    "Words of a question that need no filter."
    text: str
    "The words."
    start: int
    "Where they begin in the question, in UTF-16 code units."
    end: int
    "Where they end in the question, in UTF-16 code units."

class Interpretation(TypedDict):
    "What the words of a question stand for."
    filters: WordFilters
    url: str
    "The path of listing search with the filters."
    spans: list[QuestionSpan]
    "Words that became filters."
    ignored: list[IgnoredWords]
    "Words that need no filter."
    unmatched: list[UnmatchedWords]
    "Words that were not understood."
    ambiguous: list[AmbiguousWords]
    "Spans with further meanings."

class InterpretationEnvelope(TypedDict):
    "An interpretation and its metadata."
    data: Interpretation
    meta: dict[str, object]
    "The data that the response was computed from."

class LatestListing(TypedDict):
    "The latest listing of a VIN, with its dealer and photos. Unknown values are null."
    id: str
    "The stable identifier of the listing."
    price: int | None
    "The main advertised price, in whole US dollars. Null if unavailable."
    price_at_listing: int | None
    "The first known price, in US dollars. An extension."
    price_change_total: int | None
    "The price less `price_at_listing`: negative after price drops, 0 without a change. An extension."
    market_value: int | None
    "What the listing is worth by the prices of its market on the published day, in whole US dollars: see `GET /v1/listings/{listing_id}/comparables`. Null without enough listings like it, for branded titles, sold listings and past days. An extension."
    market_value_low: int | None
    "The lower end of the interval around `market_value` in which 80 % of last asking prices lie. An extension."
    market_value_high: int | None
    "The upper end of that interval. An extension."
    price_to_value: float | None
    "`(price - market_value) / market_value`, rounded to 4 decimals; null for a price without a rating. An extension."
    value_step: Literal["trim", "model", "body_and_age"] | None
    "What the value rests on: enough listings of the trim, else of the model, else of the body type and model year. An extension."
    value_rating: Literal["great", "good", "fair", "high"] | None
    "What the price is rated: see parameter `value_rating`. Null also for a price below a half or above twice the value. An extension."
    price_drop: int | None
    "How far the price is below `price_at_listing`, in US dollars. An extension."
    price_drop_percent: float | None
    "`price_drop` in percent of `price_at_listing`, rounded to 2 decimals. An extension."
    price_drops: int | None
    "How often the price has dropped. An extension."
    price_changed_at: str | None
    "When the price last changed, in UTC. Null without a change. An extension."
    seller_fees: int | None
    "The sum of `pricing.line_items` that are added to the price for every shopper, without taxes, title and registration. Null if the feed states no line items. An extension."
    all_in_price: int | None
    "What the seller asks of every shopper before taxes, title and registration, and before incentives of the manufacturer: `pricing.seller_total_before_manufacturer_incentives_usd`, else `pricing.dealer_adjusted_vehicle_price_usd` with `seller_fees`. Null if the feed states neither. An extension."
    unknown_costs: list[Literal["seller_fees", "taxes_and_registration"]]
    "What a shopper pays besides the price, as far as the feed does not state it: `seller_fees` if `all_in_price` is null, and always `taxes_and_registration`. An extension."
    miles: int | None
    "The odometer reading, in miles."
    inventory_type: Literal["new", "used", "certified"] | None
    "The inventory type."
    stock_number: str | None
    "The dealer's stock number."
    vdp_url: str | None
    "The URL of the vehicle's page on the dealer's website."
    vhr_url: str | None
    "The URL of the vehicle history report."
    photo_urls: list[str]
    "The URLs of photos, the primary photo first."
    photo_url_primary: str | None
    "The URL of the primary photo."
    pricing: Pricing | None
    "The observed price breakdown. Null if the data provider does not support it."
    inventory_date: str
    "The day of the first observation."
    sold_date: str | None
    "The best estimate of the day on which the listing was sold. Null if active or unknown."
    last_checked_at: str
    "The time of the latest feed of the owning dealer that contained the VIN, in UTC, as `YYYY-MM-DD HH:MM:SS.ffffff`."
    dealer: DealerBrief
    price_history: list[PriceHistoryItem]
    "The price changes. Empty if there are none or `include` does not request them."

class LineItem(TypedDict):
    "A row of a price breakdown, as the provider displayed it. Unknown values are null."
    amount_usd: float
    "The amount, in US dollars."
    raw_label: str
    "The displayed label."
    role: str | None
    "The normalized role of the row."
    applicability: str | None
    "The shoppers to whom the row applies."
    direction: Literal["add", "subtract", "none"] | None
    "Whether the amount is added to the price, subtracted from it, or neither."
    row_key: str | None
    "The provider's key of the row."
    row_order: int
    "The displayed position of the row. If the provider does not report it, counted from 1."
    subtype: str | None
    "The subtype of the role."

class ListingChange(TypedDict):
    "How a listing differs between two versions of the data."
    id: str
    "The listing."
    vin: str
    "Its VIN."
    day: str
    "The first day of the listing's row in the newer version. In a feed over several days, some of what differs can be older."
    kind: Literal["new", "price", "changed", "returned", "missing", "sold", "ended", "removed"]
    "`new`: active, and not in the older version. `price`: in the same state, with another price. `changed`: other attributes differ, `before` and `after`. `returned`: active again. `missing`, `sold`, `ended`: its state in the newer version. `removed`: the newer version has no such listing, because days were ingested again."
    state_before: ListingState | None
    "The state in the older version. Null if it does not have the listing."
    state: ListingState | None
    "The state in the newer version. Null if it does not have the listing."
    matched_before: bool
    "Whether the listing matched the filters in the older version."
    matches: bool
    "Whether the listing matches the filters in the newer version, in any state. A search returns it if `matches` is true and `state` is `active`."
    before: dict[str, object]
    "The attributes that differ, with their values in the older version. Empty unless the state is the same in both."
    after: dict[str, object]
    "The same attributes with their values in the newer version."
    listing: ListingSummary | None
    "The listing in the newer version, with the requested fields. Null unless it is active or sold."

class ListingCollection(TypedDict):
    "A page of listings."
    data: list[ListingSummary]
    "The listings."
    pagination: Pagination
    meta: CollectionMeta

class ListingDetail(TypedDict):
    "A listing with its dealer and vehicle. Unknown values are null."
    id: str
    "The stable identifier of the listing."
    vin: str
    "The vehicle identification number, in upper case."
    status: Literal["active", "sold"]
    "The state of the listing. Stays `active` while the VIN is missing and not yet sold."
    price: int | None
    "The main advertised price, in whole US dollars. Null if unavailable."
    price_at_listing: int | None
    "The first known price, in US dollars. An extension."
    price_change_total: int | None
    "The price less `price_at_listing`: negative after price drops, 0 without a change. An extension."
    market_value: int | None
    "What the listing is worth by the prices of its market on the published day, in whole US dollars: see `GET /v1/listings/{listing_id}/comparables`. Null without enough listings like it, for branded titles, sold listings and past days. An extension."
    market_value_low: int | None
    "The lower end of the interval around `market_value` in which 80 % of last asking prices lie. An extension."
    market_value_high: int | None
    "The upper end of that interval. An extension."
    price_to_value: float | None
    "`(price - market_value) / market_value`, rounded to 4 decimals; null for a price without a rating. An extension."
    value_step: Literal["trim", "model", "body_and_age"] | None
    "What the value rests on: enough listings of the trim, else of the model, else of the body type and model year. An extension."
    value_rating: Literal["great", "good", "fair", "high"] | None
    "What the price is rated: see parameter `value_rating`. Null also for a price below a half or above twice the value. An extension."
    price_drop: int | None
    "How far the price is below `price_at_listing`, in US dollars. An extension."
    price_drop_percent: float | None
    "`price_drop` in percent of `price_at_listing`, rounded to 2 decimals. An extension."
    price_drops: int | None
    "How often the price has dropped. An extension."
    price_changed_at: str | None
    "When the price last changed, in UTC. Null without a change. An extension."
    seller_fees: int | None
    "The sum of `pricing.line_items` that are added to the price for every shopper, without taxes, title and registration. Null if the feed states no line items. An extension."
    all_in_price: int | None
    "What the seller asks of every shopper before taxes, title and registration, and before incentives of the manufacturer: `pricing.seller_total_before_manufacturer_incentives_usd`, else `pricing.dealer_adjusted_vehicle_price_usd` with `seller_fees`. Null if the feed states neither. An extension."
    unknown_costs: list[Literal["seller_fees", "taxes_and_registration"]]
    "What a shopper pays besides the price, as far as the feed does not state it: `seller_fees` if `all_in_price` is null, and always `taxes_and_registration`. An extension."
    miles: int | None
    "The odometer reading, in miles."
    inventory_type: Literal["new", "used", "certified"] | None
    "The inventory type."
    stock_number: str | None
    "The dealer's stock number."
    vdp_url: str | None
    "The URL of the vehicle's page on the dealer's website."
    vhr_url: str | None
    "The URL of the vehicle history report."
    photo_urls: list[str]
    "The URLs of photos, the primary photo first."
    photo_url_primary: str | None
    "The URL of the primary photo."
    pricing: Pricing | None
    "The observed price breakdown. Null if the data provider does not support it."
    inventory_date: str
    "The day of the first observation."
    sold_date: str | None
    "The best estimate of the day on which the listing was sold. Null if active or unknown."
    last_checked_at: str
    "The time of the latest feed of the owning dealer that contained the VIN, in UTC, as `YYYY-MM-DD HH:MM:SS.ffffff`."
    dealer: DealerBrief
    vehicle: Vehicle
    price_history: list[PriceHistoryItem]
    "The price changes. Empty if there are none or `include` does not request them."

class ListingDetailEnvelope(TypedDict):
    "A listing and its metadata."
    data: ListingDetail
    meta: DetailMeta

ListingState: TypeAlias = Literal["active", "missing", "sold", "ended"]
"The state of a listing."

class ListingSummary(TypedDict):
    "A listing in a collection. `id` and `vin` are always present; the other fields are present if `fields` or `include` requests them. Unknown values are null."
    id: str
    "The stable identifier of the listing."
    vin: str
    "The vehicle identification number, in upper case."
    year: NotRequired[int | None]
    "The model year."
    make: NotRequired[str | None]
    "The make, for example `Toyota`."
    model: NotRequired[str | None]
    "The model, for example `Camry`."
    trim: NotRequired[str | None]
    "The trim level."
    version: NotRequired[str | None]
    "The version, a subdivision of the trim."
    body_type: NotRequired[str | None]
    "The body type, for example `SUV`."
    drivetrain: NotRequired[str | None]
    "The drivetrain, for example `AWD`."
    fuel_type: NotRequired[str | None]
    "The fuel type."
    powertrain_type: NotRequired[str | None]
    "The powertrain type, for example `HEV`."
    transmission: NotRequired[str | None]
    "The transmission."
    engine: NotRequired[str | None]
    "The engine, for example `2.5L I4`."
    cylinders: NotRequired[int | None]
    "The number of cylinders; 0 for electric vehicles."
    doors: NotRequired[int | None]
    "The number of doors."
    seating_capacity: NotRequired[int | None]
    "The number of seats."
    exterior_color: NotRequired[str | None]
    "The exterior color, as reported by the dealer."
    interior_color: NotRequired[str | None]
    "The interior color, as reported by the dealer."
    base_exterior_color: NotRequired[str | None]
    "The normalized exterior color."
    base_interior_color: NotRequired[str | None]
    "The normalized interior color."
    msrp: NotRequired[int | None]
    "The combined MSRP, including options, in whole US dollars."
    discount_from_msrp: NotRequired[float | None]
    "`(price - msrp) / msrp`, rounded to 4 decimals. Negative values are below MSRP: -0.12 is 12% below."
    price: NotRequired[int | None]
    "The main advertised price, in whole US dollars. Null if unavailable or reported as zero."
    miles: NotRequired[int | None]
    "The odometer reading, in miles."
    days_on_market: NotRequired[int | None]
    "The number of days for which the listing has been observed."
    listed_at: NotRequired[str | None]
    "The time at which the service first observed the listing."
    status: NotRequired[Literal["active", "sold"]]
    "The state of the listing in this result."
    inventory_status: NotRequired[Literal["active", "sold"]]
    "Deprecated alias of `status`."
    availability_status: NotRequired[Literal["stock", "transit", "build"] | None]
    "Whether the vehicle is in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    inventory_type: NotRequired[Literal["new", "used", "certified"] | None]
    "The inventory type."
    stock_number: NotRequired[str | None]
    "The dealer's stock number."
    vdp_url: NotRequired[str | None]
    "The URL of the vehicle's page on the dealer's website."
    sold_date: NotRequired[str | None]
    "The best estimate of the day on which the listing was sold. Null if active or unknown."
    dealer_id: NotRequired[str | None]
    "The ID of the dealer."
    dealer_name: NotRequired[str | None]
    "The name of the dealer."
    dealer_type: NotRequired[Literal["franchise", "independent"] | None]
    "The type of the dealer."
    city: NotRequired[str | None]
    "The city of the dealer."
    state: NotRequired[str | None]
    "The state of the dealer, as a two-letter code."
    postal_code: NotRequired[str | None]
    "The postal code of the dealer."
    latitude: NotRequired[float | None]
    "The latitude of the dealer, in degrees."
    longitude: NotRequired[float | None]
    "The longitude of the dealer, in degrees."
    distance_miles: NotRequired[float | None]
    "The great-circle distance from the origin to the dealer, in miles, rounded to one decimal. Null if the request has no origin or the dealer has no coordinates."
    photo_urls: NotRequired[list[str]]
    "The URLs of photos, the primary photo first."
    features: NotRequired[list[str]]
    "The features of the vehicle. Present if requested in `fields`."
    options_packages: NotRequired[list[str]]
    "Manufacturer option and package codes. Present if requested in `fields`."
    keywords: NotRequired[list[Literal["one_owner", "clean_title", "branded", "fleet"]]]
    "The history keywords. Present if requested in `fields`; an export has them by default."
    market_value: NotRequired[int | None]
    "What the listing is worth by the prices of its market on the published day, in whole US dollars: see `GET /v1/listings/{listing_id}/comparables`. Null without enough listings like it, for branded titles, sold listings and past days. An extension."
    market_value_low: NotRequired[int | None]
    "The lower end of the interval around `market_value` in which 80 % of last asking prices lie. An extension."
    market_value_high: NotRequired[int | None]
    "The upper end of that interval. An extension."
    price_to_value: NotRequired[float | None]
    "`(price - market_value) / market_value`, rounded to 4 decimals; null for a price without a rating. An extension."
    value_step: NotRequired[Literal["trim", "model", "body_and_age"] | None]
    "What the value rests on: enough listings of the trim, else of the model, else of the body type and model year. An extension."
    value_rating: NotRequired[Literal["great", "good", "fair", "high"] | None]
    "What the price is rated: see parameter `value_rating`. Null also for a price below a half or above twice the value. An extension."
    price_at_listing: NotRequired[int | None]
    "The first known price, in US dollars. An extension."
    price_drop: NotRequired[int | None]
    "How far the price is below `price_at_listing`, in US dollars. An extension."
    price_drop_percent: NotRequired[float | None]
    "`price_drop` in percent of `price_at_listing`, rounded to 2 decimals. An extension."
    price_drops: NotRequired[int | None]
    "How often the price has dropped. An extension."
    price_changed_at: NotRequired[str | None]
    "When the price last changed, in UTC. Null without a change. An extension."
    seller_fees: NotRequired[int | None]
    "The sum of `pricing.line_items` that are added to the price for every shopper, without taxes, title and registration. Null if the feed states no line items. An extension."
    all_in_price: NotRequired[int | None]
    "What the seller asks of every shopper before taxes, title and registration, and before incentives of the manufacturer: `pricing.seller_total_before_manufacturer_incentives_usd`, else `pricing.dealer_adjusted_vehicle_price_usd` with `seller_fees`. Null if the feed states neither. An extension."
    price_history: NotRequired[list[PriceHistoryItem]]
    "The price changes. Present if requested in `include`."
    options: NotRequired[list[Option]]
    "The decoded options. Present if requested in `include`."

class Meaning(TypedDict):
    "What words can stand for."
    attribute: str
    "What they are about, such as `make`, `price`, `city` or `sort`."
    value: str
    "The value."
    filters: WordFilters

class MetricDefinition(TypedDict):
    "The definition of a metric of supply."
    name: str
    "The name of the metric."
    formula: str
    "The definition of the value."
    sample: str
    "What `sample` counts."

MetricName: TypeAlias = Literal["price.mean", "price.p5", "price.p25", "price.median", "price.p75", "price.p95", "miles.mean", "miles.p5", "miles.p25", "miles.median", "miles.p75", "miles.p95", "msrp.mean", "msrp.p5", "msrp.p25", "msrp.median", "msrp.p75", "msrp.p95", "days_on_market.mean", "days_on_market.p5", "days_on_market.p25", "days_on_market.median", "days_on_market.p75", "days_on_market.p95", "discount_from_msrp.mean", "discount_from_msrp.p5", "discount_from_msrp.p25", "discount_from_msrp.median", "discount_from_msrp.p75", "discount_from_msrp.p95", "price_to_value.mean", "price_to_value.p5", "price_to_value.p25", "price_to_value.median", "price_to_value.p75", "price_to_value.p95", "days_supply", "sell_through"]
"A measure and an aggregate, as `<measure>.<aggregate>`, or a metric of supply."

class ModelPrices(TypedDict):
    "The prices of a model by age or miles."
    make: str
    "The make, as the data spells it."
    model: str
    "The model, as the data spells it."
    newest_year: int | None
    "The model year of age 0. Null without a listing."
    curve: PriceCurve
    points: list[PricePoint]
    "One for each age or range of miles that has listings, the least first."
    reference: PriceReference | None
    "What retained values are shares of. Null if neither 10 new listings nor a point of 10 match."
    retained: list[RetainedValue]
    "The retained values."

class ModelPricesEnvelope(TypedDict):
    "The prices of a model by age or miles, and their metadata."
    data: ModelPrices
    meta: dict[str, object]
    "The effective parameters of the request, and the data that the response was computed from."

OpenApiDocument: TypeAlias = "dict[str, object]"
"An OpenAPI 3.1 document."

class Option(TypedDict):
    "A factory option, decoded from the listing's option and package codes. Options are in the order of the codes; codes with an unknown name or price are omitted."
    code: str
    "The manufacturer's option or package code."
    name: str
    "The name of the option."
    msrp: float
    "The price of the option, in US dollars."

class Pagination(TypedDict):
    "The position of a page within all matches."
    limit: int
    "The maximum number of items on the page."
    offset: int
    "The number of skipped items."
    total: int
    "The number of all matches at request time."
    next_offset: int | None
    "The `offset` of the next page. Null on the last page."
    next_cursor: NotRequired[str | None]
    "The `cursor` of the next page, which is read from the version of this one. Null on the last page. Absent where `cursor` is no parameter."

PowertrainCode: TypeAlias = Literal["BEV", "FCEV", "HEV", "ICE", "MHEV", "PHEV"]
"Battery electric (`BEV`), fuel cell electric (`FCEV`), full hybrid (`HEV`), internal combustion (`ICE`), mild hybrid (`MHEV`) or plug-in hybrid (`PHEV`)."

class PriceCurve(TypedDict):
    "The line that is fitted to logarithms of prices: `price = exp(intercept + slope * x)`."
    unit: int
    "What `x` counts: 1 year of age, or 10,000 miles."
    sample: int
    "The number of listings."
    intercept: float | None
    "The natural logarithm of the fitted price at 0, in US dollars, rounded to 6 decimals."
    slope: float | None
    "What a unit adds to it, rounded to 6 decimals."
    loss_percent: float | None
    "What a vehicle loses of its price with each unit: `100 * (1 - exp(slope))`, rounded to 2 decimals. Negative if prices rise."
    r2: float | None
    "The share of the variance of logarithms of prices that the line explains (R²), rounded to 4 decimals."
    null_reason: Literal["insufficient_sample"] | None
    "Why there is no curve: fewer than 10 listings, or less than a unit between the least and the greatest age or mileage. Null with a curve."

class PriceHistoryItem(TypedDict):
    "A price change. After a period with an unknown price, the change is relative to the last known price."
    date: str
    "The UTC day of `changed_at`."
    price: int | None
    "The price after the change, in whole US dollars. Null if unavailable."
    changed_at: str
    "The time at which the change was observed."
    price_before: int | None
    "The price before the change, in whole US dollars. Null if unavailable."
    miles: int | None
    "The odometer reading observed with the change, in miles."

_PricePointKeywords = TypedDict("_PricePointKeywords", {"from": "int"})


class PricePoint(_PricePointKeywords):
    "The listings of an age, or of a range of 10,000 miles."
    to: int
    "The greatest, inclusive."
    at: int
    "The age or mileage of `fitted`: the middle of the range."
    sample: int
    "The number of listings."
    median: float | None
    "The median of their prices in US dollars, linearly interpolated."
    p10: float | None
    "The lower end of the band that has 80 % of their prices: the 10th percentile."
    p90: float | None
    "The upper end: the 90th percentile."
    fitted: int | None
    "The price of the curve, in whole dollars. Null without a curve."
    null_reason: Literal["insufficient_sample"] | None
    "Why there are no percentiles: fewer than 10 listings. Null with them."

class PriceReference(TypedDict):
    "The price that retained values are shares of."
    of: Literal["new", "first_point"]
    "`new`: the geometric mean, which the curve follows too, of the prices of the new listings that match the other filters, if they are 10 or more. `first_point`: otherwise, the price of the curve at the first point with 10 listings."
    at: int
    "The age or mileage of the price: 0 for `new`."
    price: float
    "The price in US dollars."
    sample: int
    "The number of listings."

class Pricing(TypedDict):
    "The price breakdown that the data provider observed. It supplements `price` and never replaces it."
    displayed_provider_current_price_usd: float | None
    "The price that the provider displayed to shoppers when observed. Never an MSRP, and not necessarily the lowest price a shopper can obtain."
    seller_total_before_taxes_and_registration_usd: float | None
    "The seller's total before taxes, title, registration, license, lien and similar government charges."
    seller_total_before_manufacturer_incentives_usd: float | None
    "The total that the dealer controls, before manufacturer-funded incentives and rebates."
    dealer_adjusted_vehicle_price_usd: float | None
    "The price of the vehicle after the dealer's adjustments, before seller fees, add-ons, government charges and manufacturer incentives."
    line_items: list[LineItem]
    "The rows of the breakdown."

class QuestionSpan(TypedDict):
    "Words of a question that became filters."
    text: str
    "The words."
    start: int
    "Where they begin in the question, in UTF-16 code units."
    end: int
    "Where they end in the question, in UTF-16 code units."
    attribute: str
    "What they are about, such as `make`, `price`, `city` or `sort`."
    value: str
    "What they stand for: a value or a range, to be shown."
    filters: WordFilters
    corrected_from: NotRequired[str]
    "The misspelt words, if the value is the name nearest to them."

class RangeBucket(TypedDict):
    "A half-open range and the number of matching listings with `min <= value < max`. A search with `min_<facet>=min` and `max_<facet>=max - 1` as additional filters (`mileage` for `miles`) returns the same number."
    min: int
    "The lower bound, inclusive."
    max: int
    "The upper bound, exclusive."
    count: int
    "The number of matching listings in the range."

class RangeFacet(TypedDict):
    "The matching listings, counted in adjacent half-open ranges. Regular buckets are `interval` wide, and their edges are multiples of it. They extend from the bucket of the 1st percentile to the bucket of the 99th, empty ones included; both percentiles are interpolated linearly and rounded down. If there are lower values, one bucket from the least value precedes them; if there are higher values, one bucket up to the greatest value plus 1 follows. These two can be narrower or wider than `interval`. Unless the request fixes it, `interval` is the smallest of 1, 2, 5, 10, 20, 50, 100 and so on that results in at most 20 regular buckets; a fixed one results in at most 100. The counts add up to `stats.count`."
    buckets: list[RangeBucket]
    "The ranges in ascending order. Empty if no matching listing has a known value."
    interval: int | None
    "The width of the regular buckets. Null if no matching listing has a known value and the request does not fix the width."
    min: int | None
    "The `min` of the first bucket. Null if there are no buckets."
    max: int | None
    "The `max` of the last bucket. Null if there are no buckets."

class RetainedValue(TypedDict):
    "The price of the curve as a share of the price of reference."
    at: int
    "The age in years: 1, 3 and 5; or the mileage: 10,000, 30,000 and 50,000."
    price: int | None
    "The price of the curve, in whole dollars."
    percent: float | None
    "`100 * price / reference.price`, rounded to 1 decimal."
    null_reason: Literal["insufficient_sample"] | None
    "Why there is none: no curve, no reference, or `at` outside of the ages or mileages of the listings. Curves are not extrapolated. Null with a value."

class SavedSearch(TypedDict):
    "A saved search and the state of its messages."
    search_id: str
    "Identifies the search."
    name: str
    "The name of the search."
    query: str
    "The filters, `kinds` and `fields` as a query string."
    webhook_url: str | None
    "Where messages are posted; null for a search without a webhook."
    created_at: str
    "When the search was saved."
    status: Literal["active", "stopped"]
    "Whether messages are delivered. Stopped messages go on after `POST /v1/searches/{search_id}/resume`."
    since: str
    "The version whose listings the receiver of the messages knows; of a search without a webhook, the version at which it was saved."
    changes_url: str
    "The path of the changes after `since` in `GET /v1/changes`."
    feed_url: str
    "The path of the Atom feed. It works without an API key, so keep it secret; reading is charged to the account."
    secret: NotRequired[str]
    "The secret that signs messages, `whsec_` and Base64. Only in the response to `POST /v1/searches`."
    messages: dict[str, object]
    "What has been posted to the webhook."

class SearchCollection(TypedDict):
    "The saved searches of an account."
    data: list[SavedSearch]
    "The searches, oldest first."

class SearchEnvelope(TypedDict):
    "A saved search."
    data: SavedSearch
    meta: NotRequired[dict[str, object]]
    "Values of the filters that the data has never had. Only in the response to `POST /v1/searches`."

class SqlResult(TypedDict):
    "The rows of the last statement, and the version that they were read from."
    data: list[dict[str, object]]
    "The rows, with a property for each column. A repeated name is followed by a number."
    meta: dict[str, object]

StateCode: TypeAlias = Literal["AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY", "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC", "AS", "GU", "MP", "PR", "VI", "AB", "BC", "MB", "NB", "NL", "NS", "NT", "NU", "ON", "PE", "QC", "SK", "YT"]
"The two-letter code of a US state, of the District of Columbia, of a US territory, or of a Canadian province or territory."

class Suggestion(TypedDict):
    "A name, and the filters that it becomes."
    text: str
    "The name, to be shown: of a model with its make, of a dealer with its place."
    attribute: Literal["make", "model", "trim", "body_type", "drivetrain", "fuel_type", "powertrain_type", "transmission", "base_exterior_color", "inventory_type", "features", "state", "dealer_id", "city", "postal_code", "vin", "stock_number"]
    "What it names."
    value: str
    "The value: of a dealer the id, of a VIN its beginning."
    count: int
    "The number of active listings that match the filters."
    filters: dict[str, str]
    "Parameters of listing search, with their values."

class SuggestionCollection(TypedDict):
    "Suggestions and their metadata."
    data: list[Suggestion]
    "The suggestions, the closest first."
    meta: dict[str, object]
    "The effective parameters of the request, and the data that the response was computed from."

class TrendDefinition(TypedDict):
    "The definition of a requested metric."
    name: str
    "The name of the metric."
    kind: Literal["level", "flow"]
    "`level`: of the listings active on `level_day`. `flow`: summed over the days of the interval."
    formula: str
    "The definition of the value."
    denominator: str
    "The divisor of the value, or `none`."
    sample: str
    "What `sample` counts."

class TrendEnvelope(TypedDict):
    "The series and their metadata."
    data: list[TrendSeries]
    "One series, or one for each value of each requested facet, facet by facet."
    meta: TrendMeta

_TrendMetaKeywords = TypedDict("_TrendMetaKeywords", {"from": "str"})


class TrendMeta(_TrendMetaKeywords):
    "The effective parameters of the request, the definitions of its metrics, and the data that the response was computed from."
    metric: list[str]
    "The requested metrics."
    interval: Literal["day", "week", "month", "quarter"]
    "The length of an interval."
    to: str
    "The last day of the period."
    facet: NotRequired[str]
    "The requested facet, if it is a single one."
    facets: NotRequired[list[str]]
    "The requested facets, in the order of their series, if any."
    facet_limit: NotRequired[int]
    "The maximum number of series of each facet, if one was requested."
    sort: Literal["-count"]
    "The order of the series of a facet: most active listings first, added up over the `level_day` of all points. Ties are sorted by value as in facets."
    definitions: list[TrendDefinition]
    "The definitions of the requested metrics."
    missing_days: list[DayRange]
    "The days of the period that have no snapshot: there was no delivery, or it is no longer kept."
    minimum_metric_count: int
    "The number of active listings below which a mean, percentile, `days_supply` or `sell_through` is null: 10."
    as_of: str
    "The as-of date: the last day that the data describes."
    currency: str
    "The currency of all prices of the data, as an ISO 4217 code. An extension."
    data_version: str
    "The published version of the data."
    unmatched: NotRequired[UnmatchedValues]

class TrendMetric(TypedDict):
    "A metric in an interval."
    name: str
    "The name of the metric."
    value: float | None
    "The value, as its definition in `meta.definitions` says."
    sample: int
    "The number of listings or events that the value is computed from."
    null_reason: NotRequired[Literal["insufficient_sample", "no_values", "no_data"]]
    "Why the value is null; absent otherwise. `insufficient_sample`: fewer than 10 listings are active, or fewer than 10 have a known measure, or are active or were sold for a `sell_through`. `no_values`: at least 10 are active, none with a known measure, or none was sold. `no_data`: an interval without a snapshot, or a `days_supply` or `sell_through` whose 30 days begin before the first snapshot."

class TrendPoint(TypedDict):
    "An interval and the requested metrics in it."
    start: str
    "The first day of the interval, within the period."
    end: str
    "The last day of the interval, inclusive, within the period."
    days: int
    "The number of days of the interval that have a snapshot: fewer than from `start` to `end` if there was no delivery on some of them, 0 if there was none on all."
    level_day: str | None
    "The day that levels describe: the last one of the interval with a snapshot. Null if there is none."
    metrics: list[TrendMetric]
    "The requested metrics, in the requested order."

class TrendSeries(TypedDict):
    "The points of a period, in the order of time."
    facet: str | None
    "The facet that the series belongs to. Null without `facet`."
    value: str | None
    "The value of the facet, spelled as the filter of the same name accepts it. Null without `facet`."
    points: list[TrendPoint]
    "A point for each interval."

class UnmatchedValue(TypedDict):
    "A requested value that the data has never had."
    parameter: str
    "The name of the parameter."
    value: str
    "The value as requested."
    did_you_mean: NotRequired[str]
    "The existing value that this one is another spelling of, else the nearest one. Absent if none is near; only the first 10 values have one."

UnmatchedValues: TypeAlias = "list[UnmatchedValue]"
"The values of open vocabularies that the data has never had, on any day: they match nothing, and exclude nothing. Absent if there are none."

class UnmatchedWords(TypedDict):
    "Words of a question that were not understood."
    text: str
    "The words."
    start: int
    "Where they begin in the question, in UTF-16 code units."
    end: int
    "Where they end in the question, in UTF-16 code units."
    reason: NotRequired[str]
    "Why they became no filter, if it is not that they are unknown."
    suggestions: list[Suggestion]
    "What may have been meant."

class UsageEnvelope(TypedDict):
    "Usage rows, totals and metadata."
    data: list[UsageRow]
    "The usage rows."
    totals: UsageTotals
    meta: UsageMeta

class UsageMeta(TypedDict):
    "The period, unit and source of the figures."
    start_date: str
    "The first UTC day."
    end_date: str
    "The last UTC day, inclusive."
    interval: str
    "The period of a row."
    currency: str
    "The currency of the charges."
    source: str
    "The source of the figures."
    freshness: str
    "The maximum delay behind the billing ledger."

class UsageRow(TypedDict):
    "The requests of one UTC day in one usage class."
    date: str
    "The UTC day."
    metering_class: Literal["listing_search", "listing_search_historical", "listing_search_dealer_filtered", "listing_search_dealer_filtered_historical", "dealer_inventory_search", "dealer_inventory_search_historical", "listing_search_enriched", "facet_counts", "facet_counts_historical", "trend_series", "vehicle_detail", "vehicle_detail_enriched", "dealer_lookup", "suggestion", "comparables", "valuations", "depreciation", "listing_changes", "evidence", "dealer_fit", "listing_export", "listing_export_historical", "listing_export_enriched", "sql_statement"]
    "The usage class."
    requests: int
    "The number of charged requests."
    charged_micros: int
    "The charges, in micros."

class UsageTotals(TypedDict):
    "The sums over all rows."
    requests: int
    "The number of charged requests."
    charged_micros: int
    "The charges, in micros."

class Valuation(TypedDict):
    "What a vehicle is worth by the prices of the published day."
    market_value: int | None
    "The value, in whole US dollars. Null for the reason in `null_reason`."
    market_value_low: int | None
    "The lower end of the interval around it."
    market_value_high: int | None
    "The upper end of the interval."
    coverage: float
    "The share of last asking prices before a sale that lie in such intervals: 0.8."
    price_to_value: float | None
    "`(price - market_value) / market_value`, rounded to 4 decimals. Null without a price, and for one without a rating."
    value_rating: Literal["great", "good", "fair", "high"] | None
    "What the price is rated, by `rating_thresholds`. Null without a price, and for one below a half or above twice the value."
    rating_thresholds: dict[str, object] | None
    "The prices, in US dollars, below which a price is `great`, below which it is `good`, and up to which it is `fair`."
    step: Literal["trim", "model", "body_and_age"] | None
    "What the value rests on: at least 5 listings of the trim, else of the model, else at least 30 listings of the body type and model year with an MSRP. Null without a value."
    options: dict[str, object] | None
    "The options that the value of a used vehicle counts, by their list prices. Null without a value, for new vehicles, whose MSRP has them, and for the step `body_and_age`."
    null_reason: Literal["insufficient_sample", "out_of_range", "branded_title", "unknown_attributes", "not_found", "no_data"] | None
    "Why there is no value. Null if there is one. `no_data` is a version of the data to which no prices were fitted."
    range: dict[str, object] | None
    "For `out_of_range`, the attribute for which no listing of the model (of the step `body_and_age`, of the body type and model year) is like the vehicle, and the least and greatest value that they have. `price` stands for a value that is far from all their prices."

class ValuationCollection(TypedDict):
    "Values and their metadata."
    data: list[dict[str, object]]
    "The values, in the order of the VINs."
    meta: dict[str, object]
    "The data that the response was computed from."

class ValuedSubject(TypedDict):
    "The vehicle that is valued, as the lake spells it."
    listing_id: str | None
    "The listing. Null for a vehicle that parameters describe."
    vin: str | None
    "The VIN. Null for a vehicle that parameters describe."
    status: Literal["active", "missing", "sold", "ended"] | None
    "The state of the listing. Null for a vehicle that parameters describe."
    year: int | None
    "The model year."
    make: str | None
    "The make."
    model: str | None
    "The model."
    trim: str | None
    "The trim."
    version: str | None
    "The version."
    inventory_type: Literal["new", "used", "certified"] | None
    "The inventory type."
    miles: float | None
    "The odometer reading in miles."
    price: float | None
    "The asking price, in US dollars."
    msrp: float | None
    "The MSRP, in US dollars."
    state: str | None
    "The state of the dealer or ZIP code."

class Vehicle(TypedDict):
    "The vehicle of a listing."
    vin: str
    "The vehicle identification number, in upper case."
    status: Literal["active", "missing", "sold"]
    "The state of the VIN. `missing` if it has left its dealer's feed and is not yet sold."
    build: Build

class VinEnvelope(TypedDict):
    "A vehicle and its metadata."
    data: VinRecord
    meta: DetailMeta

class VinRecord(TypedDict):
    "A vehicle with its latest listing."
    vin: str
    "The vehicle identification number, in upper case."
    status: Literal["active", "missing", "sold", "unlisted"]
    "The state of the VIN. `missing` if it has left active inventory and is not sold; `sold` after at least 3 days of absence and sold-quality checks. `unlisted`, an extension, if it has never had a listing: `build` is what the VIN says."
    build: Build
    latest_listing: LatestListing | None
    "The latest listing. Null if the vehicle has never had one."

WordFilters: TypeAlias = "dict[str, str]"
"Parameters of listing search, with their values."

class SearchListingsQuery(TypedDict, total=False):
    "The parameters of the operation `searchListings`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    limit: int | None
    "The maximum number of items to return, from 1 to 100. Larger values are rejected, not clamped."
    offset: int | None
    "The number of items to skip. Large offsets are slow: beyond about 10,000 items, narrow the filters instead."
    cursor: str | None
    "The `next_cursor` of the page before. All other parameters are those of the first page, except `limit`, and without `offset`. The page is read from the same version as the first one, also if another has been published since; if it is no longer kept, the request is refused with `version_unavailable`. An extension."
    sort: Sort | None
    "The sort order, in any case. A leading `-` means descending order; unknown values come last in both directions. `days_on_market` sorts by fewest days first, `listed_at` by first observation, `discount` by the discount from MSRP before it is rounded, the largest first, and `value`, an extension, by `value_rating`, great, good, fair and high, and within a rating by the price relative to `market_value` before it is rounded, the lowest first; listings without a rating come last. It orders listings of the published day only. `-price_drop` sorts by the largest price drop first, and `all_in_price` by the price with the seller's fees, both extensions. `distance` sorts by the nearest dealer and requires an origin: `postal_code`, or `latitude` and `longitude`."
    fields: Fields | Sequence[Fields] | None
    "The fields to return for each listing, in any case. `id` and `vin` are always returned. `default` stands for all summary fields except `features`, `options_packages`, `keywords` and the extensions, from `market_value` to `all_in_price`, and can be combined with those. Unknown names, and names of filters that are not fields, are rejected."
    include: Include | Sequence[Include] | None
    "Expansions to add to each listing, in any case: `price_history` adds price changes, `options` adds decoded options. A listing search with either is billed at the enriched price; a dealer's inventory is not. Pages still hold at most 100 items."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    value_rating: ValueRating | Sequence[ValueRating] | None
    "Only return listings with one of these ratings of their price, in any case. See `GET /v1/comparables` for them: `great` is below the interval in which 80 % of last asking prices lie, `good` below the value by more than a third of the distance to it, `fair` up to the end of the interval, `high` above it, on the published day; fails with `incompatible_parameters` for sold listings and past days. An extension."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    inventory_status: InventoryStatus | None
    "Search `active` (the default) or `sold` inventory, in any case. `sold_within_days` implies `sold` and cannot be combined with `active`."
    sold_within_days: int | None
    "Only return sold listings whose sale became known within this many days, up to and including the as-of date; 1 returns those newly sold on that day. A sale becomes known at least two days after its `sold_date`. Cannot be combined with `snapshot_date` or `inventory_status=active`."
    snapshot_date: str | datetime.date | None
    "Search active inventory as of this day, for example `2026-10-01`. Cannot be combined with `sold_within_days` or `inventory_status=sold`. A day without a snapshot returns 400; the message names the first and the last available day."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class FindComparablesQuery(TypedDict, total=False):
    "The parameters of the operation `findComparables`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    vin: str | None
    "The VIN, in any case, whose latest listing is valued. With `miles`, and perhaps `inventory_type`, `msrp`, `postal_code`, `options`, `title` and `price`, the vehicle as these describe it, which need not have been listed: its build then follows from the VIN. Cannot be combined with the other parameters that describe a vehicle."
    year: int | None
    "The model year of the vehicle."
    make: str | None
    "The make, as a name or slug, in any case."
    model: str | None
    "The model, as a name or slug, in any case."
    trim: str | None
    "The trim, in any case."
    version: str | None
    "The version of the trim, in any case."
    inventory_type: ValuedInventoryType | None
    "Whether the vehicle is new, used or certified, in any case. `used` by default."
    miles: float | None
    "The odometer reading in miles. Required unless the vehicle is new."
    msrp: float | None
    "The MSRP with options, in whole US dollars. Required if the vehicle is new."
    price: float | None
    "The asking price in whole US dollars, which is rated."
    postal_code: str | None
    "The ZIP code of the vehicle, or a ZIP+4 code."
    options: str | Sequence[str] | None
    "Codes of the options of the vehicle, as `options_packages` has them. Without it, the value counts the mean of the listings that it rests on."
    title: ValuedTitle | None
    "Whether the title is branded, in any case: such vehicles have no value. By default that of the VIN's latest listing, else `clean`."
    radius: float | None
    "The greatest distance of comparables, in miles, from the dealer of the listing or from `postal_code`; supply counts those within it. The value stays that of the whole market."
    limit: int | None
    "The maximum number of comparables to return, those with the greatest weight first. The summary is always that of up to 60."

class ValueVehiclesQuery(TypedDict, total=False):
    "The parameters of the operation `valueVehicles`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    vin: Required[str | Sequence[str]]
    "The VINs, in any case, whose latest listings are valued."

class GetDepreciationQuery(TypedDict, total=False):
    "The parameters of the operation `getDepreciation`."
    make: Required[str]
    "The make, as a name or slug, in any case."
    model: Required[str]
    "The model, as a name or slug, in any case."
    by: FollowedBy | None
    "What prices are followed by, in any case: model years of `age`, or `miles`."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class SuggestFiltersQuery(TypedDict, total=False):
    "The parameters of the operation `suggestFilters`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    q: Required[str]
    "The text, in any case; accents and punctuation are ignored. Its words may be the beginnings of words."
    limit: int | None
    "The maximum number of suggestions to return."

class InterpretQuestionQuery(TypedDict, total=False):
    "The parameters of the operation `interpretQuestion`."
    q: Required[str]
    "The question, in any case."

class GetFacetsQuery(TypedDict, total=False):
    "The parameters of the operation `getFacets`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    facets: Required[FacetNames | Sequence[FacetNames]]
    "The facets to count, in any case. The numeric facets, from `price` to `all_in_price`, are counted by range; all others are categorical and counted by value. `value_rating`, `powertrain_type` and `dealer_id` are extensions. `value_rating` has values on the published day only."
    facet_value_limit: int | None
    "The maximum number of values to return per categorical facet. Does not affect numeric facets."
    facet_value_prefix: str | None
    "Only return the values of categorical facets that match this text, to find out how a value is spelled: values that begin with it, and values in which each word of it is the beginning of a word. Case, accents and punctuation are ignored. Dealers match by their names too. Does not affect `total` and numeric facets. An extension."
    facet_mode: FacetMode | None
    "Which filters narrow a facet, in any case. `conjunctive`: all of them. `disjunctive`: all but those that choose its own values or range, such as `make` of the facet `make` or `min_price` and `max_price` of `price`, so that it counts what could be chosen instead; exclusions still narrow it. `total` counts the listings that match all filters in both modes. An extension."
    interval: str | Sequence[str] | None
    "Fixes the bucket width of numeric facets, so that the ranges of several responses can be compared. A list of `facet:width`, in any case. Each facet appears at most once and must also be in `facets`; otherwise the request fails with `incompatible_parameters`. The width is a whole number from 1 to 10000000, in the unit of the facet. By default, the width follows from the matching listings. A width that results in more than 100 regular buckets fails with `invalid_parameter_value`; the message names the smallest accepted width."
    metric: MetricName | None
    "A statistic to compute over the listings of each value, as `<measure>.<aggregate>`, in any case; `count` is accepted for the default: none. Requires exactly one categorical facet. Null for values with a known measure in fewer than 10 matching listings. `days_supply` and `sell_through`, extensions, compare the active listings of a day with the sales of the 30 days up to it, as `meta.definitions` says; they cannot be combined with sold inventory and with value ratings."
    sort: BucketOrder | None
    "The order of the values of a categorical facet, in any case: by count, or by `metric`, which must then be set. A leading `-` means descending order. Values with a null metric come last in both directions. Ties are sorted by value in ascending order: numerically for `year`, `cylinders`, `doors` and `seating_capacity`, alphabetically for all others."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    value_rating: ValueRating | Sequence[ValueRating] | None
    "Only return listings with one of these ratings of their price, in any case. See `GET /v1/comparables` for them: `great` is below the interval in which 80 % of last asking prices lie, `good` below the value by more than a third of the distance to it, `fair` up to the end of the interval, `high` above it, on the published day; fails with `incompatible_parameters` for sold listings and past days. An extension."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    inventory_status: InventoryStatus | None
    "Search `active` (the default) or `sold` inventory, in any case. `sold_within_days` implies `sold` and cannot be combined with `active`."
    sold_within_days: int | None
    "Only return sold listings whose sale became known within this many days, up to and including the as-of date; 1 returns those newly sold on that day. A sale becomes known at least two days after its `sold_date`. Cannot be combined with `snapshot_date` or `inventory_status=active`."
    snapshot_date: str | datetime.date | None
    "Search active inventory as of this day, for example `2026-10-01`. Cannot be combined with `sold_within_days` or `inventory_status=sold`. A day without a snapshot returns 400; the message names the first and the last available day."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class ListChangesQuery(TypedDict, total=False):
    "The parameters of the operation `listChanges`."
    since: Required[str]
    "The older version, as `meta.data_version` of an earlier response names it."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    kinds: ChangeKinds | Sequence[ChangeKinds] | None
    "Only return changes of these kinds, in any case. Defaults to all."
    limit: int | None
    "The maximum number of changes to return, from 1 to 1,000. Larger values are rejected, not clamped. A page ends before 256 KiB of changes too: it can have fewer, and is the last one only if `next_cursor` is null."
    cursor: str | None
    "The `next_cursor` of the page before. All other parameters are those of the first page, except `limit`, and without `offset`. The page is read from the same version as the first one, also if another has been published since; if it is no longer kept, the request is refused with `version_unavailable`. An extension."
    fields: Fields | Sequence[Fields] | None
    "The fields to return for each listing, in any case. `id` and `vin` are always returned. `default` stands for all summary fields except `features`, `options_packages`, `keywords` and the extensions, from `market_value` to `all_in_price`, and can be combined with those. Unknown names, and names of filters that are not fields, are rejected."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class GetGroupsQuery(TypedDict, total=False):
    "The parameters of the operation `getGroups`."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    group_by: Required[GroupBy | Sequence[GroupBy]]
    "The attributes whose combinations are counted, in any case, at most 3: those with one value for each listing. `value_rating` requires the published day."
    metric: MetricName | Sequence[MetricName] | None
    "The metrics of each group, in any case, at most 5, as for facets. The count is always returned."
    sort: BucketOrder | None
    "The order of the groups, in any case: by count, or by `metric`, the first of the requested ones. A leading `-` means descending order. Groups with a null metric come last in both directions. Ties are sorted by the values in the order of `group_by`, each as in facets, unknown ones last."
    limit: int | None
    "The maximum number of groups to return."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    value_rating: ValueRating | Sequence[ValueRating] | None
    "Only return listings with one of these ratings of their price, in any case. See `GET /v1/comparables` for them: `great` is below the interval in which 80 % of last asking prices lie, `good` below the value by more than a third of the distance to it, `fair` up to the end of the interval, `high` above it, on the published day; fails with `incompatible_parameters` for sold listings and past days. An extension."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    inventory_status: InventoryStatus | None
    "Search `active` (the default) or `sold` inventory, in any case. `sold_within_days` implies `sold` and cannot be combined with `active`."
    sold_within_days: int | None
    "Only return sold listings whose sale became known within this many days, up to and including the as-of date; 1 returns those newly sold on that day. A sale becomes known at least two days after its `sold_date`. Cannot be combined with `snapshot_date` or `inventory_status=active`."
    snapshot_date: str | datetime.date | None
    "Search active inventory as of this day, for example `2026-10-01`. Cannot be combined with `sold_within_days` or `inventory_status=sold`. A day without a snapshot returns 400; the message names the first and the last available day."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class GetTrendsQuery(TypedDict, total=False):
    "The parameters of the operation `getTrends`."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    metric: Required[str | Sequence[str]]
    "The metrics of each point, in any case, at most 5: `count`, `new_listings`, `sold`, `price_drops`, `days_supply`, `sell_through`, or `<measure>.<aggregate>` as for facets, with `mean`, `median` or any percentile from `p1` to `p99` as the aggregate."
    interval: TrendInterval | None
    "The length of an interval, in any case. Weeks start on Monday (ISO 8601), months on their first day, quarters with January, April, July and October. The first and the last interval are cut at `from` and `to`. At most 400 intervals."
    from_: str | datetime.date | None
    "The first day of the period, inclusive, in UTC. Defaults to 89 days before `to`, or to the first day with a snapshot if that is later."
    to: str | datetime.date | None
    "The last day of the period, inclusive, in UTC. Defaults to the as-of date."
    facet: TrendFacet | Sequence[TrendFacet] | None
    "Categorical facets, in any case, at most 3: returns a series for each of the most frequent values of each facet, instead of one for all matches. Facets are independent of each other, as in `GET /v1/facets`: a listing counts in the series of its make and in that of its state. For the states of one make, filter by `make`."
    facet_limit: int | None
    "The maximum number of series of each facet, if `facet` is set. The values with the most active listings, added up over the `level_day` of all points, are returned. Intervals, facets, series and metrics multiply to at most 20000."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class SearchDealersQuery(TypedDict, total=False):
    "The parameters of the operation `searchDealers`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    limit: int | None
    "The maximum number of items to return, from 1 to 100. Larger values are rejected, not clamped."
    offset: int | None
    "The number of items to skip. Large offsets are slow: beyond about 10,000 items, narrow the filters instead."
    dealer_id: str | Sequence[str] | None
    "Only return these dealers, at most 100 distinct UUIDs."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    country: str | Sequence[str] | None
    "Only return dealers in one of these countries. Case-insensitive."
    type: Type | Sequence[Type] | None
    "Only return dealers of one of these types, in any case."
    make: str | Sequence[str] | None
    "Only return dealers that hold a franchise of one of these makes, regardless of their inventory. Accepts names and slugs, in any case."
    q: str | None
    "Only return dealers whose name, website domain or city matches this text: each word must be the beginning of a word of one of them. Case, accents and punctuation are ignored."

class ExportListingsQuery(TypedDict, total=False):
    "The parameters of the operation `exportListings`."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    sort: Sort | None
    "The sort order, in any case. A leading `-` means descending order; unknown values come last in both directions. `days_on_market` sorts by fewest days first, `listed_at` by first observation, `discount` by the discount from MSRP before it is rounded, the largest first, and `value`, an extension, by `value_rating`, great, good, fair and high, and within a rating by the price relative to `market_value` before it is rounded, the lowest first; listings without a rating come last. It orders listings of the published day only. `-price_drop` sorts by the largest price drop first, and `all_in_price` by the price with the seller's fees, both extensions. `distance` sorts by the nearest dealer and requires an origin: `postal_code`, or `latitude` and `longitude`."
    fields: ExportFields | Sequence[ExportFields] | None
    "The columns to export for each listing, in any case. `id` and `vin` are always exported. `default` stands for all columns except `features`, `options_packages`, `pricing` and the extensions, from `market_value` to `all_in_price`, and can be combined with those. Unknown names are rejected."
    include: Include | Sequence[Include] | None
    "Expansions to add to each listing, in any case: `price_history` adds price changes, `options` adds decoded options. A listing search with either is billed at the enriched price; a dealer's inventory is not. Pages still hold at most 100 items."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    value_rating: ValueRating | Sequence[ValueRating] | None
    "Only return listings with one of these ratings of their price, in any case. See `GET /v1/comparables` for them: `great` is below the interval in which 80 % of last asking prices lie, `good` below the value by more than a third of the distance to it, `fair` up to the end of the interval, `high` above it, on the published day; fails with `incompatible_parameters` for sold listings and past days. An extension."
    dealer_id: str | Sequence[str] | None
    "Only return listings of these dealers, at most 50 distinct UUIDs. Changes the usage class of a listing search."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    inventory_status: InventoryStatus | None
    "Search `active` (the default) or `sold` inventory, in any case. `sold_within_days` implies `sold` and cannot be combined with `active`."
    sold_within_days: int | None
    "Only return sold listings whose sale became known within this many days, up to and including the as-of date; 1 returns those newly sold on that day. A sale becomes known at least two days after its `sold_date`. Cannot be combined with `snapshot_date` or `inventory_status=active`."
    snapshot_date: str | datetime.date | None
    "Search active inventory as of this day, for example `2026-10-01`. Cannot be combined with `sold_within_days` or `inventory_status=sold`. A day without a snapshot returns 400; the message names the first and the last available day."
    snapshot_date_from: str | datetime.date | None
    "The first day of a range, for example `2026-10-01`, with `snapshot_date_to`: the file has the active listings of every published day of the range. See `as`. Cannot be combined with `snapshot_date`, `sold_within_days` or `inventory_status=sold`."
    snapshot_date_to: str | datetime.date | None
    "The last day of the range that `snapshot_date_from` begins, for example `2026-10-31`."
    as_: ExportRows | None
    "The meaning of a row in a range of days. `days`, the default: a listing on a day, with the column `snapshot_date` first, in the order of days. `intervals`: a listing as long as nothing about it changed, with the columns `valid_from` (its first day) and `valid_to` (the day after the last; null while it holds) first; `days_on_market`, which follows from a single day, is null there and cannot be filtered by."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."

class RunSqlQuery(TypedDict, total=False):
    "The parameters of the operation `runSql`."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."

class GetUsageQuery(TypedDict, total=False):
    "The parameters of the operation `getUsage`."
    start_date: str | datetime.date | None
    "The first day to return, in UTC. Defaults to 29 days before `end_date`. The range is limited to 366 days."
    end_date: str | datetime.date | None
    "The last day to return, in UTC, inclusive. Defaults to today."
    metering_class: MeteringClass | Sequence[MeteringClass] | None
    "Only return these usage classes, in any case. Defaults to all."

class GetListingQuery(TypedDict, total=False):
    "The parameters of the operation `getListing`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    include: Include | Sequence[Include] | None
    "Expansions to add to each listing, in any case: `price_history` adds price changes, `options` adds decoded options. A listing search with either is billed at the enriched price; a dealer's inventory is not. Pages still hold at most 100 items."

class GetVinQuery(TypedDict, total=False):
    "The parameters of the operation `getVin`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    include: Include | Sequence[Include] | None
    "Expansions to add to each listing, in any case: `price_history` adds price changes, `options` adds decoded options. A listing search with either is billed at the enriched price; a dealer's inventory is not. Pages still hold at most 100 items."

class GetEvidenceQuery(TypedDict, total=False):
    "The parameters of the operation `getEvidence`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    limit: int | None
    "The maximum number of steps to return, the newest ones. `meta.total` counts all."

class FindFittingDealersQuery(TypedDict, total=False):
    "The parameters of the operation `findFittingDealers`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "The market is the dealers within this many miles of the origin."
    limit: int | None
    "The maximum number of dealers or models to return, the fastest ones. `meta.total` counts all."

class GetListingComparablesQuery(TypedDict, total=False):
    "The parameters of the operation `getListingComparables`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    radius: float | None
    "The greatest distance of comparables, in miles, from the dealer of the listing or from `postal_code`; supply counts those within it. The value stays that of the whole market."
    limit: int | None
    "The maximum number of comparables to return, those with the greatest weight first. The summary is always that of up to 60."

class GetDealerQuery(TypedDict, total=False):
    "The parameters of the operation `getDealer`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."

class FindFittingModelsQuery(TypedDict, total=False):
    "The parameters of the operation `findFittingModels`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "The market is the dealers within this many miles of the origin."
    limit: int | None
    "The maximum number of dealers or models to return, the fastest ones. `meta.total` counts all."

class SearchDealerListingsQuery(TypedDict, total=False):
    "The parameters of the operation `searchDealerListings`."
    data_version: str | None
    "The version of the data to read instead of the published one, as `meta.data_version` and `Carquet-Version` name it, for example `2026-11-19.1`, so that several requests see one market. The lake keeps a version for a time, by default 14 days; a request for another one is refused with `version_unavailable`. An extension."
    csv_raw: bool | None
    "With `format=csv`: `true` writes texts unchanged. By default, a text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a line break, is preceded by an apostrophe. Numbers are never changed."
    limit: int | None
    "The maximum number of items to return, from 1 to 100. Larger values are rejected, not clamped."
    offset: int | None
    "The number of items to skip. Large offsets are slow: beyond about 10,000 items, narrow the filters instead."
    cursor: str | None
    "The `next_cursor` of the page before. All other parameters are those of the first page, except `limit`, and without `offset`. The page is read from the same version as the first one, also if another has been published since; if it is no longer kept, the request is refused with `version_unavailable`. An extension."
    sort: Sort | None
    "The sort order, in any case. A leading `-` means descending order; unknown values come last in both directions. `days_on_market` sorts by fewest days first, `listed_at` by first observation, `discount` by the discount from MSRP before it is rounded, the largest first, and `value`, an extension, by `value_rating`, great, good, fair and high, and within a rating by the price relative to `market_value` before it is rounded, the lowest first; listings without a rating come last. It orders listings of the published day only. `-price_drop` sorts by the largest price drop first, and `all_in_price` by the price with the seller's fees, both extensions. `distance` sorts by the nearest dealer and requires an origin: `postal_code`, or `latitude` and `longitude`."
    fields: Fields | Sequence[Fields] | None
    "The fields to return for each listing, in any case. `id` and `vin` are always returned. `default` stands for all summary fields except `features`, `options_packages`, `keywords` and the extensions, from `market_value` to `all_in_price`, and can be combined with those. Unknown names, and names of filters that are not fields, are rejected."
    include: Include | Sequence[Include] | None
    "Expansions to add to each listing, in any case: `price_history` adds price changes, `options` adds decoded options. A listing search with either is billed at the enriched price; a dealer's inventory is not. Pages still hold at most 100 items."
    make: str | Sequence[str] | None
    "Only return listings with one of these makes. Accepts names and slugs, in any case."
    model: str | Sequence[str] | None
    "Only return listings with one of these models. Accepts names and slugs, in any case."
    model_code: str | Sequence[str] | None
    "Only return listings with one of these manufacturer model codes. Case-insensitive."
    trim: str | Sequence[str] | None
    "Only return listings with one of these trims. Case-insensitive. Use the `trim` facet to list the values."
    version: str | Sequence[str] | None
    "Only return listings with one of these versions, which subdivide trims. Case-insensitive. Use the `version` facet to list the values."
    year: int | Sequence[int] | None
    "Only return listings with one of these model years."
    body_type: str | Sequence[str] | None
    "Only return listings with one of these body types. Case-insensitive."
    engine: str | Sequence[str] | None
    "Only return listings with one of these engines. Case-insensitive."
    transmission: str | Sequence[str] | None
    "Only return listings with one of these transmissions. Case-insensitive."
    drivetrain: str | Sequence[str] | None
    "Only return listings with one of these drivetrains. Case-insensitive."
    fuel_type: str | Sequence[str] | None
    "Only return listings with one of these fuel types. Case-insensitive."
    powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Only return listings with one of these powertrain types, in any case."
    cylinders: int | Sequence[int] | None
    "Only return listings with one of these numbers of cylinders. Electric vehicles have 0."
    doors: int | Sequence[int] | None
    "Only return listings with one of these numbers of doors."
    seating_capacity: int | Sequence[int] | None
    "Only return listings with one of these numbers of seats."
    exterior_color: str | Sequence[str] | None
    "Only return listings with one of these exterior colors, as reported by the dealer. Case-insensitive."
    interior_color: str | Sequence[str] | None
    "Only return listings with one of these interior colors, as reported by the dealer. Case-insensitive."
    base_exterior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized exterior colors. Case-insensitive."
    base_interior_color: str | Sequence[str] | None
    "Only return listings with one of these normalized interior colors. Case-insensitive."
    options_packages: str | Sequence[str] | None
    "Only return listings with all of these manufacturer option and package codes. Use the `options_packages` facet to list the values."
    features: str | Sequence[str] | None
    "Only return listings with all of these features. Use the `features` facet to list the values."
    keywords: Keywords | Sequence[Keywords] | None
    "Only return listings that satisfy all of these history keywords, in any case. `one_owner` and `clean_title` require the keyword; `branded` and `fleet` exclude listings that have it."
    assembly_country: str | Sequence[str] | None
    "Only return listings with one of these countries of final assembly. Case-insensitive. Use the `assembly_country` facet to list the values."
    assembly_location: str | Sequence[str] | None
    "Only return listings with one of these places of final assembly. Case-insensitive. Separate the values with `|`, because they contain commas, or repeat the parameter."
    vin_pattern: str | Sequence[str] | None
    "Only return listings whose VIN matches one of these masks, at most 10 distinct ones. A VIN character matches itself, `?` matches any one character, and a trailing `*` matches the rest. A mask shorter than a VIN is a prefix: `ABC` equals `ABC*`, and both count as one. `*` alone matches every VIN. Case-insensitive. I, O and Q are rejected."
    stock_number: str | Sequence[str] | None
    "Only return listings with one of these stock numbers. Case-insensitive. Dealers assign them, so that listings of several dealers can have the same one."
    inventory_type: InventoryType | Sequence[InventoryType] | None
    "Only return listings of one of these inventory types, in any case. `cpo` is an alias of `certified`."
    availability_status: AvailabilityStatus | Sequence[AvailabilityStatus] | None
    "Only return listings with one of these availabilities, in any case: in stock (`stock`), in transit (`transit`) or still to be built (`build`)."
    value_rating: ValueRating | Sequence[ValueRating] | None
    "Only return listings with one of these ratings of their price, in any case. See `GET /v1/comparables` for them: `great` is below the interval in which 80 % of last asking prices lie, `good` below the value by more than a third of the distance to it, `fair` up to the end of the interval, `high` above it, on the published day; fails with `incompatible_parameters` for sold listings and past days. An extension."
    dealer_type: DealerType | Sequence[DealerType] | None
    "Only return listings of one of these types of dealer, in any case."
    state: StateCode | Sequence[StateCode] | None
    "Only return results of dealers in one of these states, given as two-letter codes in any case."
    exclude_make: str | Sequence[str] | None
    "Exclude listings with one of these makes, given by name or slug in any case. Listings with an unknown make are kept."
    exclude_model: str | Sequence[str] | None
    "Exclude listings with one of these models, given by name or slug in any case. Listings with an unknown model are kept."
    exclude_trim: str | Sequence[str] | None
    "Exclude listings with one of these trims. Listings with an unknown trim are kept."
    exclude_version: str | Sequence[str] | None
    "Exclude listings with one of these versions. Listings with an unknown version are kept."
    exclude_year: int | Sequence[int] | None
    "Exclude listings with one of these model years. Listings with an unknown model year are kept."
    exclude_body_type: str | Sequence[str] | None
    "Exclude listings with one of these body types. Listings with an unknown body type are kept."
    exclude_engine: str | Sequence[str] | None
    "Exclude listings with one of these engines. Listings with an unknown engine are kept."
    exclude_transmission: str | Sequence[str] | None
    "Exclude listings with one of these transmissions. Listings with an unknown transmission are kept."
    exclude_drivetrain: str | Sequence[str] | None
    "Exclude listings with one of these drivetrains. Listings with an unknown drivetrain are kept."
    exclude_fuel_type: str | Sequence[str] | None
    "Exclude listings with one of these fuel types. Listings with an unknown fuel type are kept."
    exclude_powertrain_type: PowertrainCode | Sequence[PowertrainCode] | None
    "Exclude listings with one of these powertrain types, in any case. Listings with an unknown powertrain type are kept."
    exclude_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these exterior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these interior colors, as reported by the dealer. Listings with an unknown color are kept."
    exclude_base_exterior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized exterior colors. Listings with an unknown color are kept."
    exclude_base_interior_color: str | Sequence[str] | None
    "Exclude listings with one of these normalized interior colors. Listings with an unknown color are kept."
    exclude_options_packages: str | Sequence[str] | None
    "Exclude listings with any of these manufacturer option or package codes."
    exclude_features: str | Sequence[str] | None
    "Exclude listings with any of these features."
    exclude_keywords: ExcludeKeywords | Sequence[ExcludeKeywords] | None
    "Exclude listings with any of these history keywords, in any case."
    exclude_assembly_country: str | Sequence[str] | None
    "Exclude listings with one of these countries of final assembly. Listings with an unknown country are kept."
    exclude_assembly_location: str | Sequence[str] | None
    "Exclude listings with one of these places of final assembly. Listings with an unknown place are kept. Repeat the parameter, or separate the values with `+` or, unambiguously, with `%2B`. Because `+` also stands for a space, a value without `%2B` is divided into the places that the data has, the longest first: `Wien,+AT+Halle` excludes `Wien, AT` and `Halle`. The rest is reported in `meta.unmatched`."
    exclude_inventory_type: ExcludeInventoryType | Sequence[ExcludeInventoryType] | None
    "Exclude listings of one of these inventory types, in any case. Listings with an unknown type are kept. `cpo` is an alias of `certified`."
    exclude_state: StateCode | Sequence[StateCode] | None
    "Exclude listings of dealers in one of these states, given as two-letter codes in any case. Listings of dealers in an unknown state are kept."
    inventory_status: InventoryStatus | None
    "Search `active` (the default) or `sold` inventory, in any case. `sold_within_days` implies `sold` and cannot be combined with `active`."
    sold_within_days: int | None
    "Only return sold listings whose sale became known within this many days, up to and including the as-of date; 1 returns those newly sold on that day. A sale becomes known at least two days after its `sold_date`. Cannot be combined with `snapshot_date` or `inventory_status=active`."
    snapshot_date: str | datetime.date | None
    "Search active inventory as of this day, for example `2026-10-01`. Cannot be combined with `sold_within_days` or `inventory_status=sold`. A day without a snapshot returns 400; the message names the first and the last available day."
    listed_after: str | datetime.date | None
    "Only return listings first observed at or after this time, in any form of ISO 8601: a date, or a date and a time, with or without a zone. Without a zone, the time is in UTC; a date is its midnight. The `+` of an offset may be sent unencoded or as `%2B`. A leap second, `23:59:60`, is the beginning of the next day."
    price_changed_after: str | datetime.date | None
    "Only return listings whose price last changed at or after this time, in the forms of `listed_after`. An extension."
    min_price: float | None
    "Only return listings with at least this price, in US dollars. Listings with an unknown price are excluded."
    max_price: float | None
    "Only return listings with at most this price, in US dollars. Listings with an unknown price are excluded."
    min_mileage: float | None
    "Only return listings with at least this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    max_mileage: float | None
    "Only return listings with at most this odometer reading, in miles. Listings with an unknown odometer reading are excluded."
    min_msrp: float | None
    "Only return listings with at least this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    max_msrp: float | None
    "Only return listings with at most this combined MSRP, in US dollars. Listings with an unknown MSRP are excluded."
    min_price_drop: float | None
    "Only return listings with at least this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    max_price_drop: float | None
    "Only return listings with at most this price drop, in US dollars: how far the price is below the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drop_percent: float | None
    "Only return listings with at least this price drop, in percent of the first known price. Listings with an unknown price are excluded. An extension."
    min_price_drops: float | None
    "Only return listings with at least this number of price drops, since the listing was first observed. An extension."
    max_price_drops: float | None
    "Only return listings with at most this number of price drops, since the listing was first observed. An extension."
    min_all_in_price: float | None
    "Only return listings with at least this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    max_all_in_price: float | None
    "Only return listings with at most this all-in price, in US dollars: see `all_in_price` of a listing. Most feeds state no fees. Listings with an unknown all-in price are excluded. An extension."
    min_days_on_market: float | None
    "Only return listings with at least this number of days on the market. Listings with an unknown number of days are excluded."
    max_days_on_market: float | None
    "Only return listings with at most this number of days on the market. Listings with an unknown number of days are excluded."
    latitude: float | None
    "The latitude of the origin, in degrees, for example `37.5483`. Requires `longitude`. Cannot be combined with `postal_code`."
    longitude: float | None
    "The longitude of the origin, in degrees, for example `-121.9886`. Requires `latitude`. Cannot be combined with `postal_code`."
    postal_code: str | None
    "The origin as a US ZIP code of five digits. The first five digits of a ZIP+4 code count. An unknown ZIP code returns 400. Cannot be combined with `latitude` and `longitude`."
    radius: float | None
    "Only return listings of dealers within this many miles of the origin, at most 500. Requires an origin. Cannot be combined with `bbox`."
    bbox: Sequence[float] | None
    "Only return listings of dealers inside this bounding box: `west,south,east,north`, in degrees, for example `-122.6,37.2,-121.7,38.0`. The diagonal is at most 1000 miles. If `west` is greater than `east`, the box crosses the antimeridian; longitudes 180 and -180 are one meridian. A `south` greater than `north` returns 400. Cannot be combined with `radius`."
