/** The routes of Build: the docs, which everyone sees, the requests that visitors send there, and SQL. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, relative } from "node:path";
import type Router from "@koa/router";
import type { JSX } from "preact";
import { projectPath } from "../../base/project-files.ts";
import { document } from "../../contract/document.ts";
import type { RequestContext, RequestState } from "../../http/context.ts";
import { serveContent } from "../../http/responses/headers.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { listingRow } from "../../lake/served-columns.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { signInPage } from "../account/sign-in/sign-in-pages.tsx";
import { visitorForm } from "../shell/forms.tsx";
import { addressOf, publicOrigin, sendPage, signedInPage } from "../shell/pages.tsx";
import { demoAccountOf, type Visitor, visitorOf } from "../shell/visitor.ts";
import { buildPage } from "./build-page.tsx";
import { guides } from "./guides.ts";
import { escapeHtml, proseHtml } from "./markdown.tsx";
import { conventionsPath, errorsPath } from "./navigation.ts";
import { type OperationDocs, operationDocs, valuesIn, withIds } from "./operation-docs.ts";
import { operationPage } from "./operation-page.tsx";
import { ErrorsPage, StartPage } from "./reference-pages.tsx";
import type { SampleKey } from "./samples.ts";
import { sendOperation } from "./send.ts";
import { runSqlByForm, sendSqlFile, showSql } from "./sql-page.tsx";

/** Ids of things that exist, by the names of parameters. */
type SampleIds = Readonly<Record<string, string>>;

/** Adds the pages of Build to a router. */
export function addBuildRoutes(router: Router<RequestState>, services: SiteServices): void {
  const { current } = services;
  let sampled = { version: current.version, ids: sampleIds(current) };
  const example = async (docs: OperationDocs): Promise<OperationDocs> => {
    if (sampled.version !== current.version) sampled = { version: current.version, ids: sampleIds(current) };
    return withIds(docs, await sampled.ids);
  };
  for (const docs of operationDocs) {
    router.get(docs.path, async (context) => {
      const fields = addressOf(context).query;
      const visitor = await visitorOf(context, services);
      const shown = await example(docs);
      const common = commonOf(context, services, visitor);
      sendPage(context, operationPage({ ...common, docs: shown, request: valuesIn(shown, fields), fields }), visitor);
    });
    const send = visitorForm(services, async ({ context, visitor, fields }) => {
      const shown = await example(docs);
      const request = valuesIn(shown, fields);
      const answer = await sendOperation(services, context, visitor, docs, request);
      return operationPage({ ...commonOf(context, services, visitor), docs: shown, request, fields, answer });
    });
    router.post(docs.path, send);
    router.get(`/docs/${docs.operation.id}`, (context) => context.redirect(`${docs.path}${context.search}`));
  }
  addPages(router, services);
  router.get("/sql", signedInPage(services, signInPage, showSql(services)));
  router.post("/sql", visitorForm(services, runSqlByForm(services)));
  router.post("/sql/file", visitorForm(services, sendSqlFile(services)));
  addImages(router);
}

/** What pages of operations share: the visitor, the origin of the service, and the key of the demo for its own account. */
function commonOf(context: RequestContext, services: SiteServices, visitor: Visitor | undefined) {
  const isDemo = visitor !== undefined && visitor.identity.key.accountId === demoAccountOf(context, services);
  const key: SampleKey = { isOpen: services.accounts.isOpen, secret: isDemo ? services.demoKey : undefined };
  return { visitor, key, origin: publicOrigin(context, services) };
}

/** The origin of the service in the guides. */
const exampleOrigin = "http://127.0.0.1:8080";

/** Adds the start, the guides and the reference. */
function addPages(router: Router<RequestState>, services: SiteServices): void {
  const add = (
    path: string,
    title: string,
    body: (context: RequestContext, visitor?: Visitor) => JSX.Element,
    lede?: string,
  ) =>
    router.get(path, async (context) => {
      const visitor = await visitorOf(context, services);
      const children = body(context, visitor);
      sendPage(context, buildPage({ path, title, lede, visitor, columns: 1, children }), visitor);
    });
  const [first] = operationDocs;
  const start = (context: RequestContext, visitor?: Visitor): JSX.Element => {
    if (first === undefined) throw new TypeError("No operation: expected one in the document.");
    return <StartPage sampled={{ ...commonOf(context, services, visitor), docs: first, request: first.request }} />;
  };
  const version = `Version ${document.info.version} of the API, as [the OpenAPI document](/v1/openapi.json) of this service describes it.`;
  add("/docs", "Build on the market", start, version);
  add(
    errorsPath,
    "Errors",
    () => <ErrorsPage />,
    "Branch on `code`. The message names the parameter, the value and what was expected; its wording can change.",
  );
  const conventions = { path: conventionsPath, title: "Conventions", html: () => proseHtml(document.info.description) };
  for (const { path, title, html } of [conventions, ...guides])
    add(path, title, (context) => {
      const text = html().replaceAll(exampleOrigin, () => escapeHtml(publicOrigin(context, services)));
      return <article class="prose" dangerouslySetInnerHTML={{ __html: text }} />;
    });
}

/** Returns the ids of a listing, its vehicle and the largest dealer of the version in service; none if it cannot be read. */
function sampleIds(current: CurrentVersion): Promise<SampleIds> {
  const ids = current.use(async (version): Promise<SampleIds> => {
    const listings = version.activeOn(version.manifest.as_of);
    const order = { by: "sort", sort: "-days_on_market" } as const;
    const { keys } = await listings.findPage({ filters: [], order, limit: 1, offset: 0 });
    const columns = ["id", "vin"] as const;
    const [row] = await listings.read(keys, columns, (one) => listingRow.decode(one, columns));
    const known = { listing_id: row?.id, vin: row?.vin, dealer_id: version.dealers.dealers[0]?.id };
    return Object.fromEntries(
      Object.entries(known).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  });
  return ids.catch(() => ({}));
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
