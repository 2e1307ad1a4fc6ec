/**
 * The document's examples of answers. Those with an `externalValue` are golden answers: files that the tests compare with what
 * the service answers over the sample, each beside the request that it answers. They are put into the document when it is generated.
 */
import { projectText } from "../../base/project-files.ts";

/** An example of the document, as it is written or as it is served. */
export interface Example {
  readonly summary?: string;
  readonly description?: string;
  readonly value?: unknown;
  /** The file of the answer, relative to the document. */
  readonly externalValue?: string;
}

interface Exemplified {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly examples: Readonly<Record<string, Example>> };
}

interface Operation {
  readonly description: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Media {
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** A document with the answers in its examples, and with each operation's example requests in its description. */
export function withAnswers<T extends Exemplified>(document: T): T {
  const requests = new Map<string, string>();
  const examples = Object.entries(document.components.examples).map(([key, { externalValue, ...example }]) => {
    if (externalValue === undefined) return [key, example] as const;
    const request = projectText(`schemas/${externalValue.replace(/\.json$/, ".url")}`).trim();
    requests.set(key, request);
    const value: unknown = JSON.parse(projectText(`schemas/${externalValue}`));
    return [key, { ...example, description: `\`GET ${request}\``, value }] as const;
  });
  const paths = Object.entries(document.paths).map(([path, { get, ...rest }]) => {
    const shown = Object.keys(get.responses["200"]?.content?.["application/json"]?.examples ?? {});
    const lines = shown.flatMap((key) => requests.get(key) ?? []).map((request) => `- \`GET ${request}\``);
    const description =
      lines.length === 0 ? get.description : `${get.description}\n\nFor example:\n\n${lines.join("\n")}`;
    return [path, { ...rest, get: { ...get, description } }] as const;
  });
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, examples: Object.fromEntries(examples) },
  };
}
