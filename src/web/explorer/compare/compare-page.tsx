/** The page that compares two to six cars of its address. For one car or none it says how to add more, of more it lets the reader choose. */
import type { SiteServices } from "../../../http/service/service-state.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { type PageHandler, serviceOrigin } from "../../shell/pages.tsx";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import { photoHostsOf } from "../photo-frame.tsx";
import { CarChoice, comparedMax, comparisonPath } from "./car-choice.tsx";
import type { ComparedCar } from "./compared-rows.tsx";
import { ComparisonTable } from "./comparison-table.tsx";

/** The most cars that a shortlist has. */
const carsMax = 24;

export const comparePage =
  ({ photos }: Pick<SiteServices, "photos">): PageHandler =>
  async ({ context, query, requests }) => {
    const given = query.getAll("ids").join().toLowerCase().split(",");
    const words = (query.get("add") ?? "").trim();
    const added = words === "" ? undefined : await addedId(requests, words);
    const ids = [...new Set([...given.map((id) => id.trim()), added ?? ""])].filter((id) => id !== "");
    const isUnknown = words !== "" && added === undefined && requests.missing.length === 0;
    const isTooLong = ids.length > carsMax;
    const cars = isTooLong ? [] : await loadCars(requests, ids);
    const isCompared = cars.length > 1 && cars.length <= comparedMax;
    return {
      title: isCompared ? `Compare ${cars.length} cars` : "Compare cars",
      door: "shop",
      imageHosts: photoHostsOf(photos),
      ...(words === "" && query.getAll("ids").length < 2 ? {} : { address: comparisonPath(ids) }),
      status: isTooLong ? 400 : ids.length > 0 && cars.length === 0 ? 404 : 200,
      body: (
        <div class="stack">
          <MissingParts missing={requests.missing} />
          {isTooLong ? (
            <p class="notice">{`The address names ${ids.length} cars: expected at most ${carsMax}.`}</p>
          ) : null}
          {isUnknown ? (
            <p class="notice">
              {`“${words}” is neither the VIN of a listing nor the id of one. `}
              <a href={`/find?${new URLSearchParams({ q: words })}`}>Find it by its words</a>, and keep it.
            </p>
          ) : null}
          {isCompared ? (
            <ComparisonTable cars={await withSummaries(requests, cars)} photos={photos} />
          ) : (
            <CarChoice cars={cars} />
          )}
          <ApiRequests origin={serviceOrigin(context)} requests={requests} />
        </div>
      ),
    };
  };

/** Returns the id of the listing that words name by its id, its address or its VIN; undefined if they name none. */
async function addedId(requests: PageRequests, words: string): Promise<string | undefined> {
  const [id] = /\b[0-9a-f]{32}\b/i.exec(words) ?? [];
  if (id !== undefined) return id.toLowerCase();
  if (!/^[a-hj-npr-z0-9]{17}$/i.test(words)) return undefined;
  const found = await requests.loadPart("car to add", () => requests.call("getVin", {}, { vin: words.toUpperCase() }));
  return found?.data.latest_listing?.id;
}

/** Returns the listings with some ids, in their order. Those that do not exist are parts that the page misses. */
async function loadCars(requests: PageRequests, ids: readonly string[]): Promise<readonly ComparedCar[]> {
  const answers = await Promise.all(
    ids.map((id) => requests.loadPart(`car ${id}`, () => requests.call("getListing", {}, { listing_id: id }))),
  );
  return answers.flatMap((answer) =>
    answer === undefined ? [] : [{ listing: answer.data, supersededBy: answer.meta.superseded_by, summary: undefined }],
  );
}

/** Adds the equipment and days of cars, which one search has of all cars for sale, and another of all sold ones. */
async function withSummaries(requests: PageRequests, cars: readonly ComparedCar[]): Promise<readonly ComparedCar[]> {
  const searches = (["active", "sold"] as const).map(async (inventory_status) => {
    const vins = cars.filter(({ listing }) => listing.status === inventory_status).map(({ listing }) => listing.vin);
    if (vins.length === 0) return [];
    const query = { inventory_status, vin_pattern: [...new Set(vins)].join(), fields: "features,days_on_market" };
    const search = () => requests.call("searchListings", { ...query, limit: "100" });
    return (await requests.loadPart("equipment and days on market", search))?.data ?? [];
  });
  const found = new Map((await Promise.all(searches)).flat().map((summary) => [summary.id, summary]));
  return cars.map((car) => ({ ...car, summary: found.get(car.listing.id) }));
}
