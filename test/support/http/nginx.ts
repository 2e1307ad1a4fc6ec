/** nginx for tests, with the configuration that is deployed. Without Debian's package, its tests are skipped. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectText } from "../../../src/base/project-files.ts";
import { eventually } from "../command-line.ts";
import { onScopeEnd, type Scope } from "../scope.ts";
import { freePort } from "./free-port.ts";

/** The `skip` option of tests of nginx. */
export const skipWithoutNginx =
  spawnSync("nginx", ["-v"]).error !== undefined && "no nginx: expected the package nginx to be installed";

const deployed = projectText("deploy/compose/nginx.conf");
const deployedServers = /(?<=\n)( +server [\d.:]+)( [^;\n]*;\n)(?: +server [\d.:]+ [^;\n]*;\n)+/;

/** Returns the deployed configuration with another port, and other replicas. */
function configuration(port: number, replicas: readonly string[]): string {
  if (!deployedServers.test(deployed) || !deployed.includes("listen 8080;"))
    throw new Error("deploy/compose/nginx.conf: expected a list of servers, and the port 8080.");
  const servers = (_: string, __: string, parameters: string): string =>
    replicas.map((url) => `    server ${new URL(url).host}${parameters}`).join("");
  return deployed.replace(deployedServers, servers).replace("listen 8080;", `listen 127.0.0.1:${port};`);
}

export interface NginxProcess {
  readonly url: string;
  /** Returns the lines of its log. */
  log(): Promise<string>;
}

/** Starts nginx in front of replicas, until the scope ends. */
export async function startNginx(scope: Scope, replicas: readonly string[]): Promise<NginxProcess> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-nginx-"));
  onScopeEnd(scope, () => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const prefix = join(folder, "run");
  const file = join(folder, "conf");
  const logPath = join(folder, "log");
  await Promise.all([mkdir(prefix), writeFile(file, configuration(port, replicas))]);
  // A file: nginx cannot open the sockets that Node.js makes of pipes.
  const log = await open(logPath, "a");
  const child = spawn("nginx", ["-e", "stderr", "-p", prefix, "-c", file], { stdio: ["ignore", log.fd, log.fd] });
  await log.close();
  onScopeEnd(scope, async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  await eventually("nginx listens", async () => {
    if (child.exitCode !== null) throw new Error(`nginx exited: ${await readFile(logPath, "utf8")}`);
    return accepts(port);
  });
  return { url: `http://127.0.0.1:${port}`, log: () => readFile(logPath, "utf8") };
}

/** Returns whether a port of this machine accepts connections. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
