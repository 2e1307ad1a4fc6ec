/**
 * Response examples of the document. An example with an `externalValue` is a golden file, `<name>.json` beside its request,
 * `<name>.url`; tests compare it with the service's response over the sample data. This module inlines the files into the document.
 */
import { projectText } from "../../base/project-files.ts";

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
export function withExamples<T extends ExampleDocument>(document: T): T {
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
