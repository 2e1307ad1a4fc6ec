/** The routes of the docs. Everyone sees them; a page is rendered once for a version of the lake, for all visitors and hosts. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, relative } from "node:path";
import type Router from "@koa/router";
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { projectPath } from "../../base/project-files.ts";
import type { Middleware, RequestContext, RequestState } from "../../http/context.ts";
import { serveContent } from "../../http/responses/headers.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { listingRow } from "../../lake/served-columns.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { requirePlainText, sendPage, serviceOrigin } from "../shell/pages.tsx";
import { visitorOf } from "../shell/visitor.ts";
import { originMark } from "./code-samples.ts";
import { DocsLayout } from "./docs-layout.tsx";
import { DocsSearchPage, searchDocs } from "./docs-search.tsx";
import { guideHtml, guides } from "./guides.ts";
import { escapeHtml } from "./markdown.tsx";
import { conventionsPath, docsGroups, errorsPath } from "./navigation.ts";
import { operationDocs, withIds } from "./operation-docs.ts";
import { OperationPage } from "./operation-page.tsx";
import { ConventionsPage, ErrorsPage, OverviewPage } from "./reference-pages.tsx";

/** Ids of things that exist, by the names of parameters. */
type SampleIds = Readonly<Record<string, string>>;

interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly body: (ids: SampleIds) => JSX.Element;
}

/** Adds the pages of the docs to a router. */
export function addDocsRoutes(router: Router<RequestState>, services: SiteServices): void {
  const { current, accounts } = services;
  let rendered = { version: current.version, ids: sampleIds(current), html: new Map<string, string>() };
  for (const { path, title, body } of docsPages(accounts.isOpen))
    router.get(path, async (context) => {
      if (rendered.version !== current.version)
        rendered = { version: current.version, ids: sampleIds(current), html: new Map() };
      const { ids, html } = rendered;
      const found = html.get(path) ?? inLayout(path, body(await ids));
      html.set(path, found);
      await sendDocs(context, services, { title, html: found });
    });
  for (const { path, operation } of operationDocs)
    router.get(`/docs/${operation.id}`, (context) => context.redirect(path));
  router.get("/docs/open", openPage);
  router.get("/docs/search", async (context) => {
    const question = questionOf(context);
    const html = inLayout("/docs/search", <DocsSearchPage question={question} />);
    await sendDocs(context, services, { title: "Search the docs", html, question });
  });
  router.get("/docs/suggestions", suggest);
  addImages(router);
}

function docsPages(isOpen: boolean): readonly DocsPage[] {
  return [
    { path: "/docs", title: "Docs", body: () => <OverviewPage isOpen={isOpen} /> },
    { path: conventionsPath, title: "Conventions", body: () => <ConventionsPage /> },
    { path: errorsPath, title: "Errors", body: () => <ErrorsPage /> },
    ...operationDocs.map((docs) => ({
      ...docs,
      body: (ids: SampleIds) => <OperationPage docs={withIds(docs, ids)} isOpen={isOpen} />,
    })),
    ...guides.map((guide) => ({
      ...guide,
      body: () => <article class="prose wide" dangerouslySetInnerHTML={{ __html: guideHtml(guide) }} />,
    })),
  ];
}

/** Returns the ids of a listing, its vehicle and the largest dealer of the version in service; none if it cannot be read. */
function sampleIds(current: CurrentVersion): Promise<SampleIds> {
  const ids = current.use(async (version): Promise<SampleIds> => {
    const listings = version.activeOn(version.manifest.as_of);
    const order = { by: "sort", sort: "-days_on_market" } as const;
    const { keys } = await listings.findPage({ filters: [], order, limit: 1, offset: 0 });
    const [row = []] = await listings.read(keys, ["id", "vin"]);
    const { id, vin } = listingRow.decode(row, ["id", "vin"]);
    const known = { listing_id: id, vin, dealer_id: version.dealers.dealers[0]?.id };
    return Object.fromEntries(
      Object.entries(known).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  });
  return ids.catch(() => ({}));
}

const inLayout = (path: string, body: JSX.Element): string =>
  renderToString(<DocsLayout path={path}>{body}</DocsLayout>);

type SentDocs = Pick<DocsPage, "title"> & { readonly html: string; readonly question?: string };

async function sendDocs(context: RequestContext, services: SiteServices, { title, html, question }: SentDocs) {
  const visitor = await visitorOf(context, services);
  const origin = services.publicUrl ?? serviceOrigin(context);
  const body = <div dangerouslySetInnerHTML={{ __html: html.replaceAll(originMark, escapeHtml(origin)) }} />;
  sendPage(context, { title, door: "build", bundles: ["docs.js"], question, body }, visitor);
}

/** Leads to the page that the list of small screens names. */
const openPage: Middleware = async (context) => {
  const wanted = new URLSearchParams(context.querystring).get("page");
  const found = docsGroups.flatMap(({ links }) => links).find(({ path }) => path === wanted);
  context.redirect(found?.path ?? "/docs");
};

/** The most characters of a question. */
const questionMax = 100;

function questionOf({ querystring }: RequestContext): string {
  const question = new URLSearchParams(querystring).get("q") ?? "";
  requirePlainText([["q", question]]);
  return question.slice(0, questionMax);
}

/** The most results while a question is typed. */
const suggestionsMax = 8;

/** Answers with the best results, which the box of the header lists: sections beside their guide, others beside their kind. */
const suggest: Middleware = async (context) => {
  const found = searchDocs(questionOf(context)).slice(0, suggestionsMax);
  context.body = found.map(({ title, kind, path, words }) => ({
    text: title,
    path,
    note: (kind === "guide" && words) || kind,
  }));
};

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
