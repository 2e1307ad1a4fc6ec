/** A running service for a test, and requests whose answers are checked against the document. */
import assert from "node:assert/strict";
import type { ValidateFunction } from "ajv";
import pino from "pino";
import { isObject } from "../../src/base/json.ts";
import { document, type Operation, operations } from "../../src/contract/document.ts";
import { describeSchemaError } from "../../src/contract/schema.ts";
import type { AnswerOf, OperationId } from "../../src/contract/types.ts";
import { type RunningService, type ServeOptions, serve } from "../../src/http/server.ts";
import { accountsFile, type Customer, customerIn } from "./accounts.ts";
import { ajv, refer } from "./schemas.ts";
import { atEndOf, type Scope } from "./scope.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Refused {
  readonly status: number;
  readonly headers: Headers;
  readonly code: string;
  readonly message: string;
}

export interface Client extends RunningService {
  /** The accounts file. */
  readonly accounts: string;
  /** Who asks, unless a request says otherwise: a customer whom no limit stops. */
  readonly customer: Customer;
  /** GETs a path; fails when the answer is not what the document says. */
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** The body of an answer of 200, in the type of its operation. */
  found<Id extends OperationId>(id: Id, path: string): Promise<AnswerOf<Id>>;
  /** What an error says. */
  refused(path: string): Promise<Refused>;
}

/** Serves a lake on a free port until the scope ends, with a customer. */
export async function serviceOf(scope: Scope, lake: string, options: Partial<ServeOptions> = {}): Promise<Client> {
  const accounts = options.accounts ?? (await accountsFile(scope));
  const customer = customerIn(accounts);
  const logger = pino({ level: "silent" });
  const service = await serve({ lake, accounts, host: "127.0.0.1", port: 0, logger, ...options });
  atEndOf(scope, () => service.stop());
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    get(service.url, path, { ...customer.bearer, ...headers });
  return {
    ...service,
    accounts,
    customer,
    get: ask,
    async found<Id extends OperationId>(id: Id, path: string) {
      const { status, body } = await ask(path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      assert.equal(operationAt(new URL(path, service.url).pathname)?.id, id);
      return body as AnswerOf<Id>;
    },
    async refused(path) {
      const { status, headers, body } = await ask(path);
      assert.ok(isObject(body) && isObject(body.error), `${path}: ${JSON.stringify(body)}`);
      return { status, headers, code: String(body.error.code), message: String(body.error.message) };
    },
  };
}

async function get(url: string, path: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { headers });
  const text = await response.text();
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
  checkAgainstDocument(path, answer);
  return answer;
}

/** Fails when an answer under `/v1` has a status, a header or a body that the document does not have for its operation. */
export function checkAgainstDocument(path: string, { status, headers, body }: Answer): void {
  const operation = operationAt(new URL(path, "http://service.invalid").pathname);
  assert.ok(headers.get("X-Request-Id"), `${path}: X-Request-Id`);
  if (operation === undefined) return;
  assert.ok(operation.statuses.includes(status), `${path}: the document has no answer ${status} for ${operation.id}`);
  if (status === 304) return;
  const validate = bodyValidator(operation, status);
  if (!validate(body)) assert.fail(`${path}: ${(validate.errors ?? []).map(describeSchemaError).join("; ")}`);
}

/** The operation that a path belongs to. */
function operationAt(path: string): Operation | undefined {
  return [...operations.values()].find((one) => new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path));
}

const validators = new Map<string, ValidateFunction>();

function bodyValidator({ id, path }: Operation, status: number): ValidateFunction {
  const key = `${id} ${status}`;
  const known = validators.get(key);
  if (known !== undefined) return known;
  const response = document.paths[path]?.get.responses[String(status)] as { $ref?: string } | undefined;
  const place = response?.$ref?.slice("#/".length).split("/") ?? ["paths", path, "get", "responses", String(status)];
  const made = ajv.compile(refer(...place, "content", "application/json", "schema"));
  validators.set(key, made);
  return made;
}
