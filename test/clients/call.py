"""Calls a service with the client that openapi-python-client generates, and prints the results as JSON."""

import json
import os

import httpx
from carquet_client import AuthenticatedClient
from carquet_client.api.dealers import search_dealers
from carquet_client.api.facets import get_facets
from carquet_client.api.listings import get_listing, search_listings
from carquet_client.api.vehicles import get_vin
from carquet_client.models import (
    GetFacetsFacetsItem,
    GetVinIncludeItem,
    MetricName,
    SearchListingsSort,
)


def join_lists(request: httpx.Request) -> None:
    """Joins the values of a list, which httpx sends as repeated parameters."""
    separators = {"assembly_location": "|", "exclude_assembly_location": "+"}
    items = request.url.params
    joined = {name: separators.get(name, ",").join(items.get_list(name)) for name in items}
    request.url = request.url.copy_with(params=joined)


client = AuthenticatedClient(
    base_url=os.environ["CARQUET_URL"],
    token=os.environ["CARQUET_KEY"],
    httpx_args={"event_hooks": {"request": [join_lists]}},
)

listings = search_listings.sync(
    client=client, make=["Toyota", "Honda"], sort=SearchListingsSort.PRICE_DESCENDING, limit=5
)
located = search_listings.sync(
    client=client, assembly_location=["Georgetown, Kentucky", "Dearborn, Michigan"], limit=1
)
facets = get_facets.sync(
    client=client,
    facets=[GetFacetsFacetsItem.MAKE, GetFacetsFacetsItem.PRICE],
    metric=MetricName.PRICE_MEDIAN,
)
vehicle = get_vin.sync(
    listings.data[0].vin, client=client, include=[GetVinIncludeItem.PRICE_HISTORY, GetVinIncludeItem.OPTIONS]
).data
dealers = search_dealers.sync(client=client, limit=3)
missing = get_listing.sync_detailed("none", client=client)
refused = search_listings.sync_detailed(client=client, min_price=2, max_price=1)

print(
    json.dumps(
        {
            "listings": [listings.pagination.total, [[item.vin, item.price] for item in listings.data]],
            "located": located.pagination.total,
            "facets": [[b.value, b.count, b.metric.value] for b in facets.data.facets["make"]],
            "ranges": [[b.min_, b.max_, b.count] for b in facets.data.range_facets["price"].buckets],
            "vehicle": [vehicle.status, vehicle.build.make, len(vehicle.build.options or []),
                        vehicle.latest_listing.id, vehicle.latest_listing.inventory_type,
                        len(vehicle.latest_listing.price_history)],
            "dealers": [[dealer.name, dealer.type_] for dealer in dealers.data],
            "missing": [missing.status_code, missing.parsed.error.code],
            "refused": [refused.status_code, refused.parsed.error.code],
        }
    )
)
