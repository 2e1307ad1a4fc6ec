/** OpenAPI reader: extracts operations with their paths, parameters, scopes and statuses, and resolves local references. */
import type { ErrorCode } from "./errors.ts";
import type { OperationId } from "./types.ts";

/** The JSON Schema keywords that parameters use. */
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
  /** The accepted values in words, for error messages, where the keywords are unclear. */
  readonly "x-allowed"?: string;
  /** Converts ASCII letters to this case before validation. */
  readonly "x-case"?: "upper" | "lower";
  /** A suffix that does not change the meaning of a value: it is removed before values are compared and validated. */
  readonly "x-optional-suffix"?: string;
  readonly "x-aliases"?: Readonly<Record<string, string>>;
  /** Whether the text is read character by character, without the normalization of values. */
  readonly "x-verbatim"?: boolean;
  /** The separator of list items, where OpenAPI has no style for it. */
  readonly "x-separator"?: string;
}

/** The JSON Schema keywords of a response from which the columns of a table and its description for people derive. */
export interface ResponseSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly deprecated?: boolean;
  readonly additionalProperties?: boolean | Referable<ResponseSchema>;
  readonly enum?: readonly (string | null)[];
  readonly items?: Referable<ResponseSchema>;
  readonly oneOf?: readonly Referable<ResponseSchema>[];
  readonly properties?: Readonly<Record<string, Referable<ResponseSchema>>>;
  readonly required?: readonly string[];
}

/** A part of the document, or a reference to one. */
export type Referable<T> = T | { readonly $ref: string };

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  /** Whether generated clients repeat the parameter for each item of a list. */
  readonly explode?: boolean;
  /** What clients may send, in any case, instead of leaving the parameter out. */
  readonly "x-default-name"?: string;
  /** What the parameter identifies: a malformed identifier is not found. */
  readonly "x-resource"?: string;
  readonly schema: Schema;
}

/** A header that clients may send. Its middleware validates it. */
export interface HeaderParameter extends Omit<Parameter, "in"> {
  readonly in: "header";
}

/** The deprecation of an operation: days as `YYYY-MM-DD`, and the path of its successor. */
export interface Deprecation {
  readonly since: string;
  readonly successor: string;
  readonly sunset?: string;
}

export interface ContractOperation {
  readonly id: OperationId;
  readonly method: Method;
  /** With parameters in braces, as in the document. */
  readonly path: string;
  /** The parameters of the query and the path. */
  readonly parameters: readonly Parameter[];
  /** The scope that an API key needs; undefined if the operation needs no key. */
  readonly scope: string | undefined;
  readonly deprecated: boolean;
  readonly deprecation: Deprecation | undefined;
  /** The documented response statuses. */
  readonly statuses: readonly number[];
  /** The codes of its errors. */
  readonly errorCodes: readonly ErrorCode[];
  /** The schema of a row in table formats, if the items of `data` are not rows. */
  readonly row: Referable<ResponseSchema> | undefined;
  /** The schema of the JSON object that a request sends; undefined if it sends none. */
  readonly requestBody: BodySchema | undefined;
  readonly body: Referable<ResponseSchema>;
  /** By status, as the document has them. */
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The JSON Schema keywords of the object that a request sends. */
interface BodySchema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, BodyProperty>>;
}

/** A property of the object that a request sends. */
interface BodyProperty extends Schema {
  readonly description?: string;
}

/** An operation as the document has it, with its words for people. */
export interface OperationObject {
  readonly operationId: OperationId;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (Parameter | HeaderParameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: BodySchema; readonly examples?: Examples } };
  };
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly deprecated?: boolean;
  readonly "x-deprecation"?: Deprecation;
  readonly "x-error-codes": readonly ErrorCode[];
  readonly "x-row"?: Referable<ResponseSchema>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ResponseObject {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Referable<{ readonly description?: string }>>>;
  readonly content?: Readonly<
    Record<string, { readonly schema?: Referable<ResponseSchema>; readonly examples?: Examples }>
  >;
}

/** An example of a body; that of an answered request has the request in its description. */
export interface BodyExample {
  readonly summary?: string;
  readonly description?: string;
  readonly value?: unknown;
}

type Examples = Readonly<Record<string, Referable<BodyExample>>>;

const methods = ["get", "post", "delete"] as const;
type Method = (typeof methods)[number];

export interface Document {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, { readonly [Name in Method]?: OperationObject }>>;
}

/** An operation as the document has it. */
export interface DocumentedOperation {
  readonly path: string;
  readonly method: Method;
  readonly object: OperationObject;
}

/** Returns the operations in the order of the document. */
export const documentedOperations = ({ paths }: Document): readonly DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, objects]) =>
    methods.flatMap((method) => {
      const object = objects[method];
      return object === undefined ? [] : [{ path, method, object }];
    }),
  );

/** Resolves a local `$ref`. Returns any other value unchanged. Throws a TypeError if the target does not exist. */
export function resolveIn<T extends object>(document: Document, value: T | { readonly $ref: string }): T {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as T;
  const steps = value.$ref
    .slice("#/".length)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let target: unknown = document;
  for (const step of steps) target = (target as Record<string, unknown> | undefined)?.[step];
  if (target === undefined) throw new TypeError(`Unresolved reference ${value.$ref}: expected a part of the document.`);
  return resolveIn(document, target as T);
}

/** Returns the operations by id. Literal paths come before paths with parameters, because the router takes the first match. */
export function operationsIn(document: Document): ReadonlyMap<OperationId, ContractOperation> {
  const operations = documentedOperations(document)
    .toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)
    .map(({ path, method, object }): readonly [OperationId, ContractOperation] => [
      object.operationId,
      {
        id: object.operationId,
        path,
        method,
        parameters: (object.parameters ?? [])
          .map((parameter) => resolveIn<Parameter | HeaderParameter>(document, parameter))
          .filter((parameter): parameter is Parameter => parameter.in !== "header")
          .map((parameter) => withSchema(document, parameter)),
        scope: object.security?.flatMap((scheme) => Object.values(scheme).flat())[0],
        deprecated: object.deprecated ?? false,
        deprecation: object["x-deprecation"],
        responses: object.responses,
        statuses: Object.keys(object.responses).map(Number),
        errorCodes: object["x-error-codes"],
        row: object["x-row"],
        requestBody: object.requestBody?.content["application/json"].schema,
        body: object.responses["200"]?.content?.["application/json"]?.schema ?? {},
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
