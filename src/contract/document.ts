/**
 * The one document, `schemas/openapi.yaml`: everything a client can send or get is defined there and derived from it here.
 *
 * Parsing the YAML takes longer than the rest of a start, so this module reads the JSON that `npm run generate` makes of it.
 */
import { projectText } from "../base/project-files.ts";
import { type ContractOperation, type Document, operationsIn, resolveIn } from "./operations.ts";
import type { OperationId, QueryOf } from "./types.ts";

export type { ContractOperation as Operation, Deprecation, Parameter, Schema } from "./operations.ts";

/** The document as it is served. */
export const document: Document = JSON.parse(projectText("src/contract/generated/document.gen.json"));

/** Follows a local reference of the document; returns a value without one as it is. */
export function resolve<T extends object>(value: T | { readonly $ref: string }): T {
  return resolveIn(document, value);
}

/** All operations by id, literal paths first. */
export const operations: ReadonlyMap<OperationId, ContractOperation> = operationsIn(document);

/** An operation by its name. */
export function operation(id: OperationId): ContractOperation {
  const found = operations.get(id);
  if (found === undefined) throw new TypeError(`The document has no operation ${id}.`);
  return found;
}

/** The number that an operation's parameter has unless it is given. */
export function defaultOf(id: OperationId, name: string): number {
  return Number(operation(id).parameters.find((parameter) => parameter.name === name)?.schema.default);
}

/** The closed vocabulary of an operation's parameter, in the order of the document. */
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
