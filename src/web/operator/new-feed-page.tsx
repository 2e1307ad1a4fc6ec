/** The page "New feed": an operator uploads a file, sees what `carquet map` makes of it, chooses, and saves the mapping of a source. */
import type { JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import type { Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { describeIssue } from "../../ingest/delivery-report.ts";
import { chosenFields } from "../../ingest/proposal/choices.ts";
import type { MappedColumn, MappedFile } from "../../ingest/proposal/map-file.ts";
import { saveMapping } from "../../sources/save-mapping.ts";
import { readSources } from "../../sources/sources-file.ts";
import { Block, Code, DataTable, Notice } from "../shell/blocks.tsx";
import type { PageContent } from "../shell/document.tsx";
import { count, dollars, text } from "../shell/format.ts";
import { Field, Form, Select, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { FeedDrafts } from "./feed-drafts.ts";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator/feeds";
const title = "New feed";

/** Fields that are the same in many files. */
const constants =
  "inventory_type make dealer.name dealer.line1 dealer.city dealer.state dealer.postal_code dealer.phone dealer.website".split(
    " ",
  );

export const uploadPage: PageHandler = async ({ visitor, query }) =>
  operatorPage(
    path,
    title,
    <>
      <Notice text={query.has("saved") ? "The mapping is saved. The next fetch uses it." : undefined} />
      <section class="sheet pad" aria-label="File">
        <Form visitor={visitor} action={path} class="stack" hasFile>
          <Field label="File of a dealer or provider: choose it, or drop it here" type="file" name="file" required />
          <button type="submit" class="btn">
            Map the file
          </button>
        </Form>
      </section>
    </>,
  );

/** The handlers of a file's pages. */
export function draftHandlers(services: SiteServices) {
  const drafts = new FeedDrafts();
  const { administration } = services.accounts;
  const map = (id: string, fields: URLSearchParams): Promise<MappedFile> =>
    drafts.map(id, requestOf(fields), dayOf(administration.nowMs));
  const pageOf = async (visitor: Visitor, id: string, fields: URLSearchParams): Promise<PageContent> => {
    const { sources } = services;
    const names = sources === undefined ? [] : (await readSources(sources)).sources.map(({ name }) => name);
    const heading = `${title}: ${drafts.nameOf(id)}`;
    try {
      const mapped = await map(id, fields);
      return operatorPage(
        path,
        heading,
        <Draft visitor={visitor} id={id} fields={fields} mapped={mapped} names={names} />,
      );
    } catch (thrown) {
      if (!(thrown instanceof UserError)) throw thrown;
      return {
        ...operatorPage(path, heading, <Failure visitor={visitor} id={id} fields={fields} reason={thrown.message} />),
        status: 422,
      };
    }
  };
  return {
    async upload({ file }: VisitorForm) {
      if (file === undefined || file.size === 0) throw new UserError("No file: expected one with rows.");
      return { location: `${path}/${await drafts.add(file.name, new Uint8Array(await file.arrayBuffer()))}` };
    },
    show: async ({ visitor, params: { draft = "" } }: PageVisit) => pageOf(visitor, draft, new URLSearchParams()),
    async submit({ visitor, fields, params: { draft = "" } }: VisitorForm) {
      if (fields.get("action") !== "save" || services.sources === undefined) return pageOf(visitor, draft, fields);
      const source = fields.get("source") ?? "";
      const { content } = await map(draft, fields);
      const saved = await saveMapping(services.sources, source, content);
      await administration.change(visitor.identity.key.accountId, "map", { source, path: saved });
      await drafts.remove(draft);
      return { location: `${path}?saved` };
    },
  };
}

/** Returns what the fields of the form choose. An empty one leaves the proposal. */
function requestOf(fields: URLSearchParams) {
  const chosen = [...fields].filter(([, value]) => value.trim() !== "");
  const set = chosen.flatMap(([name, value]) => {
    if (name === "vin") return [`vin={${value}}`];
    const [, kind, item = ""] = /^(column|set):(.*)$/s.exec(name) ?? [];
    return kind === undefined ? [] : [kind === "set" ? `${item}=${value}` : `${value}={${item}}`];
  });
  return { set, records: fields.get("records")?.trim() || undefined, isAccepting: fields.get("accept") === "on" };
}

interface ChoiceProps {
  readonly visitor: Visitor;
  readonly id: string;
  readonly fields: URLSearchParams;
}

interface FailureProps extends ChoiceProps {
  readonly reason: string;
}

/** Why a file cannot be mapped as chosen, and the choices that can help. */
const Failure = ({ visitor, id, fields, reason }: FailureProps): JSX.Element => (
  <section class="sheet pad" aria-label="Not mapped">
    <p role="alert">{reason}</p>
    <Form visitor={visitor} action={`${path}/${id}`} class="inline">
      <Field label="Column of the VIN" name="vin" value={fields.get("vin") ?? ""} />
      <Field label="Path of the records" name="records" value={fields.get("records") ?? ""} />
      <button type="submit" class="btn">
        Try
      </button>
      <a href={path}>Another file</a>
    </Form>
  </section>
);

interface DraftProps extends ChoiceProps {
  readonly mapped: MappedFile;
  /** The names of the sources. */
  readonly names: readonly string[];
}

const Draft = ({ visitor, id, fields, mapped, names }: DraftProps): JSX.Element => {
  const { trial, columns, notes, content } = mapped;
  const { rows, refused, dealers, issues, remarks, listings } = trial;
  return (
    <>
      <p>
        {mapped.summary} {count(rows)} rows: {count(rows - refused)} usable, {count(refused)} refused; {count(dealers)}{" "}
        dealers. <a href={path}>Another file</a>
      </p>
      {notes.length === 0 ? null : (
        <ul class="bullets note warn">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <Form visitor={visitor} action={`${path}/${id}`} class="stack">
        <Block id="columns" title="Columns">
          <DataTable
            label="Columns"
            columns={["Column", "Field", "State", "Why", "#Usable", "Values before → after"]}
            rows={columns.map((column) => [
              column.column,
              <ColumnChoice key={column.column} column={column} value={fields.get(`column:${column.column}`) ?? ""} />,
              column.state,
              column.why,
              column.share,
              column.samples,
            ])}
          />
        </Block>
        {fields.get("vin") && <input type="hidden" name="vin" value={fields.get("vin") ?? ""} />}
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
              <input type="checkbox" name="accept" checked={fields.get("accept") === "on"} /> Use what only values
              suggest
            </label>
          </div>
        </Block>
        <div class="inline">
          <button type="submit" class="btn" name="action" value="try">
            Try
          </button>
          {names.length === 0 ? (
            <span class="muted">carquet run saves the mapping of a source; here, copy it.</span>
          ) : (
            <>
              <Select
                label="Source"
                name="source"
                value={fields.get("source") ?? ""}
                options={names.map((name) => [name, name])}
              />
              <button type="submit" class="btn" name="action" value="save">
                Save as its mapping
              </button>
            </>
          )}
        </div>
      </Form>
      <Block id="issues" title="What would be refused or unknown">
        {issues.length + remarks.length === 0 ? <p class="muted">Nothing.</p> : null}
        <ul class="bullets">
          {[...issues.map(describeIssue), ...remarks].map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Block>
      <Block id="listings" title="The first cars as listings">
        <DataTable label="Listings" columns={listingColumns} rows={listings.map(listingCells)} />
      </Block>
      <Code label="Mapping" text={JSON.stringify(content, undefined, 2)} />
    </>
  );
};

interface ColumnChoiceProps {
  readonly column: MappedColumn;
  readonly value: string;
}

const ColumnChoice = ({ column: { column, fields, state }, value }: ColumnChoiceProps): JSX.Element => {
  const proposed =
    value !== "" ? "as proposed" : state === "suggested" ? `not used; ${fields.join(", ")}?` : fields.join(", ");
  return (
    <select name={`column:${column}`} aria-label={`Field of ${column}`}>
      <option value="">{proposed || "not used"}</option>
      {["none", ...chosenFields].map((field) => (
        <option key={field} value={field} selected={field === value}>
          {field === "none" ? "not used" : field}
        </option>
      ))}
    </select>
  );
};

const listingColumns = "#Row,Car,@VIN,Type,#Price,#Miles,Body,Color,Stock,#Photos,Dealer,Page".split(",");

function listingCells(row: Row): readonly string[] {
  const joined = (fields: string, separator: string): string =>
    fields
      .split(" ")
      .flatMap((field) => row[field] ?? [])
      .join(separator);
  const { price } = row;
  return [
    joined("row", ""),
    joined("year make model trim drivetrain", " "),
    joined("vin", ""),
    text(joined("inventory_type", "")),
    dollars(typeof price === "number" ? price : null),
    ...["miles", "body_type", "exterior_color", "stock_number", "photos"].map((field) => text(joined(field, ""))),
    joined("dealer_name dealer_city dealer_state", ", "),
    text(joined("vdp_url", "")),
  ];
}
