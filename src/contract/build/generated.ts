/** What follows from the schemas and is needed at every start: the document as JSON, and validators as code. */
import { parse } from "yaml";
import { projectText } from "../../base/project-files.ts";
import { type Document, operationsIn, type Parameter, type Schema } from "../operations.ts";
import type { FileKind } from "../schema.ts";
import { moduleOf } from "./compile.ts";
import { withAnswers } from "./examples.ts";

const kinds: readonly FileKind[] = ["manifest", "mapping"];
const places: readonly Parameter["in"][] = ["query", "path"];

/** The text of every generated file, by its path in the project; `document.gen.ts` has its own generator. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const document: Document = withAnswers(parse(projectText("schemas/openapi.yaml")));
  return new Map([
    ["src/contract/generated/document.gen.json", `${JSON.stringify(document, null, 1)}\n`],
    ["src/contract/generated/parameters.gen.js", parameterValidators(document)],
    ["src/contract/generated/files.gen.js", fileValidators()],
  ]);
}

/** Validators of all parameters. Parameters with equal schemas share one, which keeps the module small. */
function parameterValidators(document: Document): string {
  const ids = new Map<string, string>();
  const idOf = ({ schema }: Parameter): string => {
    const text = JSON.stringify(withoutAnnotations(schema));
    const id = ids.get(text) ?? `parameter${ids.size}`;
    ids.set(text, id);
    return id;
  };
  const rows = [...operationsIn(document).values()].map(({ id, parameters }) => {
    const [query, path] = places.map((place) =>
      parameters.filter((one) => one.in === place).map((one) => `    ${JSON.stringify(one.name)}: ${idOf(one)},\n`),
    );
    return `  ${id}: {\n   query: {\n${query?.join("")}   },\n   path: {\n${path?.join("")}   },\n  },\n`;
  });
  const schemas = new Map([...ids].map(([text, id]) => [id, JSON.parse(text)]));
  return moduleOf(schemas, `{\n${rows.join("")}}`, { allErrors: false });
}

/** A schema without what no validator reads. */
function withoutAnnotations(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([key]) => !/^(x-.+|default|description|examples?|title)$/.test(key));
  const { items } = schema;
  return { ...Object.fromEntries(kept), ...(items === undefined ? {} : { items: withoutAnnotations(items) }) };
}

/** Validators of files, which fill in defaults and report all errors. */
function fileValidators(): string {
  const schemas = kinds.map((kind): [string, object] => [kind, JSON.parse(projectText(`schemas/${kind}.json`))]);
  return moduleOf(new Map(schemas), `{ ${kinds.join(", ")} }`, { useDefaults: true });
}
