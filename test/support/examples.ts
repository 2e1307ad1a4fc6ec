/** The document's examples as requests. */
import { type Operation, type Parameter, resolve } from "../../src/contract/document.ts";

/** The value that the document shows for a parameter; fails when it shows none. */
export function exampleOf(parameter: Parameter): unknown {
  const { example } = resolve<Parameter & { readonly example?: unknown }>(parameter);
  if (example === undefined) throw new TypeError(`The parameter ${parameter.name} has no example.`);
  return example;
}

/** A parameter's example as it stands in a query string or in a path. */
export function encodedParameter(parameter: Parameter): string {
  const example = exampleOf(parameter);
  const separator = parameter.schema["x-separator"] ?? (parameter.style === "pipeDelimited" ? "|" : ",");
  return (Array.isArray(example) ? example : [example]).map((item) => encodeURIComponent(String(item))).join(separator);
}

/** The query parameters that an operation cannot do without, with their examples. */
export function requiredQuery({ parameters }: Operation): readonly (readonly [name: string, value: string])[] {
  return parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map((parameter) => [parameter.name, encodedParameter(parameter)]);
}

/** The least that can be asked of an operation: its path with examples, and what it requires. */
export function leastRequest(operation: Operation): string {
  const examples = new Map(
    operation.parameters.filter(({ in: place }) => place === "path").map((one) => [one.name, encodedParameter(one)]),
  );
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples.get(name) ?? "");
  const query = requiredQuery(operation).map((pair) => pair.join("="));
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
