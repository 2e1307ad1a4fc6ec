/**
 * The document: the OpenAPI description of the API, `schemas/openapi.yaml`, and look-ups of its operations and parameters.
 *
 * It is loaded from the JSON that `bin/generate.cjs` writes, because parsing the YAML takes longer than the rest of a start.
 */
import { projectText } from "../base/project-files.ts";
import { type ErrorCode, errors } from "./errors.ts";
import { type ContractOperation, type Document, operationsIn, resolveIn } from "./operations.ts";
import type { OperationId, QueryOf } from "./types.ts";

export type { ContractOperation as Operation, Deprecation, Parameter, Schema } from "./operations.ts";

/** The document, with examples, as operation `getDocument` serves it. */
export const document: Document = JSON.parse(projectText("src/contract/generated/document.gen.json"));

/** Names of what only services with accounts have: keys, rate limits, charges, and the responses that refuse them. */
const accountNames =
  /^(security|securitySchemes|X-(RateLimit|Usage|Pricing)-.+|Idempotent-Replayed|40[123]|Unauthorized|PaymentRequired|Forbidden)$/;
const accountSections = /## (Authentication|Rate limits|Billing|Idempotency)\n[\s\S]*?(?=## )/g;
const sentences = /(?<=^|\.\s+|\n\n)[^\s|#-](?:[^|\n]|\n(?!\n))*?\.(?=\s|$)[^\S\n]?/g;
const aboutAccounts = /\b(billed|charged|API key|rate limits?|accounts?|balance)\b/i;

/** Returns the document of a service without accounts: without what only others have, and without sentences about it. */
export function documentWithoutAccounts(): Document {
  const described = (text: string): string =>
    text
      .replaceAll(accountSections, "")
      .replaceAll(sentences, (sentence) => (aboutAccounts.test(sentence) ? "" : sentence))
      .trimEnd() || text;
  const text = JSON.stringify(document, (name, part) => {
    if (accountNames.test(name)) return undefined;
    if (name === "x-error-codes") return part.filter((code: ErrorCode) => !accountNames.test(String(errors[code][0])));
    return name === "description" && typeof part === "string" ? described(part) : part;
  });
  return JSON.parse(text);
}

/** Resolves a local `$ref` of the document. Returns any other value unchanged. */
export function resolve<T extends object>(value: T | { readonly $ref: string }): T {
  return resolveIn(document, value);
}

/** All operations by id; literal paths before paths with parameters. */
export const operations: ReadonlyMap<OperationId, ContractOperation> = operationsIn(document);

export function operation(id: OperationId): ContractOperation {
  const found = operations.get(id);
  if (found === undefined) throw new TypeError(`The document has no operation ${id}.`);
  return found;
}

/** Returns the default of a numeric parameter; NaN if it has none. */
export function defaultOf(id: OperationId, name: string): number {
  return Number(operation(id).parameters.find((parameter) => parameter.name === name)?.schema.default);
}

/** Returns the enum values of a query parameter or its items, in the order of the document; empty if it has no enum. */
export function vocabulary<Id extends OperationId, Name extends keyof QueryOf<Id> & string>(
  id: Id,
  name: Name,
): readonly WordsOf<QueryOf<Id>[Name]>[] {
  const schema = operation(id).parameters.find(
    (parameter) => parameter.in === "query" && parameter.name === name,
  )?.schema;
  return (schema?.items?.enum ?? schema?.enum ?? []) as readonly WordsOf<QueryOf<Id>[Name]>[];
}

type WordsOf<T> = NonNullable<T> extends readonly (infer Word)[] ? Word : NonNullable<T>;
