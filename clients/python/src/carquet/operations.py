"""What the client needs of the document beside its types. Generated from schemas/openapi.yaml."""

IDEMPOTENT_PATHS: frozenset[str] = frozenset(["/v1/listings","/v1/listings/search","/v1/listings/{listing_id}","/v1/vins/{vin}","/v1/vins/{vin}/evidence","/v1/vins/{vin}/dealer-fit","/v1/listings/{listing_id}/comparables","/v1/comparables","/v1/valuations","/v1/depreciation","/v1/suggest","/v1/interpret","/v1/facets","/v1/changes","/v1/groups","/v1/trends","/v1/dealers","/v1/dealers/{dealer_id}","/v1/dealers/{dealer_id}/fit","/v1/dealers/{dealer_id}/listings","/v1/sql"])
"""Paths whose operation takes an `Idempotency-Key`: a repeated request is charged once."""

RETRIED_STATUSES: frozenset[int] = frozenset([429,503])
"""Statuses of responses with `Retry-After`."""

SEPARATORS: dict[str, str] = {"assembly_location":"|","exclude_assembly_location":"+"}
"""Separators of lists, by parameter; all others are separated by commas."""
