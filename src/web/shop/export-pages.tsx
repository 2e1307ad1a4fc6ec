/** Exports of a view: the form below the table of cars, and the page of a started export with its progress, its charge and its file. */
import type { JSX } from "preact";
import { exportUnits, prices, usageClassOf } from "../../accounts/policy/prices.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import { exportFormats, type TableFormat } from "../../formats/table-formats.ts";
import type { Middleware } from "../../http/context.ts";
import { respondWithExport } from "../../http/exports/respond-with-export.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { queryString, type TextParameters } from "../../operations/caller.ts";
import { Button } from "../components/button.tsx";
import { Sheet } from "../components/sheet.tsx";
import type { PageContent } from "../shell/document.tsx";
import { amountOf, count, size, usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler, Redirect } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import { type Visitor, visitorOf } from "../shell/visitor.ts";
import { KeptFields } from "./filter-form.tsx";
import { apiFilters, orderOf, readView, type ViewParameters, viewPath, withParameters } from "./view.ts";
import type { VisitorExport, VisitorExports } from "./visitor-exports.ts";

interface ExportFormProps {
  readonly view: ViewParameters;
  readonly total: number;
  readonly asOf: string;
  readonly visitor: Visitor;
}

/** The buttons that export all rows of a view. */
export const ExportForm = ({ view, total, asOf, visitor }: ExportFormProps): JSX.Element => {
  const price = prices[usageClassOf("exportListings", exportQuery(view, asOf, "csv"))] * exportUnits(total);
  return (
    <Form visitor={visitor} action="/export" class="export">
      <KeptFields view={view} without={new Set(["view", "columns"])} />
      <span>
        {`All ${amountOf(total, "row")}`}
        {visitor.isFree ? "" : `, ${usd(price)}`}:
      </span>
      <Button isSmall name="format" value="csv">
        CSV
      </Button>
      <Button isSmall name="format" value="parquet">
        Parquet
      </Button>
    </Form>
  );
};

/** Returns the request of a view's export. */
function exportQuery(view: ViewParameters, asOf: string, format: TableFormat): TextParameters {
  const sort = orderOf(view);
  return { ...apiFilters(view, asOf), ...(sort === undefined ? {} : { sort }), format };
}

/** Returns the chosen format. Refuses another name. */
function formatOf(name: string = exportFormats[0]): TableFormat {
  const format = exportFormats.find((one) => one === name);
  if (format !== undefined) return format;
  const allowed = `one of ${exportFormats.join(", ")}`;
  throw refuse("invalid_parameter_value", { parameter: "format", value: quoted(name), allowed, hint: "" });
}

/** Starts an export, and leads to its page. */
export const startExport =
  ({ current }: Pick<SiteServices, "current">, exports: VisitorExports) =>
  async ({ context, visitor, fields }: VisitorForm): Promise<Redirect> => {
    const asOf = await current.use(async ({ manifest }) => manifest.as_of);
    const { csrf_token: _, format, ...view } = readView(fields, asOf);
    const started = await exports.startFor(context, visitor, exportQuery(view, asOf, formatOf(format)));
    return { location: `/export/${started.id}` };
  };

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
  const { id, state, price, details, rows, bytes } = found;
  const { format, ...view } = details.query;
  const title = `${titles[state]} ${amountOf(price.rows, "car")}`;
  const back = viewPath(withParameters(view, { view: "table" }));
  return {
    title,
    door: "shop",
    top: (
      <Verdict
        kicker={
          <Kicker
            above={[
              ["/", "Home"],
              ["/shop", "Shop"],
              [back, "Table"],
            ]}
            here="Export"
          />
        }
        judgement={{ sentence: [`${title}.`], context: [stateWords(found, visitor)] }}
      />
    ),
    body: (
      <Sheet title={`listings.${format}`} of={`${count(rows)} of ${count(price.rows)} rows`}>
        <progress
          max={Math.max(1, price.rows)}
          value={state === "written" ? Math.max(1, price.rows) : rows}
          aria-label="Written rows"
        />
        {state === "writing" ? (
          <Form visitor={visitor} action={`/export/${id}/stop`}>
            <Button>Stop</Button>
          </Form>
        ) : null}
        {state === "written" ? (
          <p>
            <a class="btn main" href={`/export/${id}/file`} download>
              {`Download ${size(bytes)}`}
            </a>
          </p>
        ) : null}
      </Sheet>
    ),
  };
}

/** Describes the state of an export and its charge. */
function stateWords({ state, rows, micros, price, refusal }: VisitorExport, { isOpen }: Visitor): string {
  const charge = isOpen ? "" : usd(micros);
  if (state === "failed") return `${refusal?.message} Nothing was charged.`;
  if (state === "stopped")
    return isOpen ? "No file is kept." : `The ${count(rows)} rows that were written or being written cost ${charge}.`;
  if (state === "written")
    return isOpen ? "The file is written." : `${charge} charged. The download is free for a day.`;
  if (isOpen) return "This page follows its progress.";
  return `${usd(price.micros)} when it is written. Stopped now, it costs ${charge} for the rows so far.`;
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
