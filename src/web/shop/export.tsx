/** The export of a view: the buttons below the table of cars, and the file that they ask for. It is limited and charged as operation `exportListings`. */
import { Readable } from "node:stream";
import type { JSX } from "preact";
import { exportUnits, prices, usageClassOf } from "../../accounts/policy/prices.ts";
import { exportFormats, type TableFormat } from "../../formats/table-formats.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { queryString, type TextParameters } from "../../operations/caller.ts";
import { messageIn } from "../build/send.ts";
import { Button } from "../components/button.tsx";
import type { PageContent } from "../shell/document.tsx";
import { amountOf, usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import { noticePage } from "../shell/notice.tsx";
import type { SentFile } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { KeptFields } from "./filter-form.tsx";
import { orderedFilters, readView, type ViewParameters, viewIn, viewPath, withParameters } from "./view.ts";

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
      <KeptFields view={view} without={new Set(["view"])} />
      <span>
        {`All ${amountOf(total, "row")}`}
        {visitor.isFree ? "" : `, ${usd(price)}`}:
      </span>
      {[["csv", "CSV"] as const, ["parquet", "Parquet"] as const].map(([format, text]) => (
        <Button key={format} isSmall name="format" value={format}>
          {text}
        </Button>
      ))}
    </Form>
  );
};

/** Returns the request of a view's export. A format that does not exist is refused by the operation. */
const exportQuery = (view: ViewParameters, asOf: string, format: TableFormat | string): TextParameters => ({
  ...orderedFilters(view, asOf),
  format,
});

/** Sends all rows of the form's view as a file, or says why there is none. */
export const sendExport =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm): Promise<PageContent | SentFile> => {
    const { csrf_token: _, format = exportFormats[0], ...asked } = readView(fields);
    const { asOf, view } = await viewIn(services.current, asked);
    const target = `/v1/exports?${queryString(exportQuery(view, asOf, format))}`;
    const request = { operation: "exportListings", method: "GET", target, headers: {} } as const;
    return services.sendRequest(context, visitor.identity, request, async ({ status, header, body }) => {
      if (status === 200 && body instanceof Readable)
        return { file: body, type: header("Content-Type"), name: `listings-${asOf}.${format}` };
      const back = viewPath(withParameters(view, { view: "table" }));
      return {
        status,
        door: "shop",
        ...noticePage("Not exported", await messageIn(body), [back, "Back to the table"]),
      };
    });
  };
