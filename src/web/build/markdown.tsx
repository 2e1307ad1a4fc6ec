/** Markdown as HTML: the texts of the document and the guides. They are parts of the project, so their HTML is trusted. */
import { Marked, type Tokens } from "marked";
import { Fragment, h, type JSX } from "preact";
import { renderToString } from "preact-render-to-string";

/** Returns the anchor of a heading, spelled as GitHub spells it. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll("`", "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

export const escapeHtml = (text: string): string => renderToString(h(Fragment, null, text));

/** Returns where a link of a text leads; undefined if it leads out of the site. */
type ResolveLink = (href: string) => string | undefined;

/** Returns a renderer of Markdown to HTML: headings have anchors, tables scroll, and links lead where `resolveLink` says. */
export function markdownRenderer(resolveLink: ResolveLink): (text: string) => string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${escapeHtml(anchorOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const content = this.parser.parseInline(tokens);
        const target = resolveLink(href);
        return target === undefined
          ? `<span title="In the repository: ${escapeHtml(href.replace(/^(\.\.\/)+/, ""))}">${content}</span>`
          : `<a href="${escapeHtml(target)}">${content}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const image = `<img src="${escapeHtml(resolveLink(href) ?? "")}" alt="${escapeHtml(text)}" loading="lazy">`;
        return href.endsWith(".svg") ? `<span class="scroll picture" tabindex="0">${image}</span>` : image;
      },
      code: ({ text }: Tokens.Code) =>
        `<div class="codebox"><button type="button" class="js-only" data-copy>Copy</button><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></div>\n`,
    },
    hooks: {
      postprocess: (html: string) =>
        html.replaceAll("<table>", '<div class="scroll" tabindex="0"><table>').replaceAll("</table>", "</table></div>"),
    },
  });
  return (text) => marked.parse(text, { async: false });
}

/** Returns a text of the document, which is Markdown, as HTML. */
export const proseHtml = markdownRenderer((href) => href);

/** A text of the document, whose paragraphs are Markdown. */
export const Prose = ({ text }: { readonly text: string | undefined }): JSX.Element | null =>
  text === undefined ? null : <div class="prose" dangerouslySetInnerHTML={{ __html: proseHtml(text) }} />;
