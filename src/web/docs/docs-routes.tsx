/** The routes of the docs. Everyone sees them; a page is rendered once, for all visitors and hosts. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, relative } from "node:path";
import type Router from "@koa/router";
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { projectPath } from "../../base/project-files.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware, RequestContext, RequestState } from "../../http/context.ts";
import { serveContent } from "../../http/responses/etag.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { PageContent } from "../shell/document.tsx";
import { requirePlainText, sendPage, serviceOrigin } from "../shell/pages.tsx";
import { visitorOf } from "../shell/visitor.ts";
import { originMark } from "./code-samples.ts";
import { DocsLayout, DocsSearchBox } from "./docs-layout.tsx";
import { guideOf } from "./guides.tsx";
import { escapeHtml } from "./markdown.tsx";
import { conventionsPath, docsGroups, errorsPath } from "./navigation.ts";
import { operationDocs } from "./operation-docs.ts";
import { OperationPage } from "./operation-page.tsx";
import { ConventionsPage, ErrorsPage, OverviewPage } from "./reference-pages.tsx";
import { searchEntries } from "./search-entries.ts";
import { DocsSearchPage } from "./search-page.tsx";

interface DocsPage {
  readonly title: string;
  readonly body: () => JSX.Element;
}

interface RenderedPage {
  readonly title: string;
  readonly html: string;
}

/** Adds the pages of the docs to a router. */
export function addDocsRoutes(router: Router<RequestState>, services: SiteServices): void {
  const rendered = new Map<string, RenderedPage>();
  const page = (path: string, define: () => DocsPage | undefined): RenderedPage => {
    const found = rendered.get(path) ?? renderedPage(path, define());
    rendered.set(path, found);
    return found;
  };
  const send: (define: (context: RequestContext) => DocsPage | undefined) => Middleware = (define) => async (context) =>
    sendDocs(
      context,
      services,
      page(context.path, () => define(context)),
    );
  for (const [path, definition] of fixedPages(services.accounts.isOpen))
    router.get(
      path,
      send(() => definition),
    );
  router.get(
    "/docs/guides/:name",
    send(({ params }) => guidePage(params.name ?? "")),
  );
  for (const { page: path, operation } of operationDocs)
    router.get(`/docs/${operation.id}`, (context) => context.redirect(path));
  router.get("/docs/open", openPage);
  router.get("/docs/search", searchResults(services));
  router.get("/docs/index.json", searchIndex());
  addImages(router);
}

/** Returns the pages that do not depend on their request, by path. */
function fixedPages(isOpen: boolean): readonly (readonly [path: string, page: DocsPage])[] {
  return [
    ["/docs", { title: "Docs", body: () => <OverviewPage /> }],
    [conventionsPath, { title: "Conventions", body: () => <ConventionsPage /> }],
    [errorsPath, { title: "Errors", body: () => <ErrorsPage /> }],
    ...operationDocs.map(
      (docs) =>
        [docs.page, { title: docs.object.summary, body: () => <OperationPage docs={docs} isOpen={isOpen} /> }] as const,
    ),
  ];
}

function guidePage(name: string): DocsPage | undefined {
  const guide = guideOf(name);
  if (guide === undefined) return undefined;
  const { title, html } = guide;
  return { title, body: () => <article class="prose wide" dangerouslySetInnerHTML={{ __html: html }} /> };
}

function renderedPage(path: string, page: DocsPage | undefined): RenderedPage {
  if (page === undefined) throw refuse("not_found", { what: "page", id: path });
  return { title: page.title, html: renderToString(<DocsLayout path={path}>{page.body()}</DocsLayout>) };
}

async function sendDocs(
  context: RequestContext,
  services: SiteServices,
  { title, html }: RenderedPage,
  question?: string,
): Promise<void> {
  const visitor = await visitorOf(context, services);
  const origin = services.publicUrl ?? serviceOrigin(context);
  const content: PageContent = {
    ...{ title, section: "docs", bundles: ["docs.css", "docs.js"], search: <DocsSearchBox question={question} /> },
    body: <div dangerouslySetInnerHTML={{ __html: html.replaceAll(originMark, escapeHtml(origin)) }} />,
  };
  sendPage(context, content, visitor);
}

/** Leads to the page that the list of small screens names. */
const openPage: Middleware = async (context) => {
  const wanted = new URLSearchParams(context.querystring).get("page");
  const found = docsGroups.flatMap(({ links }) => links).find(({ path }) => path === wanted);
  context.redirect(found?.path ?? "/docs");
};

/** Returns the handler of the page of results. */
function searchResults(services: SiteServices): Middleware {
  return async (context) => {
    const question = new URLSearchParams(context.querystring).get("q") ?? "";
    requirePlainText([["q", question]]);
    const body = (): JSX.Element => <DocsSearchPage question={question.slice(0, 100)} entries={entriesOnce()} />;
    await sendDocs(context, services, renderedPage("/docs/search", { title: "Search the docs", body }), question);
  };
}

let entries: ReturnType<typeof searchEntries> | undefined;
/** Returns what the search finds, which takes some milliseconds the first time. */
function entriesOnce(): ReturnType<typeof searchEntries> {
  entries ??= searchEntries();
  return entries;
}

/** Returns the handler of the index that browsers search. */
function searchIndex(): Middleware {
  let serve: Middleware | undefined;
  return (context, next) => {
    serve ??= serveContent(JSON.stringify(entriesOnce()), "application/json");
    return serve(context, next);
  };
}

const imageTypes: Readonly<Record<string, string>> = { ".png": "image/png", ".svg": "image/svg+xml" };

/** Adds the images of the guides to a router. */
function addImages(router: Router<RequestState>): void {
  for (const entry of readdirSync(projectPath("docs/images"), { recursive: true, withFileTypes: true })) {
    const file = `${entry.parentPath}/${entry.name}`;
    const mediaType = imageTypes[extname(file)];
    if (mediaType === undefined) continue;
    router.get(`/${relative(projectPath("."), file)}`, serveContent(readFileSync(file), mediaType));
  }
}
