/** The classes of requests of the overload, and their shares. */
import assert from "node:assert/strict";
import type { Chance } from "../../chance.ts";
import { carquet } from "../../command-line.ts";
import type { CheckedRequest, PreparedLake } from "../mixed/prepared-lake.ts";
import { nonces, withNonce } from "../mixed/request-forms.ts";

/** Classes with their shares of the load that is offered. */
export const offeredClasses = ["search", "facets", "export"] as const;
export type OfferedClass = (typeof offeredClasses)[number];
export const offeredShares: Readonly<Record<OfferedClass, number>> = { search: 0.6, facets: 0.37, export: 0.03 };

export type OverloadRequests = Readonly<Record<OfferedClass | "light", readonly CheckedRequest[]>>;

/** Exports: as many as there are makes among the first listings of the prepared requests, up to this number. */
const exportsMax = 3;
const parameters = "fields=id,vin,make,model,price,miles,dealer_id&sort=-price&max_price=NONCE";

const exportPath = "/v1/exports?";

/** An export of all listings, which is not compared. */
export const wholeExport: CheckedRequest = {
  form: { weight: "worst", path: `${exportPath}format=csv` },
  answers: new Map(),
};

/** Returns the requests by class. Writes the reference of each export by the command, from the undamaged lake. */
export async function overloadRequests(prepared: PreparedLake): Promise<OverloadRequests> {
  const { requests } = prepared;
  const makes = new Set(requests.flatMap(({ form }) => /[?&](make=[^&]+)/.exec(form.path)?.[1] ?? []));
  const exported: CheckedRequest[] = [];
  for (const [index, make] of [...makes].slice(0, exportsMax).entries())
    exported.push(await referenceOf(prepared, `format=${index % 2 === 0 ? "csv" : "ndjson"}&${make}&${parameters}`));
  const allFacets = requests.filter(({ form }) => /^\/v1\/facets\?facets=(\w+,){29}\w+&/.test(form.path));
  assert.ok(allFacets.length > 0 && exported.length > 0, "requests of every class");
  return {
    light: requests.filter(({ form }) => form.weight === "light"),
    search: requests.filter(({ form }) => form.weight === "medium" && form.path.startsWith("/v1/listings")),
    facets: allFacets,
    export: exported,
  };
}

async function referenceOf({ lake, versions }: PreparedLake, query: string): Promise<CheckedRequest> {
  const answers = new Map<string, string>();
  for (const version of versions) {
    const args = ["export", withNonce(query, 0), "--lake", lake, "--data-version", version, "--output", "-"];
    const { code, out, err } = await carquet(args);
    assert.equal(code, 0, err);
    answers.set(version, out);
  }
  return { form: { weight: "worst", path: `${exportPath}${query}` }, answers };
}

/** Draws requests. No two exports of a draw have the same path, because an account pays once for the same export. */
export class RequestDraw {
  private exports = 0;

  constructor(
    private readonly requests: OverloadRequests,
    private readonly chance: Chance,
  ) {}

  /** Returns a request of a class and a path of it. */
  draw(of: OfferedClass | "light"): { readonly request: CheckedRequest; readonly path: string } {
    const request = this.chance.pick(this.requests[of]);
    return { request, path: this.pathOf(of, request) };
  }

  /** Returns a path of a request with another nonce. */
  pathOf(of: OfferedClass | "light", { form }: CheckedRequest): string {
    if (of === "export") this.exports += 1;
    return withNonce(form.path, of === "export" ? this.exports : this.chance.integer(0, nonces));
  }

  /** Returns a class by the shares. */
  drawClass(): OfferedClass {
    const { search, facets } = offeredShares;
    const at = this.chance.next();
    return at < search ? "search" : at < search + facets ? "facets" : "export";
  }
}
