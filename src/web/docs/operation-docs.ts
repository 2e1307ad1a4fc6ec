/** What the pages of the docs show of an operation, read from the document: its examples, errors and prices. */
import { isMetered, prices, unitClasses, usageClassesOf } from "../../accounts/policy/prices.ts";
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

export type DocumentedParameter = Parameter | HeaderParameter;

export interface OperationDocs {
  readonly operation: ContractOperation;
  readonly object: OperationObject;
  /** The path of its page. */
  readonly page: string;
  readonly tag: string;
  /** Markdown, without the example requests. */
  readonly description: string;
  readonly parameters: readonly DocumentedParameter[];
  /** The examples of its answer, with the names of their files. */
  readonly answers: readonly (BodyExample & { readonly name: string })[];
  readonly request: ExampleRequest;
  readonly errors: readonly ErrorCode[];
  /** The prices in micros by price variant; empty if it is never charged. */
  readonly prices: readonly number[];
  /** What a price is for. */
  readonly unit: string;
}

/** A request of an operation that works on the sample delivery. */
export interface ExampleRequest {
  /** With the values of its parameters. */
  readonly path: string;
  /** The values of path and query in the order of the request, decoded; lists are separated as in a query. */
  readonly values: readonly (readonly [parameter: Parameter, text: string])[];
  readonly body: unknown;
}

const kebab = (id: string): string => id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function docsOf({ object }: DocumentedOperation): OperationDocs {
  const described = operation(object.operationId);
  const { id } = described;
  const parameters = (object.parameters ?? []).map((parameter) => resolve<DocumentedParameter>(parameter));
  const examples = object.responses["200"]?.content?.["application/json"]?.examples ?? {};
  const answers = Object.entries(examples).map(([name, example]) => ({ ...resolve<BodyExample>(example), name }));
  const classes = isMetered(id) ? usageClassesOf(id).filter((one) => one !== undefined) : [];
  return {
    ...{ operation: described, object, answers, page: `/docs/${kebab(id)}`, tag: object.tags[0] ?? "" },
    description: object.description.split("\n\nExample requests:")[0] ?? "",
    parameters: parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      schema: described.parameters.find(({ name }) => name === parameter.name)?.schema ?? schema,
    })),
    request: exampleRequest(described, object, answers[0]?.description),
    errors: errorsOf(described),
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
): ExampleRequest {
  const [target = path, query = ""] = /^`GET (.*)`$/.exec(description)?.[1]?.split("?") ?? [];
  const written = new URLSearchParams(query);
  const isWritten = description.startsWith("`GET");
  const segments = target.split("/");
  const values = parameters.flatMap((parameter): readonly (readonly [Parameter, string])[] => {
    const example = exampleText(parameter);
    const segment = segments[path.split("/").indexOf(`{${parameter.name}}`)];
    if (parameter.in === "path") return [[parameter, isWritten ? (segment ?? "") : example]];
    const text = isWritten ? written.get(parameter.name) : isUsual(parameter) ? example : null;
    return text === null || method !== "get" ? [] : [[parameter, text]];
  });
  const order = [...written.keys()];
  const bodies = Object.values(requestBody?.content["application/json"].examples ?? {});
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, name) => values.find(([parameter]) => parameter.name === name)?.[1] ?? ""),
    values: values.toSorted(([one], [other]) => order.indexOf(one.name) - order.indexOf(other.name)),
    body: bodies.map((example) => resolve<BodyExample>(example).value)[0],
  };
}

const isUsual = ({ required, name }: Parameter): boolean => required === true || usualParameters.includes(name);

/** Returns the text of a parameter's example; empty if the document has none. */
export function exampleText({ example, schema }: DocumentedParameter): string {
  const items = Array.isArray(example) ? example : example === undefined ? [] : [example];
  return items.join(schema["x-separator"] ?? ",");
}

/** Errors of a status that need a parameter. */
const parametersOfErrors: Readonly<Partial<Record<ErrorCode, RegExp>>> = {
  unknown_postal_code: /^postal_code$/,
  snapshot_unavailable: /^snapshot_date/,
  version_unavailable: /^(data_version|since)$/,
  invalid_statement: /^sql$/,
};

/** Returns the errors that an operation can answer: those of its statuses, without those of parameters that it lacks. */
function errorsOf({ statuses, parameters, requestBody }: ContractOperation): readonly ErrorCode[] {
  const names = [...parameters.map(({ name }) => name), ...Object.keys(requestBody?.properties ?? {})];
  const isCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);
  return Object.keys(errors)
    .filter(isCode)
    .filter((code) => statuses.includes(errors[code][0]))
    .filter((code) => {
      const needed = parametersOfErrors[code];
      return needed === undefined || names.some((name) => needed.test(name));
    });
}

/** All operations, in the order of the document. */
export const operationDocs: readonly OperationDocs[] = documentedOperations(document).map(docsOf);
