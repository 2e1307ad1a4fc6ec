/** Requests from the document's examples. */
import { type Operation, operations, type Parameter, resolve } from "../../src/contract/document.ts";

/** Examples of parameters that cannot be combined with the example of another one. The document has them in descriptions. */
export const alternativeExamples: Readonly<Record<string, unknown>> = {
  limit: 25,
  offset: 50,
  snapshot_date: "2026-10-01",
  snapshot_date_from: "2026-10-01",
  snapshot_date_to: "2026-10-31",
  as: "intervals",
  latitude: 37.5483,
  longitude: -121.9886,
  bbox: [-122.6, 37.2, -121.7, 38],
  value_rating: ["great", "good"],
  vin: "5UX53GP07T9N56896",
  data_version: "2026-11-19.1",
  cursor: "MjAyNi0xMS0xOS4xIA",
};

/** Operations that require one of several parameters: the one of the smallest request. */
const chosenParameters: Readonly<Record<string, string>> = { findComparables: "vin" };

/** Returns the document's example of a parameter; undefined if it has none. */
export function documentExampleOf(parameter: Parameter): unknown {
  return resolve<Parameter & { readonly example?: unknown }>(parameter).example;
}

/** Returns an example of a parameter; throws if there is none. */
export function exampleOf(parameter: Parameter): unknown {
  const example = documentExampleOf(parameter) ?? alternativeExamples[parameter.name];
  if (example === undefined) throw new TypeError(`The parameter ${parameter.name} has no example.`);
  return example;
}

/** Returns a parameter's example, encoded for a query string or path. */
export function encodeExample(parameter: Parameter): string {
  const example = exampleOf(parameter);
  const separator = parameter.schema["x-separator"] ?? ",";
  return (Array.isArray(example) ? example : [example]).map((item) => encodeURIComponent(String(item))).join(separator);
}

/** Returns the required query parameters of an operation, with their examples. */
export function requiredQuery({ parameters }: Operation): readonly (readonly [name: string, value: string])[] {
  return queryOf(parameters.filter(({ required }) => required));
}

const queryOf = (parameters: readonly Parameter[]): readonly (readonly [name: string, value: string])[] =>
  parameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => [parameter.name, encodeExample(parameter)]);

/** The operations that a GET calls. */
export const getOperations: readonly Operation[] = [...operations.values()].filter(({ method }) => method === "get");

/** Returns the smallest valid GET of an operation. */
export const minimalRequest = (operation: Operation): string =>
  requestWith(
    operation,
    queryOf(operation.parameters.filter(({ name, required }) => required || name === chosenParameters[operation.id])),
  );

/** Returns the request of an operation with the document's examples of all its parameters. */
export function exemplaryRequest(operation: Operation): string {
  const given = operation.parameters.filter(
    (parameter) => parameter.in === "query" && documentExampleOf(parameter) !== undefined,
  );
  return requestWith(
    operation,
    given.map((parameter) => [parameter.name, encodeExample(parameter)]),
  );
}

function requestWith(operation: Operation, query: ReturnType<typeof requiredQuery>): string {
  const examples = new Map(
    operation.parameters
      .filter(({ in: location }) => location === "path")
      .map((parameter) => [parameter.name, encodeExample(parameter)]),
  );
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples.get(name) ?? "");
  return query.length === 0 ? path : `${path}?${query.map((pair) => pair.join("=")).join("&")}`;
}
