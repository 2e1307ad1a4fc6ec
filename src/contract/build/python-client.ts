/**
 * Generator of the modules of the Python client that derive from the document: a `TypedDict` for each schema of a response and for the query of
 * each operation, `Literal` types of enumerated values, and the tables that all clients need.
 */
import {
  type Document,
  documentedOperations,
  type HeaderParameter,
  operationsIn,
  type Parameter,
  resolveIn,
} from "../operations.ts";
import { clientTables } from "./client.ts";

/** The JSON Schema keywords from which types derive. */
interface ModelSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: ModelSchema;
  readonly minItems?: number;
  readonly oneOf?: readonly ModelSchema[];
  readonly properties?: Readonly<Record<string, ModelSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ModelSchema;
}

/** A parameter of a query with the name of its component. */
interface QueryParameter extends Parameter {
  readonly component: string;
  readonly schema: ModelSchema;
}

interface ClassField {
  readonly name: string;
  readonly type: string;
  readonly description: string | undefined;
}

/** Names that cannot be attributes or keyword arguments. */
const keywords: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda " +
    "nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/** Parameters that the client sets. */
const omittedParameters: ReadonlySet<string> = new Set(["format"]);

export function pythonOperations(document: Document): string {
  const { idempotentPaths, retriedStatuses, separators } = clientTables(document);
  return `"""What the client needs of the document beside its types. Generated from schemas/openapi.yaml."""

IDEMPOTENT_PATHS: frozenset[str] = frozenset(${JSON.stringify(idempotentPaths)})
"""Paths whose operation takes an \`Idempotency-Key\`: a repeated request is charged once."""

RETRIED_STATUSES: frozenset[int] = frozenset(${JSON.stringify(retriedStatuses)})
"""Statuses of responses with \`Retry-After\`."""

SEPARATORS: dict[str, str] = ${JSON.stringify(Object.fromEntries(separators))}
"""Separators of lists, by parameter; all others are separated by commas."""
`;
}

export function pythonModels(document: Document): string {
  const operations = [...operationsIn(document).values()].filter(({ deprecated }) => !deprecated);
  const queries = operations.map(({ id, path }) => ({ id, parameters: queryOf(document, path) }));
  const parameters = new Map(queries.flatMap((query) => query.parameters.map((one) => [one.component, one] as const)));
  const names = referencedBy(document, [...operations.map(({ body }) => body), ...parameters.values()]);
  const schemas = names.map((name) => [name, schemaNamed(document, name)] as const);
  return [
    `"""The types of queries and responses. Generated from schemas/openapi.yaml."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Literal, NotRequired, Required, TypeAlias, TypedDict
`,
    ...[...parameters.values()].flatMap(({ component, schema }) => {
      const { enum: values } = schema.items ?? schema;
      return values === undefined ? [] : [alias(pascal(component), literalOf(values))];
    }),
    ...schemas.map(([name, schema]) => modelOf(name, schema)),
    ...queries.flatMap(({ id, parameters: fields }) => (fields.length === 0 ? [] : [queryClass(id, fields)])),
  ].join("\n");
}

/** Returns the parameters of a query, in the order of the document. */
function queryOf(document: Document, path: string): readonly QueryParameter[] {
  const described = documentedOperations(document).find((one) => one.path === path);
  return (described?.object.parameters ?? []).flatMap((reference) => {
    const parameter = resolveIn<Parameter | HeaderParameter>(document, reference);
    if (parameter.in !== "query" || omittedParameters.has(parameter.name)) return [];
    const component = "$ref" in reference ? lastSegment(reference.$ref) : parameter.name;
    return [{ ...parameter, component }];
  });
}

const schemaNamed = (document: Document, name: string): ModelSchema =>
  resolveIn<ModelSchema>(document, { $ref: `#/components/schemas/${name}` });

/** Returns the names of all schemas that some parts of the document refer to, also through others, in alphabetical order. */
function referencedBy(document: Document, parts: readonly object[]): readonly string[] {
  const found = new Set<string>();
  const visit = (part: object): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemaNamed(document, name));
    }
  };
  parts.forEach(visit);
  return [...found].sort();
}

