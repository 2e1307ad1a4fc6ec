/** A running service, and requests whose answers are checked against the document. */
import assert from "node:assert/strict";
import type { ValidateFunction } from "ajv";
import pino from "pino";
import { isObject } from "../../../src/base/json.ts";
import { type Operation, operations } from "../../../src/contract/document.ts";
import { describeSchemaError } from "../../../src/contract/schema.ts";
import type { AnswerOf, OperationId } from "../../../src/contract/types.ts";
import { type RunningService, serve } from "../../../src/http/server.ts";
import type { ServeOptions } from "../../../src/http/service/service-state.ts";
import { mountSite } from "../../../src/web/site.ts";
import { type Customer, createCustomer, temporaryAccountsFile } from "../accounts.ts";
import { generateFeeds } from "../lakes/generated.ts";
import { createLake } from "../lakes/lakes.ts";
import { ajv, schemaAt } from "../schemas.ts";
import { groupScope, onScopeEnd, type Scope } from "../scope.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface RefusedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly code: string;
  readonly message: string;
}

export interface Client extends RunningService {
  /** Path of the accounts file. */
  readonly accounts: string;
  /** The default sender of requests: a customer with unreachable rate limits. */
  readonly customer: Customer;
  /** Sends a GET; fails if the answer does not match the document. */
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Returns the body of a 200 answer, typed by its operation. */
  getBody<Id extends OperationId>(id: Id, path: string): Promise<AnswerOf<Id>>;
  getError(path: string): Promise<RefusedAnswer>;
}

/**
 * Serves a lake on a free port until the scope ends, with one customer. The engine has one thread unless options say otherwise, which needs less
 * processor time for a small lake.
 */
export async function startService(scope: Scope, lake: string, options: Partial<ServeOptions> = {}): Promise<Client> {
  const accounts = options.accounts ?? (await temporaryAccountsFile(scope));
  const customer = await createCustomer(accounts);
  const logger = pino({ level: "silent" });
  const service = await serve({
    lake,
    accounts,
    host: "127.0.0.1",
    port: 0,
    logger,
    mountSite,
    threads: 1,
    ...options,
  });
  onScopeEnd(scope, () => service.stop());
  return clientOf(service, accounts, customer);
}

interface SharedService {
  readonly lake: string;
  readonly client: Client;
}

/** Returns a lake and a service on it, which the files of a group share, with a customer for the caller. Called while a file is loaded. */
function sharedService(create: () => Promise<{ readonly lake: string }>): () => Promise<SharedService> {
  let started: Promise<SharedService> | undefined;
  return async () => {
    started ??= create().then(async ({ lake }) => ({ lake, client: await startService(groupScope, lake) }));
    const { lake, client } = await started;
    return { lake, client: clientOf(client, client.accounts, await createCustomer(client.accounts)) };
  };
}

/** The sample lake. Tests that change the lake or the service, or count what it does, start another. */
export const sampleService = sharedService(() => createLake(groupScope));

/** A generated market of seven days, for the tests of pages. */
export const marketService = sharedService(async () =>
  createLake(groupScope, await generateFeeds(groupScope, { listings: 400, days: 7 })),
);

function clientOf(service: RunningService, accounts: string, customer: Customer): Client {
  const send = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    sendGet(service.url, path, { ...customer.bearer, ...headers });
  return {
    ...service,
    accounts,
    customer,
    get: send,
    async getBody<Id extends OperationId>(id: Id, path: string) {
      const { status, body } = await send(path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      assert.equal(operationAt(new URL(path, service.url).pathname)?.id, id);
      return body as AnswerOf<Id>;
    },
    async getError(path) {
      const { status, headers, body } = await send(path);
      assert.ok(isObject(body) && isObject(body.error), `${path}: ${JSON.stringify(body)}`);
      return { status, headers, code: String(body.error.code), message: String(body.error.message) };
    },
  };
}

async function sendGet(url: string, path: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { headers });
  const text = await response.text();
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : isJson(response.headers) ? JSON.parse(text) : text,
  };
  assertMatchesDocument(path, answer);
  return answer;
}

const isJson = (headers: Headers): boolean => headers.get("Content-Type")?.startsWith("application/json") ?? false;

/** Fails if an answer under `/v1` has a status, a header or a body that the document lacks for its operation. */
export function assertMatchesDocument(path: string, { status, headers, body }: Answer): void {
  const operation = operationAt(new URL(path, "http://service.invalid").pathname);
  assert.ok(headers.get("X-Request-Id"), `${path}: X-Request-Id`);
  if (operation === undefined) return;
  assert.ok(operation.statuses.includes(status), `${path}: the document has no answer ${status} for ${operation.id}`);
  if (status === 304) return;
  if (status === 429 || status === 503) {
    const retryAfter = isObject(body) && isObject(body.error) ? body.error.retryAfter : undefined;
    assert.equal(headers.get("Retry-After"), String(retryAfter), `${path}: Retry-After`);
  }
  if (status === 200 && !isJson(headers)) {
    const [mediaType = ""] = headers.get("Content-Type")?.split(";") ?? [];
    const response = operation.responses[200];
    assert.ok(
      isObject(response) && isObject(response.content) && mediaType in response.content,
      `${path}: the document has no ${mediaType}`,
    );
    return;
  }
  const validate = bodyValidator(operation, status);
  if (!validate(body)) assert.fail(`${path}: ${(validate.errors ?? []).map(describeSchemaError).join("; ")}`);
}

function operationAt(path: string): Operation | undefined {
  return [...operations.values()].find((candidate) =>
    new RegExp(`^${candidate.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
}

const validators = new Map<string, ValidateFunction>();

function bodyValidator({ id, path, method, responses }: Operation, status: number): ValidateFunction {
  const key = `${id} ${status}`;
  const known = validators.get(key);
  if (known !== undefined) return known;
  const response = responses[String(status)] as { $ref?: string } | undefined;
  const location = response?.$ref?.slice("#/".length).split("/") ?? [
    "paths",
    path,
    method,
    "responses",
    String(status),
  ];
  const compiled = ajv.compile(schemaAt(...location, "content", "application/json", "schema"));
  validators.set(key, compiled);
  return compiled;
}
