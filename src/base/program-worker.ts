/** The thread that starts processes for `programs.ts`. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { parentPort } from "node:worker_threads";
import {
  type ProgramEnd,
  type ProgramEvent,
  type ProgramRequest,
  programPriority,
  yieldResources,
} from "./programs.ts";
import { programPath } from "./project-files.ts";
import { messageOf } from "./user-error.ts";

/** The most characters that are kept of the errors of a process, up to the end of a chunk. */
const errorCharactersMax = 65_536;

parentPort?.on("message", async (request: ProgramRequest) => {
  const { events } = request;
  const send = (event: ProgramEvent): void => events.postMessage(event);
  try {
    send(await run(request, send));
  } catch (thrown) {
    send({ fault: messageOf(thrown) });
  } finally {
    events.close();
  }
});

async function run(
  { args, environment, events }: ProgramRequest,
  send: (event: ProgramEvent) => void,
): Promise<ProgramEnd> {
  const child = fork(programPath, args, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    execArgv: [],
    env: { ...process.env, ...environment },
  });
  events.on("message", () => child.kill("SIGKILL"));
  child.on("message", (message) => send({ message }));
  if (child.pid !== undefined) yieldResources(child.pid, programPriority);
  // After all of its messages. The code is null if a signal ended it.
  const [[code], errors] = await Promise.all([once(child, "close"), textOf(child.stderr)]);
  return { code, errors };
}

/** Reads a stream to its end; returns the beginning of its text. */
async function textOf(stream: Readable | null): Promise<string> {
  let text = "";
  for await (const chunk of stream?.setEncoding("utf8") ?? []) if (text.length < errorCharactersMax) text += chunk;
  return text;
}
