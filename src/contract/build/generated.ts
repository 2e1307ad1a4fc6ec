/**
 * Code generator: the document as JSON with the golden files of its examples, and validators of parameters and files as JavaScript, so that a start compiles
 * nothing.
 */
import type { Options } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { projectText } from "../../base/project-files.ts";
import { type Document, operationsIn, type Parameter, type Schema } from "../operations.ts";
import type { FileKind } from "../schema.ts";
import { clientModule } from "./client.ts";
import { generateValidatorModule } from "./compile.ts";
import { pythonModels, pythonOperations } from "./python-client.ts";

const parameterLocations: readonly Parameter["in"][] = ["query", "path"];

/** Returns the text of every generated file by path, except the types of the document, which openapi-typescript writes. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const document: Document = withExamples(parse(projectText("schemas/openapi.yaml")));
  return new Map([
    ["src/contract/generated/document.gen.json", `${JSON.stringify(document, null, 1)}\n`],
    ["src/contract/generated/parameters.gen.js", parameterValidators(document)],
    ["src/contract/generated/manifest.gen.js", fileValidator("manifest", { allErrors: false })],
    ["src/contract/generated/mapping.gen.js", fileValidator("mapping")],
    ["src/contract/generated/sources.gen.js", fileValidator("sources", { verbose: true })],
    ["clients/typescript/src/operations.gen.ts", clientModule(document)],
    ["clients/python/src/carquet_client/models.py", pythonModels(document)],
    ["clients/python/src/carquet_client/operations.py", pythonOperations(document)],
  ]);
}

/** Validators of all parameters. Equal schemas share one validator, which keeps the module small. */
function parameterValidators(document: Document): string {
  const ids = new Map<string, string>();
  const idOf = (schema: Schema): string => {
    const text = JSON.stringify(withoutAnnotations(schema));
    const id = ids.get(text) ?? `parameter${ids.size}`;
    ids.set(text, id);
    return id;
  };
  const rows = [...operationsIn(document).values()].map(({ id, parameters, requestBody }) => {
    const body = Object.entries(requestBody?.properties ?? {});
    const [query, path] = parameterLocations.map((location) =>
      parameters
        .filter((parameter) => parameter.in === location)
        .map((parameter) => `    ${JSON.stringify(parameter.name)}: ${idOf(parameter.schema)},\n`),
    );
    const properties = body.map(([name, schema]) => `    ${JSON.stringify(name)}: ${idOf(schema)},\n`).join("");
    return `  ${id}: {\n   query: {\n${query?.join("")}   },\n   path: {\n${path?.join("")}   },\n   body: {\n${properties}   },\n  },\n`;
  });
  const schemas = new Map([...ids].map(([text, id]) => [id, JSON.parse(text)]));
  return generateValidatorModule(schemas, `{\n${rows.join("")}}`, { allErrors: false });
}

/** Removes the keywords that no validator reads. */
function withoutAnnotations(schema: Schema): Schema {
  const assertions = Object.entries(schema).filter(
    ([key]) => !/^(x-.+|default|description|examples?|title)$/.test(key),
  );
  const { items } = schema;
  return { ...Object.fromEntries(assertions), ...(items === undefined ? {} : { items: withoutAnnotations(items) }) };
}

/** Validator of a kind of files. It fills in defaults, and reports all errors: but of a manifest from elsewhere, which can have millions. */
function fileValidator(kind: FileKind, options: Options = {}): string {
  const schemas = new Map<string, object>([[kind, JSON.parse(projectText(`schemas/${kind}.json`))]]);
  return generateValidatorModule(schemas, `{ ${kind} }`, { useDefaults: true, ...options });
}

/** An Example Object, before or after inlining. */
interface Example {
  readonly summary?: string;
  readonly description?: string;
  readonly value?: unknown;
  /** The file of the response body, relative to the document. */
  readonly externalValue?: string;
}

interface ExampleDocument {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly examples: Readonly<Record<string, Example>> };
}

interface Operation {
  readonly description: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Media {
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** Returns the document with inlined response examples, and with the example requests appended to operation descriptions. */
function withExamples<T extends ExampleDocument>(document: T): T {
  const requests = new Map<string, string>();
  const examples = Object.entries(document.components.examples).map(([key, { externalValue, ...example }]) => {
    if (externalValue === undefined) return [key, example] as const;
    const request = projectText(`schemas/${externalValue.replace(/\.json$/, ".url")}`).trim();
    requests.set(key, request);
    const value: unknown = JSON.parse(projectText(`schemas/${externalValue}`));
    return [key, { ...example, description: `\`GET ${request}\``, value }] as const;
  });
  const paths = Object.entries(document.paths).map(([path, { get, ...rest }]) => {
    if (get === undefined) return [path, rest] as const;
    const names = Object.keys(get.responses["200"]?.content?.["application/json"]?.examples ?? {});
    const lines = names.flatMap((key) => requests.get(key) ?? []).map((request) => `- \`GET ${request}\``);
    const description =
      lines.length === 0 ? get.description : `${get.description}\n\nExample requests:\n\n${lines.join("\n")}`;
    return [path, { ...rest, get: { ...get, description } }] as const;
  });
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, examples: Object.fromEntries(examples) },
  };
}
