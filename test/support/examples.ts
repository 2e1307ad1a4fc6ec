/** Requests from the document's examples. */
import { type Operation, type Parameter, resolve } from "../../src/contract/document.ts";

/** Returns the document's example of a parameter; throws if it has none. */
export function exampleOf(parameter: Parameter): unknown {
  const { example } = resolve<Parameter & { readonly example?: unknown }>(parameter);
  if (example === undefined) throw new TypeError(`The parameter ${parameter.name} has no example.`);
  return example;
}

/** Returns a parameter's example, encoded for a query string or path. */
export function encodeExample(parameter: Parameter): string {
  const example = exampleOf(parameter);
  const separator = parameter.schema["x-separator"] ?? (parameter.style === "pipeDelimited" ? "|" : ",");
  return (Array.isArray(example) ? example : [example]).map((item) => encodeURIComponent(String(item))).join(separator);
}

/** Returns the required query parameters of an operation, with their examples. */
export function requiredQuery({ parameters }: Operation): readonly (readonly [name: string, value: string])[] {
  return parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map((parameter) => [parameter.name, encodeExample(parameter)]);
}

/** Returns the smallest valid request of an operation. */
export function minimalRequest(operation: Operation): string {
  const examples = new Map(
    operation.parameters
      .filter(({ in: place }) => place === "path")
      .map((parameter) => [parameter.name, encodeExample(parameter)]),
  );
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples.get(name) ?? "");
  const query = requiredQuery(operation).map((pair) => pair.join("="));
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
