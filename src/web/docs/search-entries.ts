/** What the search of the docs finds: operations, parameters, errors, and the sections of guides. */

import { projectText } from "../../base/project-files.ts";
import { document } from "../../contract/document.ts";
import { errors } from "../../contract/errors.ts";
import type { SearchEntry } from "../client/docs-match.ts";
import { anchorOf } from "./markdown.tsx";
import { conventionsPath, errorsPath, guideFile, guideNames, guidePath } from "./navigation.ts";
import { operationDocs } from "./operation-docs.ts";

/** The most characters of an entry's text. */
const textMax = 140;

const shortened = (text = ""): string => {
  const plain = text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[`*|]|\]\([^)]*\)|\[/g, "")
    .trim();
  return plain.length <= textMax ? plain : `${plain.slice(0, textMax - 1).replace(/\s\S*$/, "")}…`;
};

/** Returns all entries, in the order in which equal matches are shown. */
export function searchEntries(): readonly SearchEntry[] {
  return [
    ...operationDocs.map(
      ({ page, object, operation, description }): SearchEntry => ({
        ...{ kind: "operation", title: object.summary, path: page },
        ...{ text: shortened(description), words: `${operation.path} ${operation.id}` },
      }),
    ),
    ...parameterEntries(),
    ...Object.entries(errors).map(
      ([code, [status, , , message]]): SearchEntry => ({
        ...{ kind: "error", title: code, path: `${errorsPath}#${code}`, text: message, words: String(status) },
      }),
    ),
    ...sectionEntries("Conventions", `# Conventions\n${document.info.description}`, conventionsPath),
    ...guideNames.flatMap((name) => {
      const text = projectText(guideFile(name));
      return sectionEntries(/^# (.*)$/m.exec(text)?.[1] ?? name, text, guidePath(name));
    }),
  ];
}

/** Returns an entry for each name of a parameter, which leads to the first operation that has it. */
function parameterEntries(): readonly SearchEntry[] {
  const entries = new Map<string, SearchEntry>();
  for (const { page, parameters, object, operation } of operationDocs)
    for (const { name, description } of [
      ...parameters,
      ...Object.entries(operation.requestBody?.properties ?? {}).map(([name, property]) => ({ ...property, name })),
    ])
      if (!entries.has(name))
        entries.set(name, {
          ...{ kind: "parameter", title: name, path: `${page}#param-${name}` },
          ...{ text: shortened(description), words: object.summary },
        });
  return [...entries.values()];
}

/** Returns an entry for each heading of a text, with the first sentences below it. */
function sectionEntries(title: string, markdown: string, path: string): readonly SearchEntry[] {
  const prose = markdown.replaceAll(/^```.*?^```$/gms, "");
  return prose
    .split(/^(?=#{1,3} )/m)
    .filter((section) => section.startsWith("#"))
    .map((section, index): SearchEntry => {
      const [first = "", ...rest] = section.split("\n");
      const heading = first.replace(/^#+ /, "");
      return {
        ...{ kind: "guide", title: heading.replaceAll("`", ""), text: shortened(rest.join("\n")) },
        ...{ path: index === 0 ? path : `${path}#${anchorOf(heading)}`, words: index === 0 ? "" : title },
      };
    });
}
