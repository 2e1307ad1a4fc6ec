/**
 * Process that builds one past index at a lower priority than the service and its engine. Its argument is a `PastBuild` as
 * JSON. It ends with the service: when its standard input is closed. An error goes to standard error.
 */
import { constants, setPriority } from "node:os";
import { type Json, type Row, textIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { buildPastIndex } from "./build-past-index.ts";

// Before the engine starts its threads, which inherit the priority.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// An exit would wait for a statement that is running.
process.stdin.once("close", () => process.kill(process.pid, "SIGKILL")).resume();

try {
  const build: Json = JSON.parse(process.argv[2] ?? "");
  const text = (field: string): string => textIn(build as Row, field);
  await buildPastIndex({ lake: text("lake"), version: text("version"), name: text("name"), folder: text("folder") });
  process.exit(0);
} catch (thrown) {
  process.stderr.write(messageOf(thrown), () => process.exit(1));
}
