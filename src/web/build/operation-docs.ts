/** What the pages of the docs show of an operation, read from the document: its examples, errors and prices. */
import { existsSync } from "node:fs";
import { priceVariantOf } from "../../accounts/policy/price-variant.ts";
import { isMetered, prices, unitClasses, usageClassesOf } from "../../accounts/policy/prices.ts";
import { projectPath, projectText } from "../../base/project-files.ts";
import { document, operation, type Parameter, resolve } from "../../contract/document.ts";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import {
  type BodyExample,
  type ContractOperation,
  type DocumentedOperation,
  documentedOperations,
  type HeaderParameter,
  type OperationObject,
} from "../../contract/operations.ts";
import type { OperationId } from "../../contract/types.ts";
import { queryString } from "../../operations/caller.ts";

export type DocumentedParameter = Parameter | HeaderParameter;

export interface OperationDocs {
  /** The path of its page. */
  readonly path: string;
  readonly title: string;
  readonly operation: ContractOperation;
  readonly tag: string;
  /** Markdown, without the example requests. */
  readonly description: string;
  readonly parameters: readonly DocumentedParameter[];
  /** The examples of its answer, with the names of their files. */
  readonly answers: readonly (BodyExample & { readonly name: string })[];
  readonly request: OperationValues;
  /** A statement over the views of the lake that returns the same as the request; empty where none does. */
  readonly sql: string;
  readonly errors: readonly ErrorCode[];
  /** The prices in micros by price variant; empty if it is never charged. */
  readonly prices: readonly number[];
  /** What a price is for. */
  readonly unit: string;
}

/** The values of a request of an operation; those of its example work on the sample delivery. */
export interface OperationValues {
  /** The values of path, query and headers in the order of the request, decoded; lists are separated as in a query. */
  readonly values: readonly (readonly [parameter: DocumentedParameter, text: string])[];
  /** Undefined for an operation without one; a text that is not JSON is sent too. */
  readonly body: unknown;
}

