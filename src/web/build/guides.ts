/** The guides: the files of `docs/` and the changelog as pages, whose links lead to each other, with their images. */
import { readdirSync } from "node:fs";
import { posix } from "node:path";
import { projectPath, projectText } from "../../base/project-files.ts";
import { markdownRenderer } from "./markdown.tsx";

interface Guide {
  readonly name: string;
  /** Relative to the project. */
  readonly file: string;
  /** The path of its page. */
  readonly path: string;
  readonly title: string;
  readonly html: () => string;
}

function guideOf(file: string): Guide {
  const name = file === "CHANGELOG.md" ? "changelog" : posix.basename(file, ".md");
  const markdown = projectText(file);
  const title = /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll("`", "") ?? name;
  const html = () => markdownRenderer((href) => targetOf(href, file))(markdown);
  return { name, file, path: `/docs/guides/${name}`, title, html };
}

export const guides: readonly Guide[] = [
  ...readdirSync(projectPath("docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
  "CHANGELOG.md",
].map(guideOf);

/** Files outside the guides that the site serves elsewhere. */
const served: Readonly<Record<string, string>> = { "schemas/openapi.yaml": "/v1/openapi.json", "README.md": "/docs" };

/** Returns where a link of a file leads on the site; undefined for files that only the repository has. */
function targetOf(href: string, file: string): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(file), path);
  const guide = guides.find((one) => one.file === target);
  if (guide !== undefined) return `${guide.path}${anchor === undefined ? "" : `#${anchor}`}`;
  return target.startsWith("docs/images/") ? `/${target}` : served[target];
}
