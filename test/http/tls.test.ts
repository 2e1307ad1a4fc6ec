/** HTTPS, and requests through reverse proxies. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { request as tlsRequest } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "node:tls";
import { promisify } from "node:util";
import pino from "pino";
import { carquetHere, eventually, parseLog, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const folder = await temporaryFolder(fileScope);

/** Creates a certificate and its key; returns their paths. */
async function createCertificate(name: string): Promise<readonly [cert: string, key: string]> {
  const paths = [join(folder, `${name}.pem`), join(folder, `${name}-key.pem`)] as const;
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", paths[1], "-out", paths[0]],
  ]);
  return paths;
}

const [cert, key] = await createCertificate("localhost");

test("with a certificate and its key the service uses HTTPS and sends Strict-Transport-Security", async () => {
  const args = ["serve", "--port", "0", "--lake", lake, "--tls-cert", cert, "--tls-key", key];
  const service = await startServing(fileScope, args);
  const { hostname, port, protocol } = new URL(service.url);
  assert.equal(protocol, "https:");
  const [status, hsts] = await new Promise<readonly [number | undefined, string | undefined]>((answered, failed) => {
    const options = { ca: readFileSync(cert), headers: service.customer.bearer };
    const sent = tlsRequest(`${service.url}/v1/listings?limit=1`, options, (response) => {
      response.resume();
      answered([response.statusCode, response.headers["strict-transport-security"]]);
    });
    sent.on("error", failed).end();
  });
  assert.deepEqual([status, hsts], [200, "max-age=31536000"]);
  await assert.rejects(
    new Promise((connected, failed) => {
      connect({ host: hostname, port: Number(port), rejectUnauthorized: false, maxVersion: "TLSv1.1" }, () =>
        connected(1),
      ).on("error", failed);
    }),
    "versions before TLS 1.2 are refused",
  );
  service.terminate();
  assert.equal((await service.ended).code, 0);
});

/** Returns the name in the certificate that new connections get. */
async function servedName(url: string): Promise<unknown> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}

test("a changed certificate is used without a restart; a broken one is logged and leaves the previous one in use", {
  skip: skipInShortRun,
}, async () => {
  const used = [join(folder, "used.pem"), join(folder, "used-key.pem")] as const;
  const use = async (paths: readonly [string, string]): Promise<void> => {
    for (const [index, path] of paths.entries()) await copyFile(path, used[index] ?? "");
  };
  await use([cert, key]);
  const args = ["serve", "--port", "0", "--lake", lake, "--tls-cert", used[0], "--tls-key", used[1]];
  const log = join(folder, "log");
  const stderr = openSync(log, "a");
  const service = await startServing(fileScope, args, { stderr });
  closeSync(stderr);
  const serves = (name: string) => async () => (await servedName(service.url)) === name;
  assert.equal(await servedName(service.url), "localhost");

  const renewed = await createCertificate("renewed");
  await use(renewed);
  await eventually("replaced when the files change", serves("renewed"));
  await use([cert, renewed[1]]);
  service.hangUp();
  await eventually("the broken one is logged", async () => readFileSync(log, "utf8").includes("not usable"));
  assert.equal(await servedName(service.url), "renewed");
  await use([cert, key]);
  service.hangUp();
  await eventually("replaced on SIGHUP", serves("localhost"));

  service.terminate();
  assert.equal((await service.ended).code, 0);
  const [broken] = parseLog(readFileSync(log, "utf8")).filter(({ level }) => level === 50);
  assert.equal(broken?.msg, "certificate not usable; still serving the previous one");
  assert.match(String(broken?.error), /mismatch/);
});

test("a certificate without its key, or an unreadable one, is refused in one line", async () => {
  const serve = ["serve", "--port", "0", "--lake", lake];
  const alone = await carquetHere([...serve, "--tls-cert", cert]);
  assert.deepEqual(
    [alone.code, alone.err],
    [2, "carquet: Incomplete TLS options: expected both --tls-cert and --tls-key.\n"],
  );
  const absent = await carquetHere([...serve, "--tls-cert", join(folder, "none.pem"), "--tls-key", key]);
  assert.equal(absent.code, 1);
  assert.match(absent.err, /^carquet: Cannot read \S+none\.pem: [^\n]+\n$/);
});

const forwardings: readonly (readonly [proxies: number, forwardedFor: string, ip: string, isSecure: boolean])[] = [
  [0, "203.0.113.7", "127.0.0.1", false],
  [1, "203.0.113.7", "203.0.113.7", true],
  [1, "198.51.100.1, 203.0.113.7", "203.0.113.7", true],
  [2, "198.51.100.1, 203.0.113.7, 10.0.0.1", "203.0.113.7", true],
];

for (const [proxies, forwardedFor, ip, isSecure] of forwardings) {
  test(`behind ${proxies} proxies, X-Forwarded-For: ${forwardedFor} is ${ip}`, async (t) => {
    const lines: string[] = [];
    const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const client = await startService(t, lake, { logger, trustedProxies: proxies });
    const forwarded = { "X-Forwarded-For": forwardedFor, "X-Forwarded-Proto": "https" };
    const { headers } = await client.get("/v1/listings?limit=1", forwarded);
    assert.equal(headers.get("Strict-Transport-Security") !== null, isSecure);
    await eventually("logged", async () => lines.some((line) => line.includes('"msg":"request"')));
    assert.equal(parseLog(lines.join("")).find(({ msg }) => msg === "request")?.ip, ip);
  });
}
