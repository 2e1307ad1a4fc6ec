/** The page "New feed": an operator uploads a file, sees what `carquet map` makes of it, chooses, and saves the mapping of a source. */
import type { JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import type { Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { describeIssue } from "../../ingest/delivery-report.ts";
import { chosenFields } from "../../ingest/proposal/choices.ts";
import type { MappedFile, MapRequest } from "../../ingest/proposal/map-file.ts";
import { defaultCurrency } from "../../lake/manifest.ts";
import { Field, Select } from "../components/field.tsx";
import { Block, Code, DataTable, Notice } from "../shell/blocks.tsx";
import { amountOf, count, dollars, text } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { addDraft, mapDraft, removeDraft } from "./feed-drafts.ts";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator/feeds";

export const uploadPage: PageHandler = async ({ visitor, query }) =>
  operatorPage(
    path,
    "New feed",
    <>
      <Notice text={query.has("saved") ? "The mapping is saved. The next fetch uses it." : undefined} />
      <section class="sheet pad" aria-label="File">
        <Form visitor={visitor} action={path} class="stack" hasFile>
          <Field label="File of a dealer or provider: choose it, or drop it here" type="file" name="file" required />
          <Field label="Path of the records in XML or JSON, if they are not found" name="records" />
          <button type="submit" class="btn">
            Map the file
          </button>
        </Form>
      </section>
    </>,
  );

/** Maps an uploaded file, or one of before with other choices, or saves its mapping. */
export const mapByForm =
  ({ sourceMappings, current, accounts: { administration } }: SiteServices) =>
  async ({ visitor, fields, file }: VisitorForm) => {
    if (file?.size === 0) throw new UserError("No file: expected one with rows.");
    const currency =
      current.version === undefined ? defaultCurrency : await current.use(async ({ manifest }) => manifest.currency);
    const id = file === undefined ? (fields.get("draft") ?? "") : await addDraft(file);
    const mapped = await mapDraft(id, { ...requestOf(fields), currency }, dayOf(administration.nowMs));
    const source = fields.get("source");
    if (sourceMappings !== undefined && source !== null && fields.get("action") === "save") {
      const saved = await sourceMappings.save(source, mapped.content);
      await administration.change(visitor.identity.key.accountId, "map", { source, path: saved });
      await removeDraft(id);
      return { location: `${path}?saved` };
    }
    const names = (await sourceMappings?.names()) ?? [];
    return operatorPage(
      path,
      `New feed: ${mapped.name}`,
      <Draft visitor={visitor} id={id} fields={fields} mapped={mapped} names={names} />,
    );
  };

/** Returns what the fields of the form choose. An empty one leaves the proposal. */
function requestOf(fields: URLSearchParams): Omit<MapRequest, "currency"> {
  const set = [...fields].flatMap(([name, value]) => {
    const [, kind, item = ""] = /^(column|set):(.*)$/s.exec(name) ?? [];
    if (kind === undefined || value.trim() === "") return [];
    return [kind === "set" ? `${item}=${value}` : `${value}={${item}}`];
  });
  return { set, records: fields.get("records")?.trim() || undefined, isAccepting: fields.has("accept") };
}

interface DraftProps {
  readonly visitor: Visitor;
  readonly id: string;
  readonly fields: URLSearchParams;
  readonly mapped: MappedFile;
  /** The names of the sources. */
  readonly names: readonly string[];
}

const Draft = ({ visitor, id, fields, mapped, names }: DraftProps): JSX.Element => {
  const { summary, notes, content, columns } = mapped;
  const { rows, refused, dealers, issues, remarks, listings } = mapped.trial;
  return (
    <>
      <p>
        {summary} {amountOf(rows, "row")}: {count(rows - refused)} usable, {count(refused)} refused;{" "}
        {amountOf(dealers, "dealer")}. <a href={path}>Another file</a>
      </p>
      <Lines lines={notes.map((note) => note.replace(/; --set .*$/, "."))} look="bullets note warn" />
      <Form visitor={visitor} action={path} class="stack">
        <input type="hidden" name="draft" value={id} />
        <Block id="columns" title="Columns">
          <DataTable
            label="Columns"
            columns={["Column", "Field", "State", "Why", "#Usable", "Values before → after"]}
            rows={columns.map((column) => {
              const value = fields.get(`column:${column.column}`) ?? "";
              const choice = <ColumnChoice column={column} value={value} />;
              return [column.column, choice, column.state, column.why, column.share, column.samples];
            })}
          />
        </Block>
        <Constants fields={fields} />
        <div class="inline">
          <button type="submit" class="btn" name="action" value="try">
            Try
          </button>
          {names.length === 0 ? (
            <span class="muted">A service of carquet run saves the mapping of a source. Here, copy it.</span>
          ) : (
            <>
              <Select label="Source" name="source" options={names.map((name) => [name, name])} />
              <button type="submit" class="btn" name="action" value="save">
                Save as its mapping
              </button>
            </>
          )}
        </div>
      </Form>
      <Block id="issues" title="What would be refused or unknown">
        <Lines lines={[...issues.map(describeIssue), ...remarks]} look="bullets" />
      </Block>
      <Block id="listings" title="The first cars as listings">
        <DataTable label="Listings" columns={listingColumns} rows={listings.map(listingCells)} />
      </Block>
      <Code label="Mapping" text={JSON.stringify(content, undefined, 2)} />
    </>
  );
};

const Lines = ({ lines, look }: { readonly lines: readonly string[]; readonly look: string }): JSX.Element | null =>
  lines.length === 0 ? null : (
    <ul class={look}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );

interface ColumnChoiceProps {
  readonly column: MappedFile["columns"][number];
  readonly value: string;
}

const ColumnChoice = ({ column: { column, fields, state }, value }: ColumnChoiceProps): JSX.Element => {
  const names = fields.join(", ");
  const proposed = state === "suggested" ? `not used (${names}?)` : names || "not used";
  return (
    <select name={`column:${column}`} aria-label={`Field of ${column}`}>
      <option value="">{value === "" ? proposed : "as proposed"}</option>
      {chosenFields.map((field) => (
        <option key={field} value={field} selected={field === value}>
          {field === "none" ? "not used" : field}
        </option>
      ))}
    </select>
  );
};

/** Fields that can be the same in all rows of a file. */
const constants = [
  "inventory_type",
  "make",
  ...["name", "line1", "city", "state", "postal_code", "phone"].map((field) => `dealer.${field}`),
];

const Constants = ({ fields }: Pick<DraftProps, "fields">): JSX.Element => (
  <Block id="constants" title="The same in all rows">
    <div class="inline">
      {constants.map((name) => (
        <Field key={name} label={name} name={`set:${name}`} value={fields.get(`set:${name}`) ?? ""} />
      ))}
      <Select
        label="Unit of the mileage"
        name="set:miles.unit"
        value={fields.get("set:miles.unit") ?? ""}
        options={[
          ["", "as the file says"],
          ["mi", "miles"],
          ["km", "kilometers"],
        ]}
      />
      <Field label="Path of the records" name="records" value={fields.get("records") ?? ""} />
      <label class="check">
        <input type="checkbox" name="accept" checked={fields.has("accept")} /> Use what only values suggest
      </label>
    </div>
  </Block>
);

/** The columns of listings, and the fields that each joins. */
const listed = [
  ["#Row", "row"],
  ["@Car", "year make model trim drivetrain"],
  ["@VIN", "vin"],
  ["Type", "inventory_type"],
  ["#Price", "price"],
  ["#Miles", "miles"],
  ["Body", "body_type"],
  ["Color", "exterior_color"],
  ["Stock", "stock_number"],
  ["#Photos", "photos"],
  ["Dealer", "dealer_name dealer_city dealer_state"],
  ["Page", "vdp_url"],
] as const;
const listingColumns = listed.map(([name]) => name);

const listingCells = (row: Row): readonly string[] =>
  listed.map(([, fields]) => {
    const values = fields.split(" ").flatMap((field) => row[field] ?? []);
    if (fields === "price" && typeof row.price === "number") return dollars(row.price);
    return text(values.join(" "));
  });
