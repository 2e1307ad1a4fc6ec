/** Reads an OpenAPI document as operations: their paths, parameters, scopes and statuses, with local references resolved. */
import type { OperationId } from "./types.ts";

/** A schema of the document, as far as reading a parameter goes. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly default?: unknown;
  /** What is allowed, in words, where the keywords do not tell. */
  readonly "x-allowed"?: string;
  /** The case to which ASCII letters are converted before the value is checked. */
  readonly "x-case"?: "upper" | "lower";
  /** Other spellings of an enum's values. */
  readonly "x-aliases"?: Readonly<Record<string, string>>;
  /** What separates the items, where OpenAPI has no style for it. */
  readonly "x-separator"?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly required?: boolean;
  readonly style?: string;
  readonly schema: Schema;
}

/** Since which day an operation is deprecated, the path that takes its place, and the day on which it goes, where one is set. */
export interface Deprecation {
  readonly since: string;
  readonly successor: string;
  readonly sunset?: string;
}

export interface ContractOperation {
  readonly id: OperationId;
  /** With its parameters in braces, as in the document. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The scope that a key needs; none where no key is needed. */
  readonly scope: string | undefined;
  readonly deprecated: boolean;
  readonly deprecation: Deprecation | undefined;
  /** Statuses that the document has an answer for. */
  readonly statuses: readonly number[];
}

interface OperationObject {
  readonly operationId: OperationId;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly deprecated?: boolean;
  readonly "x-deprecation"?: Deprecation;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The document, as far as operations go. */
export interface Document {
  readonly paths: Readonly<Record<string, { readonly get: OperationObject }>>;
}

/** Follows a local reference; returns a value without one as it is. Throws a TypeError where the document lacks the target. */
export function resolveIn<T extends object>(document: Document, value: T | { readonly $ref: string }): T {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as T;
  const steps = value.$ref
    .slice("#/".length)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at: unknown = document;
  for (const step of steps) at = (at as Record<string, unknown> | undefined)?.[step];
  if (at === undefined) throw new TypeError(`The document has no ${value.$ref}.`);
  return resolveIn(document, at as T);
}

/** The operations of a document by id. Literal paths come before paths with a parameter, because a router takes the first match. */
export function operationsIn(document: Document): ReadonlyMap<OperationId, ContractOperation> {
  const operations = Object.entries(document.paths)
    .sort(([one], [other]) => one.split("{").length - other.split("{").length)
    .map(([path, { get }]): readonly [OperationId, ContractOperation] => [
      get.operationId,
      {
        id: get.operationId,
        path,
        parameters: (get.parameters ?? []).map((parameter) => withSchema(document, resolveIn(document, parameter))),
        scope: get.security?.flatMap((scheme) => Object.values(scheme).flat())[0],
        deprecated: get.deprecated ?? false,
        deprecation: get["x-deprecation"],
        statuses: Object.keys(get.responses).map(Number),
      },
    ]);
  return new Map(operations);
}

function withSchema(document: Document, parameter: Parameter): Parameter {
  const schema = resolveIn<Schema>(document, parameter.schema);
  return {
    ...parameter,
    schema: schema.items === undefined ? schema : { ...schema, items: resolveIn<Schema>(document, schema.items) },
  };
}
