/**
 * Serves a SQL peer behind the HTTP layer that Carquet has: Koa, request decoding and validation, JSON answers. It answers the queries of
 * the cases and of the mix, found by their paths, and `/version`. It has no authentication, rate limits or ledger.
 *
 * Usage: `serve-peer.ts PEER DATASET`, the dataset as JSON.
 */
import { createServer } from "node:http";
import Koa from "koa";
import { UserError } from "../../src/base/user-error.ts";
import { casesOf } from "../cases.ts";
import type { Dataset, Log } from "../dataset/dataset.ts";
import { loadSampleValues } from "../dataset/sample-values.ts";
import { mixSize, queryMix } from "../measure/mix.ts";
import { openPeer } from "../peers/open.ts";
import { type SqlPeerName, sqlPeerNames } from "../settings.ts";
import { requestValidator } from "./carquet.ts";

const log: Log = (line) => process.stderr.write(`${line}\n`);
const [peerArgument, datasetArgument = "{}"] = process.argv.slice(2);
const peerName = sqlPeerNames.find((name) => name === peerArgument);
if (peerName === undefined)
  throw new UserError(`Invalid peer "${peerArgument}": expected one of ${sqlPeerNames.join(", ")}.`);
const dataset: Dataset = JSON.parse(datasetArgument);

await serve(peerName);

async function serve(name: SqlPeerName): Promise<void> {
  const peer = await openPeer(name, dataset, log);
  const sampleValues = await loadSampleValues(dataset);
  const queries = [
    ...casesOf(sampleValues).flatMap((benchCase) => benchCase.queries),
    ...queryMix(sampleValues, dataset.shape.seed, mixSize),
  ];
  const queriesByPath = new Map(queries.map((query) => [query.path, query]));
  const validate = requestValidator();
  const app = new Koa();
  app.use(async (context) => {
    if (context.url === "/version") {
      context.body = { version: peer.version };
      return;
    }
    validate(context.url);
    const query = queriesByPath.get(context.url);
    if (query === undefined) throw new UserError(`Unknown path ${context.url}: expected one of a case or the mix.`);
    context.body = await query.execute(peer);
  });
  const server = createServer(app.callback());
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
  });
  process.once("SIGTERM", () => void peer.close().finally(() => process.exit(0)));
}
