/** The page before an export of a view: its formats, rows, columns and price. A browser module shows it as a dialog (`client/exports.ts`). */
import type { JSX } from "preact";
import { exportUnits } from "../../../accounts/policy/prices.ts";
import { operation, vocabulary } from "../../../contract/document.ts";
import { refuse } from "../../../contract/errors.ts";
import { quoted } from "../../../contract/query-string.ts";
import { exportColumns } from "../../../export/columns.ts";
import { exportFormats, type TableFormat } from "../../../formats/table-formats.ts";
import type { ExportPrice } from "../../../http/exports/charged-export.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { queryString } from "../../../operations/caller.ts";
import { fieldsAmong } from "../../../query/fields.ts";
import { amountOf, count, day, usd } from "../../shell/format.ts";
import { Form, type VisitorForm } from "../../shell/forms.tsx";
import { type PageHandler, type Redirect, serviceOrigin } from "../../shell/pages.tsx";
import type { Visitor } from "../../shell/visitor.ts";
import { RequestCode } from "../api-requests.tsx";
import { KeptFields } from "../search/applied-filters.tsx";
import { apiFilters, listOf, readView, type ViewParameters, withParameters } from "../view.ts";
import { byteSize, ExportPanel } from "./export-panel.tsx";
import type { VisitorExports } from "./visitor-exports.ts";

interface FormatNote {
  readonly name: string;
  readonly note: string;
  /** The bytes of a row and of an empty file, measured on exports of the demo market with the default columns. */
  readonly rowBytes: number;
  readonly fileBytes: number;
}

const formatNotes: Readonly<Record<TableFormat, FormatNote>> = {
  parquet: { name: "Parquet", note: "typed", rowBytes: 110, fileBytes: 16_000 },
  csv: { name: "CSV", note: "text", rowBytes: 830, fileBytes: 1_500 },
  arrow: { name: "Arrow", note: "typed", rowBytes: 760, fileBytes: 2_000 },
  ndjson: { name: "NDJSON", note: "nested", rowBytes: 1_640, fileBytes: 0 },
};

/** Returns the chosen format. Refuses another name. */
function formatOf(name: string = exportFormats[0]): TableFormat {
  const format = exportFormats.find((one) => one === name);
  if (format !== undefined) return format;
  const allowed = `one of ${exportFormats.join(", ")}`;
  throw refuse("invalid_parameter_value", { parameter: "format", value: quoted(name), allowed, hint: "" });
}

/** Returns the request of a view's export. */
const exportQuery = (view: ViewParameters, asOf: string, format: TableFormat) => ({
  ...apiFilters(view, asOf),
  ...withParameters({}, { sort: view.sort, fields: view.fields }),
  format,
});

const asOfDay = ({ current }: SiteServices): Promise<string> => current.use(async ({ manifest }) => manifest.as_of);

/** The page before an export. */
export const exportPage =
  (services: SiteServices, exports: VisitorExports): PageHandler =>
  async ({ context, visitor, query }) => {
    const asOf = await asOfDay(services);
    const { format, ...view } = readView(query, asOf);
    const offers: Offer[] = [];
    const page = { isCounted: false };
    for (const name of exportFormats)
      offers.push({ format: name, ...(await exports.price(context, visitor, exportQuery(view, asOf, name), page)) });
    const chosen = formatOf(format);
    const origin = serviceOrigin(context);
    const querystring = queryString(exportQuery(view, asOf, chosen));
    return {
      title: "Export",
      door: "shop",
      body: (
        <ExportPanel title={`Export ${amountOf(offers[0]?.rows, "listing")}`} view={view}>
          <OfferForm visitor={visitor} view={view} asOf={asOf} offers={offers} chosen={chosen}>
            <RequestCode origin={origin} request={{ path: operation("exportListings").path, querystring }} />
          </OfferForm>
        </ExportPanel>
      ),
    };
  };

type Offer = ExportPrice & { readonly format: TableFormat };

interface OfferFormProps {
  readonly visitor: Visitor;
  readonly view: ViewParameters;
  readonly asOf: string;
  readonly offers: readonly Offer[];
  readonly chosen: TableFormat;
  /** The same as requests of the API. */
  readonly children: JSX.Element;
}

