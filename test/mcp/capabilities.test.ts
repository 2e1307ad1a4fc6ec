/** What the agent server offers only to clients that declare a capability: questions to the user, tasks and charts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { createCustomer } from "../support/accounts.ts";
import { connectAgent } from "../support/agents.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const service = await startService(fileScope, lake, { mountSite: mountAgents });

const chargedTo = async (): Promise<number> => {
  const { body } = await service.get("/v1/usage", service.customer.bearer);
  assert.ok(isObject(body) && isObject(body.totals));
  return Number(body.totals.charged_micros);
};

describe("an expensive call is confirmed by the user of a client that can ask", () => {
  const capabilities = { elicitation: { form: {} } };
  const enriched = { include: ["price_history"], limit: 1 };

  test("an accepted price is charged once", async (t) => {
    const questions: string[] = [];
    const answer = (message: string) => {
      questions.push(message);
      return "accept" as const;
    };
    const agent = await connectAgent(t, service.url, service.customer.bearer, { capabilities, answer });
    const before = await chargedTo();
    const { isError, usage, text } = await agent.call("search_listings", enriched);
    assert.equal(isError, false, text);
    assert.deepEqual(questions, ["This call of search_listings costs $0.040. Accept to pay for it."]);
    assert.deepEqual([usage?.charged_micros, (await chargedTo()) - before], [40_000, 40_000]);
    assert.equal((await agent.call("trends", { metric: ["count"] })).isError, false);
    assert.match((await agent.call("search_listings", { ...enriched, limit: 101 })).text, /^invalid_parameter_value/);
    assert.equal(questions.length, 1);
  });

  for (const action of ["decline", "cancel"] as const)
    test(`${action} charges nothing`, async (t) => {
      const options = { capabilities, answer: () => action };
      const agent = await connectAgent(t, service.url, service.customer.bearer, options);
      const before = await chargedTo();
      const { isError, text } = await agent.call("search_listings", enriched);
      assert.equal(isError, true);
      assert.equal(text, "Not called: the price of $0.040 was not accepted. Nothing was charged.");
      assert.equal(await chargedTo(), before);
    });

  const unable = [
    { era: "legacy", capabilities },
    { capabilities: {} },
    { capabilities: { elicitation: { url: {} } } },
  ] as const;
  for (const options of unable)
    test(`a client with ${JSON.stringify(options)} is not asked`, async (t) => {
      const agent = await connectAgent(t, service.url, service.customer.bearer, options);
      assert.equal((await agent.call("search_listings", enriched)).usage?.charged_micros, 40_000);
    });

  test("questions count against the rate limits", async (t) => {
    const { bearer } = createCustomer(service.accounts, { override: { per10s: 12, per60s: 12 } });
    const agent = await connectAgent(t, service.url, bearer, { capabilities, answer: () => "decline" });
    let declined = 0;
    while (declined < 20 && /^Not called/.test((await agent.call("search_listings", enriched)).text)) declined += 1;
    assert.ok(declined >= 2 && declined < 6, `${declined} declined calls`);
  });
});
