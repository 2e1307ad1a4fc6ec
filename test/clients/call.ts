/** Calls a service with openapi-fetch and the types that openapi-typescript generates. */
import createClient from "openapi-fetch";
import type { paths } from "../../src/contract/generated/document.gen.ts";

/** Returns the results of a few requests, in the shape that the programs in the other languages print. */
export async function callWithOpenapiFetch(baseUrl: string, key: string): Promise<object> {
  const options = { baseUrl, headers: { Authorization: `Bearer ${key}` } };
  const client = createClient<paths, "application/json">(options);
  const search = (offset: number) =>
    client.GET("/v1/listings", {
      params: { query: { make: ["Toyota", "Honda"], sort: "-price", limit: 5, offset } },
    });
  const { data: listings } = await search(0);
  const { data: next } = await search(listings?.pagination.next_offset ?? 0);
  const { data: located } = await client.GET("/v1/listings", {
    params: { query: { assembly_location: ["Georgetown, Kentucky", "Dearborn, Michigan"], limit: 1 } },
  });
  const { data: facets } = await client.GET("/v1/facets", {
    params: { query: { facets: ["make", "price"], metric: "price.median" } },
  });
  const { data: vehicle } = await client.GET("/v1/vins/{vin}", {
    params: { path: { vin: listings?.data[0]?.vin ?? "" }, query: { include: ["price_history", "options"] } },
  });
  const { data: dealers } = await client.GET("/v1/dealers", { params: { query: { limit: 3 } } });
  const missing = await client.GET("/v1/listings/{listing_id}", { params: { path: { listing_id: "none" } } });
  const refused = await client.GET("/v1/listings", { params: { query: { min_price: 2, max_price: 1 } } });
  const latest = vehicle?.data.latest_listing;
  return {
    listings: [listings?.pagination.total, listings?.data.map(({ vin, price }) => [vin, price])],
    next: [listings?.pagination.next_offset, next?.data.map(({ vin }) => vin)],
    located: located?.pagination.total,
    facets: facets?.data.facets.make?.map(({ value, count, metric }) => [value, count, metric?.value]),
    ranges: facets?.data.range_facets.price?.buckets.map(({ min, max, count }) => [min, max, count]),
    vehicle: [
      vehicle?.data.status,
      vehicle?.data.build.make,
      vehicle?.data.build.options?.length,
      latest?.id,
      latest?.inventory_type,
      latest?.price_history.length,
    ],
    dealers: dealers?.data.map(({ name, type }) => [name, type]),
    missing: [missing.response.status, missing.error?.error.code],
    refused: [refused.response.status, refused.error?.error.code],
  };
}
