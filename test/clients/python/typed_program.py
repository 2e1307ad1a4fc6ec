"""A program for the type checker: it must accept all lines but those that name the error which it must find."""

import datetime

import carquet_client as carquet
from carquet_client.models import FacetBucket, ListingSummary

client = carquet.Client("https://cars.example", "key")
for listing in client.listings(make=["Toyota"], max_price=30_000, fields=["price"], listed_after=datetime.date(2026, 11, 1)):
    typed: ListingSummary = listing
    price: int | None = listing.get("price")
    listing["prize"]  # type: ignore[typeddict-item]
for page in client.dealers(state="CA").iter_pages():
    total: int = page["pagination"]["total"]
makes: list[FacetBucket] = client.facets(facets="make", metric="price.median")["data"]["facets"]["make"]
client.trends(metric="sold", from_="2026-11-01")["meta"]["from"]
client.export(snapshot_date_from="2026-11-18", as_="days").to_polars().height
rows: int = carquet.lake("lake").sql("FROM active").shape[0]

client.listings(mak="Toyota")  # type: ignore[call-arg]
client.listings(sort="cost")  # type: ignore[arg-type]
client.listings(year="new")  # type: ignore[arg-type]
client.listings(format="csv")  # type: ignore[call-arg]
client.facets()  # type: ignore[call-arg]
client.export().save("cars.csv", format="xlsx")  # type: ignore[arg-type]
