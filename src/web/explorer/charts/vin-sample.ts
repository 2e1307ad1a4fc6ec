/**
 * A sample of the listings of a search, for charts that draw single ones: those whose VIN ends in certain digits. The end of a VIN is a
 * serial number, so it depends on neither price nor miles, and the same listings are sampled each time.
 */
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/caller.ts";
import type { PageRequests } from "../../shell/page-requests.ts";

/** The approximate size of a sample; a search with no more listings is shown completely. */
const sampleAim = 300;
/** Requests of a sample, and the listings of each. */
const pagesMax = 4;
const pageListings = 100;

const fields = "year,make,model,price,miles";

export interface ListingSample {
  readonly listings: AnswerOf<"searchListings">["data"];
  /** A description of the sampled listings. */
  readonly rule: string;
}

/** Samples the listings of a search with `total` matches. */
export async function sampleListings(
  requests: PageRequests,
  filters: TextParameters,
  total: number,
): Promise<ListingSample> {
  const ends = filters.vin_pattern === undefined ? serialEnds(total) : [];
  const query = {
    ...filters,
    fields,
    limit: String(pageListings),
    ...(ends.length === 0 ? {} : { vin_pattern: ends.map((end) => end.padStart(vinLength, "?")).join() }),
  };
  const first = await requests.call("searchListings", query);
  const pages = Math.min(pagesMax, Math.ceil(first.pagination.total / pageListings));
  const rest = await Promise.all(
    Array.from({ length: Math.max(0, pages - 1) }, (_, index) =>
      requests.call("searchListings", { ...query, offset: String((index + 1) * pageListings) }),
    ),
  );
  const listings = [first, ...rest].flatMap(({ data }) => data);
  const isCut = first.pagination.total > listings.length;
  return { listings, rule: ruleOf(ends, isCut) };
}

const vinLength = 17;

/** Returns the ends of the VINs that are sampled, evenly spaced; none if all listings are. */
export function serialEnds(total: number): readonly string[] {
  if (total <= sampleAim) return [];
  const digits = Math.ceil(Math.log10(total / sampleAim));
  const possible = 10 ** digits;
  const ends = Math.max(1, Math.floor((sampleAim * possible) / total));
  return Array.from({ length: ends }, (_, index) =>
    String(Math.floor(((index + 0.5) * possible) / ends)).padStart(digits, "0"),
  );
}

function ruleOf(ends: readonly string[], isCut: boolean): string {
  const which = ends.length === 0 ? "all" : `those whose VIN ends in ${ends.join(", ")}`;
  return isCut ? `${ends.length === 0 ? "" : `${which}, of these `}the most recently listed` : which;
}