/** Returns the declaration of a schema: a class for an object, an alias for all others. */
function modelOf(name: string, schema: ModelSchema): string {
  const { properties, required = [], description } = schema;
  if (properties === undefined || schema.additionalProperties === true) return alias(name, typeOf(schema), description);
  const fields = Object.entries(properties).map(([property, value]) => ({
    name: property,
    type: required.includes(property) ? typeOf(value) : `NotRequired[${typeOf(value)}]`,
    description: value.description,
  }));
  return typedDict(name, fields, { description });
}

function queryClass(operation: string, parameters: readonly QueryParameter[]): string {
  const name = `${operation[0]?.toUpperCase()}${operation.slice(1)}Query`;
  const fields = parameters.map((parameter) => {
    const type = parameterType(parameter);
    return {
      name: keywords.has(parameter.name) ? `${parameter.name}_` : parameter.name,
      type: parameter.required ? `Required[${type}]` : `${type} | None`,
      description: parameter.description,
    };
  });
  return typedDict(name, fields, { description: `The parameters of the operation \`${operation}\`.`, isTotal: false });
}

/** Returns the type of an argument: of a list, also that of one value. */
function parameterType({ component, schema }: QueryParameter): string {
  const item = schema.items ?? schema;
  const isDate = item.format === "date" || item.format === "iso-8601";
  const one = item.enum !== undefined ? pascal(component) : isDate ? "str | datetime.date" : typeOf(item);
  if (schema.items === undefined) return one;
  return (schema.minItems ?? 0) > 1 ? `Sequence[${one}]` : `${one} | Sequence[${one}]`;
}

/** Types of Python, by the types of JSON Schema. */
const scalarTypes: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

/** Returns the type of a value. Throws a TypeError for a schema without one. */
function typeOf(schema: ModelSchema): string {
  const { $ref, type, enum: values, items, oneOf, additionalProperties } = schema;
  if ($ref !== undefined) return lastSegment($ref);
  if (oneOf !== undefined) return oneOf.map(typeOf).join(" | ");
  if (values !== undefined) return literalOf(values);
  if (type === "array" && items !== undefined) return `list[${typeOf(items)}]`;
  if (type === "object")
    return `dict[str, ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "object"}]`;
  const scalars = [type ?? []].flat().map((one) => scalarTypes[one]);
  if (scalars.length === 0 || scalars.includes(undefined))
    throw new TypeError(`Invalid schema ${JSON.stringify(schema)}: expected a type that Python has.`);
  return scalars.join(" | ");
}

const lastSegment = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

const pascal = (name: string): string => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const literalOf = (values: readonly string[]): string => `Literal[${values.map((value) => text(value)).join(", ")}]`;

/** A string literal: escapes of JSON mean the same in Python. */
const text = (value: string): string => JSON.stringify(value);

/** Returns the declaration of an alias. Types that refer to classes are quoted, because aliases come first. */
function alias(name: string, type: string, description?: string): string {
  const quoted = type.startsWith("Literal[") ? type : text(type);
  return `${name}: TypeAlias = ${quoted}\n${description === undefined ? "" : `${text(description)}\n`}`;
}

interface ClassOptions {
  readonly description: string | undefined;
  readonly isTotal?: boolean;
}

/** Returns a class. Fields that are keywords of Python are in a base, whose syntax allows them. */
function typedDict(
  name: string,
  fields: readonly ClassField[],
  { description = "", isTotal = true }: ClassOptions,
): string {
  const reserved = fields.filter((field) => keywords.has(field.name));
  const base = `_${name}Keywords`;
  const entries = reserved.map((field) => `${text(field.name)}: ${text(field.type)}`);
  const lines = fields
    .filter((field) => !keywords.has(field.name))
    .flatMap((field) => [`${field.name}: ${field.type}`, ...(field.description ? [text(field.description)] : [])]);
  return [
    ...(reserved.length === 0 ? [] : [`${base} = TypedDict(${text(base)}, {${entries.join(", ")}})\n\n`]),
    `class ${name}(${reserved.length === 0 ? "TypedDict" : base}${isTotal ? "" : ", total=False"}):`,
    ...[text(description), ...lines].map((line) => `    ${line}`),
    "",
  ].join("\n");
}
