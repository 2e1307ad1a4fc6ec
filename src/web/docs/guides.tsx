/** The guides: the files of `docs/` and the changelog as pages, whose links lead to each other, with their images. */
import { posix } from "node:path";
import { projectText } from "../../base/project-files.ts";
import { markdownRenderer } from "./markdown.tsx";
import { guideFile, guideNames, guidePath } from "./navigation.ts";

export interface Guide {
  readonly title: string;
  readonly html: string;
}

/** Returns a guide; undefined if there is none of that name. */
export function guideOf(name: string): Guide | undefined {
  if (!guideNames.includes(name)) return undefined;
  const file = guideFile(name);
  const text = projectText(file);
  const html = markdownRenderer((href) => targetOf(href, file))(text);
  return { title: /^# (.*)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? name, html };
}

const guideByFile = new Map(guideNames.map((name) => [guideFile(name), name]));

/** Files outside the guides that the site serves elsewhere. */
const served: Readonly<Record<string, string>> = { "schemas/openapi.yaml": "/v1/openapi.json", "README.md": "/docs" };

/** Returns where a link of a file leads on the site; undefined for files that only the repository has. */
function targetOf(href: string, file: string): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(file), path);
  const name = guideByFile.get(target);
  if (name !== undefined) return `${guidePath(name)}${anchor === undefined ? "" : `#${anchor}`}`;
  return target.startsWith("docs/images/") ? `/${target}` : served[target];
}
