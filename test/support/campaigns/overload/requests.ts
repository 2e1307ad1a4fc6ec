/** The classes of requests of the overload, and their shares. */
import assert from "node:assert/strict";
import { vocabulary } from "../../../../src/contract/document.ts";
import { readManifest } from "../../../../src/lake/manifest.ts";
import type { Chance } from "../../chance.ts";
import { carquet } from "../../command-line.ts";
import { nonces, withNonce } from "../mixed/nonce.ts";
import type { CheckedRequest, PreparedLake } from "../mixed/prepared-lake.ts";

/** Classes with their shares of the load that is offered. */
export const offeredClasses = ["search", "facets", "changes", "sql", "export"] as const;
export type OfferedClass = (typeof offeredClasses)[number];
export const offeredShares: Readonly<Record<OfferedClass, number>> = {
  search: 0.55,
  facets: 0.35,
  changes: 0.05,
  sql: 0.02,
  export: 0.03,
};

/** Classes of light requests, which are timed: of the version in service, and of the oldest of the versions that are published in turn. */
export const lightClasses = ["light", "kept"] as const;
export type LightClass = (typeof lightClasses)[number];
export type RequestClass = OfferedClass | LightClass;

export type OverloadRequests = Readonly<Record<RequestClass, readonly CheckedRequest[]>>;

/** Exports: as many as there are makes among the first listings of the prepared requests, up to this number. */
const exportsMax = 3;
const parameters = "fields=id,vin,make,model,price,miles,dealer_id&sort=-price&max_price=NONCE";

const exportPath = "/v1/exports?";

/** An export of all listings, which is not compared. */
export const wholeExport: CheckedRequest = {
  form: { weight: "worst", path: `${exportPath}format=csv` },
  answers: new Map(),
};

/** Statements with integers and texts only, which the command writes as the service does. */
const statements = [
  "SELECT make, count(*)::INTEGER AS n, max(price)::INTEGER AS price FROM active GROUP BY ALL ORDER BY make",
  "SELECT dealer_id, count(DISTINCT model)::INTEGER AS models FROM active GROUP BY ALL ORDER BY models DESC, dealer_id LIMIT 50",
];

/** Statements that take all memory or time that they get, and some that fail at once. */
export const hostileStatements = [
  "SELECT range(0,700000000) IS NULL AS a",
  "SELECT len(list(range)) AS n FROM range(500000000)",
  "SELECT count(*) AS n FROM range(100000000000) WHERE hash(range) = 1",
  "SELECT (SELECT string_agg(vin, ' ') FROM active)::INTEGER AS a",
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT (",
];

/** Returns the requests by class. Writes the references of exports and statements by the command, from the undamaged lake. */
export async function overloadRequests(prepared: PreparedLake): Promise<OverloadRequests> {
  const { requests } = prepared;
  const makes = new Set(requests.flatMap(({ form }) => /[?&](make=[^&]+)/.exec(form.path)?.[1] ?? []));
  const exported: CheckedRequest[] = [];
  for (const [index, make] of [...makes].slice(0, exportsMax).entries())
    exported.push(await referenceOf(prepared, `format=${index % 2 === 0 ? "csv" : "ndjson"}&${make}&${parameters}`));
  const sql: CheckedRequest[] = [];
  for (const statement of statements) sql.push(await referenceOfStatement(prepared, statement));
  const light = requests.filter(({ form }) => form.weight === "light");
  const facets = `/v1/facets?facets=${vocabulary("getFacets", "facets").join()}&`;
  const allFacets = requests.filter(({ form }) => form.path.startsWith(facets));
  assert.ok(allFacets.length > 0 && exported.length > 0, "requests of every class");
  return {
    light,
    kept: light.map((request) => ofVersion(request, prepared.versions[0] ?? "")),
    search: requests.filter(({ form }) => form.weight === "medium" && form.path.startsWith("/v1/listings")),
    facets: allFacets,
    changes: requests.filter(({ form }) => form.path.startsWith("/v1/changes")),
    sql,
    export: exported,
  };
}

/** Returns a request that names a version, which alone is right. */
function ofVersion({ form, answers }: CheckedRequest, version: string): CheckedRequest {
  const path = `${form.path}${form.path.includes("?") ? "&" : "?"}data_version=${version}`;
  return { form: { ...form, path }, answers: new Map([[version, answers.get(version) ?? assert.fail(path)]]) };
}

async function referenceOfStatement({ lake, kept }: PreparedLake, statement: string): Promise<CheckedRequest> {
  const answers = new Map<string, string>();
  for (const version of kept) {
    const args = ["sql", statement, "--lake", lake, "--data-version", version, "--format", "ndjson"];
    const { code, out, err } = await carquet(args);
    assert.equal(code, 0, err);
    const { as_of } = await readManifest(lake, version);
    const data = out
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    answers.set(version, JSON.stringify({ data, meta: { data_version: version, as_of } }));
  }
  return { form: { weight: "worst", path: "/v1/sql", body: { sql: statement } }, answers };
}

async function referenceOf({ lake, kept }: PreparedLake, query: string): Promise<CheckedRequest> {
  const answers = new Map<string, string>();
  for (const version of kept) {
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
  draw(of: RequestClass): { readonly request: CheckedRequest; readonly path: string } {
    const request = this.chance.pick(this.requests[of]);
    return { request, path: this.pathOf(of, request) };
  }

  /** Returns a path of a request with another nonce. */
  pathOf(of: RequestClass, { form }: CheckedRequest): string {
    if (of === "export") this.exports += 1;
    return withNonce(form.path, of === "export" ? this.exports : this.chance.integer(0, nonces));
  }

  /** Returns a class by the shares. */
  drawClass(): OfferedClass {
    let at = this.chance.next();
    const drawn = offeredClasses.find((of) => {
      at -= offeredShares[of];
      return at < 0;
    });
    return drawn ?? "search";
  }
}
