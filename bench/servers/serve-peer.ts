/**
 * A peer in SQL behind the same HTTP layer as Carquet: Koa, each request decoded and validated as the document says, the answer as JSON.
 * `serve-peer.ts PEER DATASET`: it knows the questions of the cases and of the mix by their paths, and says its version at `/version`.
 * Nobody is identified or charged.
 */
import cluster from "node:cluster";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import Koa from "koa";
import { UserError } from "../../src/base/user-error.ts";
import { casesOf } from "../cases.ts";
import type { Dataset, Say } from "../dataset/dataset.ts";
import { questionWords } from "../dataset/words.ts";
import { mixLength, mixOf } from "../measure/mix.ts";
import { openPeer } from "../peers/open.ts";
import { type SqlPeerName, sqlPeerNames } from "../settings.ts";
import { decoders } from "./carquet.ts";

const say: Say = (line) => process.stderr.write(`${line}\n`);
const [given, datasetGiven = "{}"] = process.argv.slice(2);
const peer = sqlPeerNames.find((one) => one === given);
if (peer === undefined) throw new UserError(`Invalid peer "${given}": expected ${sqlPeerNames.join(", ")}.`);
const dataset: Dataset = JSON.parse(datasetGiven);

/** SQLite answers in the thread that asks, so that it takes a process for each processor to use them all. */
const processes = peer === "sqlite" ? availableParallelism() : 1;

if (processes > 1 && cluster.isPrimary) await serveByProcesses(peer);
else await serve(peer);

/** Fills the peer first, so that the processes only open it. */
async function serveByProcesses(name: SqlPeerName): Promise<void> {
  await (await openPeer(name, dataset, say)).close();
  const workers = Array.from({ length: processes }, () => cluster.fork());
  let listening = 0;
  cluster.on("listening", (_worker, { port }) => {
    listening += 1;
    if (listening === processes) process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
  });
  process.once("SIGTERM", () => {
    for (const worker of workers) worker.process.kill("SIGTERM");
  });
}

async function serve(name: SqlPeerName): Promise<void> {
  const opened = await openPeer(name, dataset, say);
  const words = await questionWords(dataset);
  const asked = [
    ...casesOf(words).flatMap(({ questions }) => questions),
    ...mixOf(words, dataset.shape.seed, mixLength),
  ];
  const questions = new Map(asked.map((question) => [question.path, question]));
  const decode = decoders();
  const app = new Koa();
  app.use(async (exchange) => {
    if (exchange.url === "/version") {
      exchange.body = { version: opened.version };
      return;
    }
    decode(exchange.url);
    const question = questions.get(exchange.url);
    if (question === undefined)
      throw new UserError(`Unknown question ${exchange.url}: expected one of the cases or the mix.`);
    exchange.body = await question.ask(opened);
  });
  const server = createServer(app.callback());
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && cluster.isPrimary)
      process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
  });
  process.once("SIGTERM", () => process.exit(0));
}