/** Returns the path of the page of an operation. */
export const docsPath = (id: OperationId): string =>
  `/docs/${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function docsOf({ object }: DocumentedOperation): OperationDocs {
  const described = operation(object.operationId);
  const examples = object.responses["200"]?.content?.["application/json"]?.examples ?? {};
  const answers = Object.entries(examples).map(([name, example]) => ({ ...resolve<BodyExample>(example), name }));
  const classes = isMetered(described.id) ? usageClassesOf(described.id).filter((one) => one !== undefined) : [];
  const path = docsPath(described.id);
  const sqlFile = `schemas/examples/${answers[0]?.name ?? path.slice("/docs/".length)}.sql`;
  return {
    path,
    title: object.summary,
    operation: described,
    tag: object.tags[0] ?? "",
    description: object.description.split("\n\nExample requests:")[0] ?? "",
    parameters: (object.parameters ?? []).map((referable) => {
      const parameter = resolve<DocumentedParameter>(referable);
      return described.parameters.find(({ name }) => name === parameter.name) ?? parameter;
    }),
    answers,
    request: exampleRequest(described, object, answers[0]?.description),
    sql: existsSync(projectPath(sqlFile)) ? projectText(sqlFile).trim() : "",
    errors: described.errorCodes,
    prices: classes.map((usageClass) => prices[usageClass]),
    unit: unitOf(classes[0]),
  };
}

function unitOf(usageClass: string | undefined): string {
  if (!unitClasses.some((one) => one === usageClass)) return "";
  return usageClass === "sql_statement" ? "each started second" : "each started 1,000 rows";
}

/** Parameters of an example request where the document has none of the operation. */
const usualParameters = ["make", "format"];

function exampleRequest(
  { path, parameters, method }: ContractOperation,
  { requestBody }: OperationObject,
  description = "",
): OperationValues {
  const written = /^`GET ([^?]*)\??(.*)`$/.exec(description);
  const segments = (written?.[1] ?? path).split("/");
  const query = new URLSearchParams(written?.[2]);
  const textOf = (parameter: Parameter): string | null | undefined => {
    const { name, required } = parameter;
    if (parameter.in === "query" && method !== "get") return null;
    if (written === null) return required === true || usualParameters.includes(name) ? exampleText(parameter) : null;
    return parameter.in === "path" ? segments[path.split("/").indexOf(`{${name}}`)] : query.get(name);
  };
  const values = parameters.flatMap((parameter): readonly (readonly [Parameter, string])[] => {
    const text = textOf(parameter);
    return text === null || text === undefined ? [] : [[parameter, text]];
  });
  const order = [...query.keys()];
  const bodies = Object.values(requestBody?.content["application/json"].examples ?? {});
  return {
    values: values.toSorted(([one], [other]) => order.indexOf(one.name) - order.indexOf(other.name)),
    body: bodies.map((example) => resolve<BodyExample>(example).value)[0],
  };
}

/** Returns an operation whose example asks for what the given ids name, by the names of parameters of the path. */
export function withIds(docs: OperationDocs, ids: Readonly<Record<string, string>>): OperationDocs {
  let { sql } = docs;
  const values = docs.request.values.map(([parameter, text]) => {
    const id = ids[parameter.name];
    if (parameter.in !== "path" || id === undefined) return [parameter, text] as const;
    sql = sql.replaceAll(text, id);
    return [parameter, id] as const;
  });
  return { ...docs, sql, request: { ...docs.request, values } };
}

/** Returns the path of a request. */
export const requestPath = ({ operation: { path } }: OperationDocs, { values }: OperationValues): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(values.find(([parameter]) => parameter.name === name)?.[1] ?? ""),
  );

/** Returns the query string of a request. */
export const requestQuery = ({ values }: OperationValues): string =>
  queryString(
    Object.fromEntries(
      values.flatMap(([{ name, in: location }, text]) => (location === "query" ? [[name, text]] : [])),
    ),
  );

/** Returns the values that a form of an operation has, or an address with its fields; those of its example without any. */
export function valuesIn(
  { parameters, request, operation: { requestBody } }: OperationDocs,
  fields: URLSearchParams,
): OperationValues {
  if (!parameters.some(({ name }) => fields.has(name)) && !fields.has("body")) return request;
  // In the order of the form.
  const values = [...new Set(fields.keys())].flatMap((name): readonly (readonly [DocumentedParameter, string])[] => {
    const parameter = parameters.find((one) => one.name === name);
    const items = fields.getAll(name).map((item) => item.trim());
    const text = items.filter((item) => item !== "").join(parameter?.schema["x-separator"] ?? ",");
    return parameter === undefined || text === "" ? [] : [[parameter, text]];
  });
  return { values, body: requestBody === undefined ? undefined : jsonIn(fields.get("body") ?? "") };
}

/** Returns the price of a request in micros; undefined if it is never charged. */
export function priceOf({ prices }: OperationDocs, { values }: OperationValues): number | undefined {
  const query = Object.fromEntries(values.map(([{ name }, text]) => [name, text]));
  return prices[
    priceVariantOf({ ...query, inventory_status: query.inventory_status?.toLowerCase() }, prices.length > 4)
  ];
}

/** Returns the value of a text of JSON; the text if it is none. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the text of a parameter's example; empty if the document has none. */
export const exampleText = ({ example = [], schema }: DocumentedParameter): string =>
  [example].flat().join(schema["x-separator"] ?? ",");

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);

/** The codes of all errors. */
export const errorCodes: readonly ErrorCode[] = Object.keys(errors).filter(isCode);

/** Returns the message of an error with placeholders in braces, without the parts that it only sometimes has. */
export const errorMessage = (code: ErrorCode): string => errors[code][3].replaceAll(/\{(hint|why)\}/g, "");

/** All operations, in the order of the document. */
export const operationDocs: readonly OperationDocs[] = documentedOperations(document).map(docsOf);
