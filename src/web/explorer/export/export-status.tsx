/** A started export: its progress and charge, its end, and its file. */
import { refuse } from "../../../contract/errors.ts";
import type { Middleware } from "../../../http/context.ts";
import { respondWithExport } from "../../../http/exports/respond-with-export.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { queryString, type TextParameters } from "../../../operations/caller.ts";
import type { PageContent } from "../../shell/document.tsx";
import { amountOf, count, usd } from "../../shell/format.ts";
import { Form, type VisitorForm } from "../../shell/forms.tsx";
import type { PageHandler, Redirect } from "../../shell/pages.tsx";
import { type Visitor, visitorOf } from "../../shell/visitor.ts";
import { byteSize, ExportPanel } from "./export-panel.tsx";
import type { VisitorExport, VisitorExports } from "./visitor-exports.ts";

/** Returns an export of a visitor. Refuses an unknown one. */
function requireExport(exports: VisitorExports, { identity }: Visitor, { id = "" }: TextParameters): VisitorExport {
  const found = exports.find(identity.key.accountId, id);
  if (found === undefined) throw refuse("not_found", { what: "export", id });
  return found;
}

export const stopExport =
  (exports: VisitorExports) =>
  async ({ visitor, params }: VisitorForm): Promise<Redirect> => {
    const found = requireExport(exports, visitor, params);
    exports.stop(found);
    return { location: `/export/${found.id}` };
  };

/** How often the page of an export in progress loads again. */
const pollSeconds = 1;

/** The page of a started export. */
export const exportStatusPage =
  (exports: VisitorExports): PageHandler =>
  async ({ context, visitor, params }) => {
    const found = requireExport(exports, visitor, params);
    if (found.state === "writing") context.set("Refresh", String(pollSeconds));
    return statusPage(found, visitor);
  };

const titles = { writing: "Exporting", written: "Exported", stopped: "Stopped exporting", failed: "Not exported:" };

function statusPage(found: VisitorExport, visitor: Visitor): PageContent {
  const { state, price, details, rows } = found;
  const { format, ...view } = details.query;
  const title = `${titles[state]} ${amountOf(price.rows, "listing")}`;
  const share = price.rows === 0 ? 100 : Math.round((100 * rows) / price.rows);
  return {
    title,
    door: "shop",
    body: (
      <ExportPanel title={title} view={view}>
        <div class="pad stack" role="status" data-poll={state === "writing" ? "" : undefined}>
          <div>
            <div class="head small">
              <span>{`listings.${format}`}</span>
              <span class="end">{`${count(rows)} of ${count(price.rows)} rows`}</span>
            </div>
            <svg class="progress" width="100%" height="6" aria-hidden="true">
              <rect width={`${share}%`} height="6" />
            </svg>
          </div>
          <p class="small">{wordsOf(found, visitor)}</p>
        </div>
        <footer>
          {state === "writing" ? (
            <Form visitor={visitor} action={`/export/${found.id}/stop`}>
              <button type="submit">Stop</button>
            </Form>
          ) : null}
          {state === "written" ? (
            <a class="btn prime" href={`/export/${found.id}/file`} download>
              {`Download ${byteSize(found.bytes)}`}
            </a>
          ) : null}
        </footer>
      </ExportPanel>
    ),
  };
}

/** Describes the state of an export and its charge. */
function wordsOf({ state, rows, micros, price, refusal }: VisitorExport, { isOpen }: Visitor): string {
  const charge = isOpen ? "" : usd(micros);
  if (state === "failed") return `${refusal?.message} Nothing was charged.`;
  if (state === "stopped")
    return isOpen ? "No file is kept." : `The ${count(rows)} rows that were written or being written cost ${charge}.`;
  if (state === "written")
    return isOpen ? "The file is written." : `${charge} charged. The download is free for a day.`;
  return isOpen ? "" : `${usd(price.micros)} when it is written. Stopped now, it costs ${charge} for the rows so far.`;
}

/** Sends the file of a written export: the response of the API to its visitor, which is charged already. */
export function exportFile(services: SiteServices, exports: VisitorExports): Middleware {
  const respond = respondWithExport(services.exports, services.exportAdmission);
  return async (context, next) => {
    const visitor = await visitorOf(context, services, "download");
    if (visitor === undefined) return context.redirect("/sign-in");
    const { details, state } = requireExport(exports, visitor, context.params ?? {});
    const { query, version } = details;
    const published = await services.current.use(async ({ manifest }) => manifest.version);
    // The response would be of newer data, and charged again.
    if (state !== "written" || published !== version)
      throw refuse("not_found", { what: "file of an export of the published version", id: String(context.params?.id) });
    context.params = {};
    context.querystring = queryString(query);
    await respond(context, next);
  };
}
