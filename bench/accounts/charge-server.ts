/**
 * Charges as a service does. Answers `GET /?accounts=N&inFlight=N&seconds=N` when it has charged for that long: each charge in flight is followed by the
 * next one, on one of the first accounts. Prints `listening on URL`.
 *
 * Usage: `charge-server.ts ACCOUNTS KEYS`; KEYS is a file with an array of the accounts' keys.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { v7 as uuidV7 } from "uuid";
import { postCharge } from "../../src/accounts/ledger/charging.ts";
import { ServiceAccounts } from "../../src/accounts/storage/service-accounts.ts";
import type { BenchKey } from "../servers/api-key.ts";

/** The charges of a server. */
export interface Charged {
  readonly charges: number;
}

const [location = "", keysFile = ""] = process.argv.slice(2);
const keys: readonly BenchKey[] = JSON.parse(readFileSync(keysFile, "utf8"));
const ledger = await ServiceAccounts.open(location, {
  onAvailabilityChange: (isDown, reason) => {
    if (isDown) throw new Error(`The ledger is unavailable: ${reason}`);
  },
});

async function charge(accounts: number, inFlight: number, endAtMs: number): Promise<Charged> {
  let charges = 0;
  const chain = async (): Promise<void> => {
    while (performance.now() < endAtMs) {
      const { accountId, keyId } = keys[Math.floor(Math.random() * accounts)] ?? { accountId: "", keyId: "" };
      const entry = { chargeId: uuidV7(), accountId, keyId, usageClass: "listing_search", atMs: Date.now() } as const;
      const failure = await ledger.attempt((database) => postCharge(database, entry));
      if (failure !== undefined) throw new Error(`A charge failed: ${JSON.stringify(failure)}`);
      charges += 1;
      if (charges % 64 === 0) await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, chain));
  return { charges };
}

const server = createServer((request, response) => {
  const parameters = new URL(request.url ?? "/", "http://localhost").searchParams;
  const [accounts, inFlight, seconds] = ["accounts", "inFlight", "seconds"].map((name) => Number(parameters.get(name)));
  void charge(accounts ?? 1, inFlight ?? 1, performance.now() + (seconds ?? 0) * 1000).then((charged) =>
    response.end(JSON.stringify(charged)),
  );
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
