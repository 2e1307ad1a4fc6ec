/**
 * The one document, `schemas/openapi.yaml`: everything a client can send or get is defined there and derived from it here.
 *
 * This room turns the document into operations, decoders and checks; what a parameter means is the query floor's affair.
 */
import { parse } from "yaml";
import { projectText } from "../base/project.ts";
import { withAnswers } from "./examples.ts";
import { ajv } from "./schema.ts";
import type { OperationId, QueryOf } from "./types.ts";

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

export interface Operation {
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

interface Document {
  readonly paths: Readonly<Record<string, { readonly get: OperationObject }>>;
}

/** The document as it is served. */
export const document: Document = withAnswers(parse(projectText("schemas/openapi.yaml")));

/** The id under which schemas refer to the document. */
const documentId = "https://carquet.invalid/openapi.json";
ajv.addSchema(document, documentId);

/** What a local reference stands for; a value without one is itself. */
export function resolve<T extends object>(value: T | { readonly $ref: string }): T {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as T;
  const steps = value.$ref
    .slice("#/".length)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at: unknown = document;
  for (const step of steps) at = (at as Record<string, unknown> | undefined)?.[step];
  if (at === undefined) throw new TypeError(`The document has no ${value.$ref}.`);
  return resolve(at as T);
}

/** All operations, by their names; of paths that fit the same request, the literal one comes before that with a parameter. */
export const operations: ReadonlyMap<OperationId, Operation> = new Map(
  Object.entries(document.paths)
    .sort(([one], [other]) => one.split("{").length - other.split("{").length)
    .map(([path, { get }]) => [
      get.operationId,
      {
        id: get.operationId,
        path,
        parameters: (get.parameters ?? []).map((parameter) => withSchema(resolve(parameter))),
        scope: get.security?.flatMap((scheme) => Object.values(scheme).flat())[0],
        deprecated: get.deprecated ?? false,
        deprecation: get["x-deprecation"],
        statuses: Object.keys(get.responses).map(Number),
      },
    ]),
);

function withSchema(parameter: Parameter): Parameter {
  const schema = resolve<Schema>(parameter.schema);
  return {
    ...parameter,
    schema: schema.items === undefined ? schema : { ...schema, items: resolve<Schema>(schema.items) },
  };
}

/** An operation by its name. */
export function operation(id: OperationId): Operation {
  const found = operations.get(id);
  if (found === undefined) throw new TypeError(`The document has no operation ${id}.`);
  return found;
}

/** The number that an operation's parameter has unless it is given. */
export function numberUnlessGiven(id: OperationId, name: string): number {
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

/** A schema that refers into the document by a path of names. */
export function refer(...path: readonly string[]): { readonly $ref: string } {
  const pointer = path.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).map(encodeURIComponent);
  return { $ref: `${documentId}#/${pointer.join("/")}` };
}