const OfferForm = ({ visitor, view, asOf, offers, chosen, children }: OfferFormProps): JSX.Element => {
  const { fields, ...kept } = view;
  const rows = offers[0]?.rows ?? 0;
  const price = Math.max(...offers.map(({ micros }) => micros));
  return (
    <Form visitor={visitor} action="/export">
      <KeptFields view={kept} without={new Set()} />
      <div class="pad stack">
        <Formats offers={offers} chosen={chosen} isPriced={offers.some(({ micros }) => micros < price)} />
        <dl class="kv">
          <dt>Rows</dt>
          <dd>{`${count(rows)} of the search, ${day(view.snapshot_date ?? asOf)}`}</dd>
          {visitor.isOpen ? null : <Price visitor={visitor} rows={rows} price={price} />}
        </dl>
        <Columns chosen={listOf(view, "fields")} />
        <details>
          <summary>The same as an API request</summary>
          {children}
        </details>
      </div>
      <footer>
        <button type="submit" class="btn prime">
          {visitor.isOpen ? "Export" : `Export for ${usd(price)}`}
        </button>
      </footer>
    </Form>
  );
};

interface FormatsProps extends Pick<OfferFormProps, "offers" | "chosen"> {
  /** Whether formats have different prices, because some have been charged already. */
  readonly isPriced: boolean;
}

const Formats = ({ offers, chosen, isPriced }: FormatsProps): JSX.Element => (
  <fieldset class="choice">
    <legend class="vh">Format</legend>
    {offers.map(({ format, rows, micros }) => {
      const { name, note, rowBytes, fileBytes } = formatNotes[format];
      return (
        <label key={format}>
          <input type="radio" name="format" value={format} checked={format === chosen} />
          <b>{name}</b>
          <small>{`about ${byteSize(rows * rowBytes + fileBytes)}, ${note}`}</small>
          {isPriced ? <small>{micros === 0 ? "charged already" : usd(micros)}</small> : null}
        </label>
      );
    })}
  </fieldset>
);

interface PriceProps {
  readonly visitor: Visitor;
  readonly rows: number;
  readonly price: number;
}

const Price = ({ visitor, rows, price }: PriceProps): JSX.Element => {
  const { balanceMicros, capMicros, spentMicros } = visitor.identity.cached.account;
  const left = (micros: number): string => usd(Math.max(0, micros - price));
  return (
    <>
      <dt>Price</dt>
      <dd>
        <b>{usd(price)}</b>
        {price === 0 ? ", charged already" : `, ${usd(price / exportUnits(rows))} for each started 1,000 rows`}
      </dd>
      <dt>Left after it</dt>
      <dd>
        {capMicros === null ? "" : `${left(capMicros - spentMicros)} of the cap, `}
        {`${left(balanceMicros)} of the balance`}
      </dd>
    </>
  );
};

/** The default columns unless some are chosen. */
const Columns = ({ chosen }: { readonly chosen: readonly string[] }): JSX.Element => {
  const fields: readonly string[] = vocabulary("exportListings", "fields");
  const usual = fieldsAmong(fields, ["default"]).length;
  return (
    <details class="fields" open={chosen.length > 0}>
      <summary>
        {chosen.length === 0 ? `${usual} columns, or those that you choose` : `${chosen.length} columns`}
      </summary>
      <fieldset>
        <legend class="vh">Columns</legend>
        {exportColumns
          .filter(({ name }) => fields.includes(name))
          .map(({ name }) => (
            <label key={name} class="check">
              <input type="checkbox" name="fields" value={name} checked={chosen.includes(name)} />
              {name}
            </label>
          ))}
      </fieldset>
    </details>
  );
};

/** Starts an export, and leads to its page. */
export const startExport =
  (services: SiteServices, exports: VisitorExports) =>
  async ({ context, visitor, fields }: VisitorForm): Promise<Redirect> => {
    const asOf = await asOfDay(services);
    const { csrf_token: _, format, ...view } = readView(fields, asOf);
    const started = await exports.startFor(context, visitor, exportQuery(view, asOf, formatOf(format)));
    return { location: `/export/${started.id}` };
  };
