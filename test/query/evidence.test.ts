/** Operation `getEvidence` over HTTP; `test/lifecycle/evidence-differences.ts` compares its steps with the lifecycle oracle. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../src/contract/types.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { explainVin } from "../../src/query/evidence/evidence.ts";
import { decisionsOf } from "../../src/query/evidence/steps.ts";
import { readVinHistory } from "../../src/query/evidence/vin-history.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { sampleService } from "../support/http/service.ts";

const { client, lake } = await sampleService();

const evidenceOf = (vin: string, query = ""): Promise<AnswerOf<"getEvidence">> =>
  client.getBody("getEvidence", `/v1/vins/${vin}/evidence${query}`);

test("a VIN that several dealers claim has one decision for each change of its listing, and every step is a sentence", async () => {
  const { data, meta } = await evidenceOf("5j8tc2h52ml162377");
  const decided = data.steps.filter(({ is_confirmed }) => is_confirmed !== null);
  assert.deepEqual(
    decided.map(({ day, event, rule, claimants, is_confirmed }) => [day, event, rule, claimants.length, is_confirmed]),
    [
      ["2026-11-18", "listed", "has_photos", 2, true],
      ["2026-11-19", "ended", "superseded", 2, true],
      ["2026-11-19", "listed", "earliest_claim", 2, true],
    ],
  );
  assert.equal(data.status, "active");
  assert.deepEqual([meta.truncated, meta.total, meta.first_day], [false, data.steps.length, "2026-11-18"]);
  for (const { text } of data.steps) assert.match(text, /^[A-Z].+\.$/);
});

test("rows and values that were refused, noted or merged are steps with the value, the reason and the row", async () => {
  const issues = [
    ["3MW5R7J08M8N65069", "rejected_row", "dealer_id", "41e7ac92-0f5b-4d38-8c6e", 212, "not a UUID"],
    ["1FTFW1E50NKA62318", "unknown_value", "price", "Call for price", 51, "not a whole number"],
    ["1N4BL4DV4LC472314", "noted_value", "vin", "1N4BL4DV4LC472314", 183, "wrong check digit"],
    [
      "2T3P1RFV6MW145919",
      "merged_row",
      "vin",
      "2T3P1RFV6MW145919",
      5,
      "replaced by a later row of this VIN and dealer",
    ],
  ] as const;
  for (const [vin, rule, field, value, row, reason] of issues) {
    const { steps } = (await evidenceOf(vin)).data;
    const step = steps.find(({ event }) => event === "issue");
    assert.deepEqual([step?.rule, step?.changes], [rule, [{ field, before: value, after: null }]]);
    assert.deepEqual(step?.source, { file: "inventory.csv", row, day: "2026-11-18" });
    assert.match(step?.text ?? "", new RegExp(`: ${reason}\\.`));
  }
});

test("the newest steps remain within the limit, and the answer says that others were left out", async () => {
  const all = await evidenceOf("5J8TC2H52ML162377");
  const { data, meta } = await evidenceOf("5J8TC2H52ML162377", "?limit=3");
  assert.deepEqual(data.steps, all.data.steps.slice(-3));
  assert.deepEqual([meta.limit, meta.total, meta.truncated], [3, all.meta.total, true]);
});

test("a VIN that no row had is not found, and bad parameters are refused", async () => {
  assert.equal((await client.getError("/v1/vins/1HGCM82633A004352/evidence")).code, "not_found");
  assert.equal((await client.getError("/v1/vins/5J8TC2H52ML162377/evidence?limit=0")).status, 400);
  assert.equal((await client.getError("/v1/vins/5J8TC2H52ML16237O/evidence")).status, 400);
});

/** Explains a VIN without the service, which refuses malformed ones. */
async function explained(lake: string, vin: string): Promise<AnswerOf<"getEvidence">["data"]> {
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", {
    hasServingFiles: false,
  });
  try {
    return (await explainVin(vin, 100, version)).data;
  } finally {
    version.close();
  }
}

test("a VIN whose rows were all refused has issues and no state", async () => {
  const { status, steps } = await explained(lake, "5FNRL6H6XNBO43490");
  assert.deepEqual([status, steps.map(({ event, rule }) => [event, rule])], [null, [["issue", "rejected_row"]]]);
});

test("a decision by a rule that this release does not have has no rule and is not confirmed", async () => {
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", {
    hasServingFiles: false,
  });
  try {
    const history = await readVinHistory("5J8TC2H52ML162377", version);
    const claims = history.claims.map((claim) => ({ ...claim, decidedBy: "oldest_dealer" }));
    const listed = decisionsOf({ ...history, claims }).decisions.filter(({ event }) => event === "listed");
    assert.ok(listed.length > 0);
    for (const { rule, is_confirmed } of listed) assert.deepEqual([rule, is_confirmed], [null, false]);
  } finally {
    version.close();
  }
});
