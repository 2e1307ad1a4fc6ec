"""Calls a service with the client that openapi-python-client generates, and prints the results as JSON."""

import json
import os

from carquet_client import AuthenticatedClient
from carquet_client.api.dealers import search_dealers
from carquet_client.api.facets import get_facets
from carquet_client.api.listings import get_listing, search_listings
from carquet_client.api.vehicles import get_vin
from carquet_client.models import (
    GetFacetsFacetsItem,
    GetVinIncludeItem,
    ListingCollection,
    MetricName,
    SearchListingsSort,
)


client = AuthenticatedClient(base_url=os.environ["CARQUET_URL"], token=os.environ["CARQUET_KEY"])


def search(offset: int) -> ListingCollection:
    return search_listings.sync(
        client=client, make=["Toyota", "Honda"], sort=SearchListingsSort.PRICE_DESCENDING, limit=5, offset=offset
    )


listings = search(0)
next_page = search(listings.pagination.next_offset)
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
            "next": [listings.pagination.next_offset, [item.vin for item in next_page.data]],
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
