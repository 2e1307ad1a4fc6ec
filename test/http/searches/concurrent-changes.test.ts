/** Changes of saved searches at the same time, of which one is refused. */
import assert from "node:assert/strict";
import { accountSearchesMax, createSearch } from "../../../src/accounts/administration/saved-searches.ts";
import { createCustomer, inAccountsFile, temporaryAccounts, testOnBothEngines } from "../../support/accounts.ts";
import { startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);

testOnBothEngines(
  "a change of saved searches is refused as its check refuses it, also beside another one",
  async (t, engine) => {
    const accounts = await temporaryAccounts(t, engine);
    const { accountId, keyId, bearer } = await createCustomer(accounts);
    const service = await startService(t, lake, { accounts });
    const search = { accountId, keyId, name: "all", query: "", url: null, since: "2026-11-18.1" };
    const created = await inAccountsFile(accounts, async (database) => {
      for (let n = 2; n < accountSearchesMax; n += 1) await createSearch(database, search, n);
      return createSearch(database, search, 1);
    });
    const send = async (method: string, path: string, body?: string): Promise<string> => {
      const headers = { ...bearer, "Content-Type": "application/json" };
      const response = await fetch(`${service.url}/v1/searches${path}`, { method, headers, ...(body && { body }) });
      const { error } = Object(await response.json());
      return `${response.status} ${error?.code ?? ""}`.trim();
    };
    const twice = async (method: string, path: string, body?: string): Promise<readonly string[]> =>
      (await Promise.all([send(method, path, body), send(method, path, body)])).sort();
    const fill = (): Promise<readonly string[]> => twice("POST", "", JSON.stringify({ name: "one more" }));
    assert.deepEqual(await fill(), ["200", "400 invalid_parameter_value"]);
    assert.deepEqual(await fill(), ["400 invalid_parameter_value", "400 invalid_parameter_value"]);
    assert.deepEqual(await twice("DELETE", `/${created.searchId}`), ["200", "404 not_found"]);
  },
);
