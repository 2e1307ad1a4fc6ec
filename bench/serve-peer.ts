/**
 * A peer behind the same HTTP layer as Carquet: Koa, each request decoded and validated as the document says, the answer as JSON.
 * `serve-peer.ts PEER DATASET SEED COUNT`: it knows the questions of a mix by their paths. Nobody is identified or charged.
 */
import cluster from "node:cluster";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import Koa from "koa";
import { Failure } from "../src/base/failure.ts";
import { decoders } from "./carquet.ts";
import { mixOf } from "./mix.ts";
import { openPeer } from "./peers/open.ts";
import { peerNames } from "./settings.ts";
import { wordsOf } from "./words.ts";

const [name, given = "{}", seed, count] = process.argv.slice(2);
const peer = peerNames.find((one) => one === name);
if (peer === undefined) throw new Failure(`${name} is no peer.`);

/** SQLite answers in the thread that asks, so that it takes a process for each processor to use them all. */
const processes = peer === "sqlite" ? availableParallelism() : 1;

if (processes > 1 && cluster.isPrimary) {
  const workers = Array.from({ length: processes }, () => cluster.fork());
  let listening = 0;
  cluster.on("listening", (_worker, { port }) => {
    listening += 1;
    if (listening === processes) process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
  });
  process.once("SIGTERM", () => {
    for (const worker of workers) worker.process.kill("SIGTERM");
  });
} else {
  const dataset = JSON.parse(given);
  const opened = await openPeer(peer, dataset, () => {});
  const questions = new Map(
    mixOf(await wordsOf(dataset), Number(seed), Number(count)).map((question) => [question.path, question]),
  );
  const decode = decoders();
  const app = new Koa();
  app.use(async (exchange) => {
    decode(exchange.url);
    const question = questions.get(exchange.url);
    if (question === undefined) throw new Failure(`${exchange.url} is not of the mix.`);
    exchange.body = await question.ask(opened);
  });
  const server = createServer(app.callback());
  server.listen(0, "127.0.0.1", () => {
    const address: AddressInfo | string | null = server.address();
    if (typeof address === "object" && cluster.isPrimary)
      process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
  });
  process.once("SIGTERM", () => process.exit(0));
}
