/** The page "New feed": an operator uploads a file, sees what `carquet map` makes of it, chooses, and saves the mapping of a source. */
import type { ComponentChildren, JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import { ownValue, type Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { clientSignal } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { describeIssue } from "../../ingest/delivery-report.ts";
import { chosenFields } from "../../ingest/proposal/choices.ts";
import type { MappedFile, MapRequest } from "../../ingest/proposal/map-file.ts";
import { defaultCurrency } from "../../lake/manifest.ts";
import { Button } from "../components/button.tsx";
import { CodeBox } from "../components/code-box.tsx";
import { Field, Select } from "../components/field.tsx";
import { Note, Sheet } from "../components/sheet.tsx";
import type { TableColumn } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import type { PageContent } from "../shell/document.tsx";
import { amountOf, count } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { addDraft, mapDraft, removeDraft } from "./feed-drafts.ts";
import { operatePage } from "./operate-page.tsx";

const path = "/operate/feeds";

/** The frame of the page: it is reached from the sources of the service. */
const feedPage = (visitor: Visitor, title: string, context: string, children: ComponentChildren): PageContent =>
  operatePage({
    path: "/operate/service",
    title,
    here: "New feed",
    visitor,
    judgement: { sentence: [`${title}.`], context: [context] },
    children,
  });

export const uploadPage: PageHandler = async ({ visitor }) =>
  feedPage(
    visitor,
    "Map a new feed",
    "Upload a sample. You see what its columns mean and what its cars become, and correct it before anything is kept.",
    <Sheet title="A sample">
      <Form visitor={visitor} action={path} class="stack upload" hasFile>
        <Field label="File of a dealer or provider: choose it, or drop it here" type="file" name="file" required />
        <Field label="Path of the records in XML or JSON, if they are not found" name="records" />
        <div>
          <Button look="main">Map the file</Button>
        </div>
      </Form>
    </Sheet>,
  );

/** Maps an uploaded file, or one of before with other choices, or saves its mapping. */
export const mapByForm =
  ({ sourceMappings, current, accounts: { administration } }: SiteServices) =>
  async ({ context, visitor, fields, file }: VisitorForm) => {
    if (file?.size === 0) throw new UserError("No file: expected one with rows.");
    const currency =
      current.version === undefined ? defaultCurrency : await current.use(async ({ manifest }) => manifest.currency);
    const { accountId } = visitor.identity.key;
    const id = file === undefined ? (fields.get("draft") ?? "") : await addDraft(accountId, file);
    const request = { ...requestOf(fields), currency };
    const day = dayOf(administration.nowMs);
    const mapped = await mapDraft(id, { accountId, request, day, signal: clientSignal(context) });
    const source = fields.get("source");
    if (sourceMappings !== undefined && source !== null && fields.get("action") === "save") {
      const saved = await sourceMappings.save(source, mapped.content);
      await administration.record(accountId, "map", `${source} ${saved}`);
      await removeDraft(id);
      return feedPage(
        visitor,
        `The mapping of ${source} is saved`,
        "The next fetch uses it.",
        <a href={path}>Map another file</a>,
      );
    }
    const names = (await sourceMappings?.names()) ?? [];
    return feedPage(
      visitor,
      `New feed: ${mapped.name}`,
      verdictOf(mapped),
      <Draft visitor={visitor} id={id} fields={fields} mapped={mapped} names={names} />,
    );
  };

const verdictOf = ({ summary, trial: { rows, refused, dealers } }: MappedFile): string =>
  `${summary} ${amountOf(rows, "row")}: ${count(rows - refused)} usable, ${count(refused)} refused; ${amountOf(dealers, "dealer")}.`;

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
  const { notes, content, columns } = mapped;
  const { issues, remarks, listings } = mapped.trial;
  return (
    <>
      {notes.length === 0 ? null : (
        <Note>
          <Lines lines={notes.map((note) => note.replace(/; --set .*$/, "."))} />
        </Note>
      )}
      <Form visitor={visitor} action={path} class="stack" hidden={{ draft: id }}>
        <TableSheet
          id="columns"
          title="Columns"
          end={<a href={path}>Another file</a>}
          rows={columns}
          columns={[
            { title: "Column", value: ({ column }) => column },
            {
              title: "Field",
              cell: (column) => <ColumnChoice column={column} value={fields.get(`column:${column.column}`) ?? ""} />,
            },
            { title: "State", value: ({ state }) => state },
            { title: "Why", value: ({ why }) => why },
            { title: "Usable", value: ({ share }) => share },
            { title: "Values before → after", value: ({ samples }) => samples },
          ]}
        />
        <Constants fields={fields} />
        <div class="line">
          <Button look="main" name="action" value="try">
            Try
          </Button>
          {names.length === 0 ? (
            <span class="mute">A service of carquet run saves the mapping of a source. Here, copy it.</span>
          ) : (
            <>
              <Select
                label="Source"
                name="source"
                options={names.map((name) => [name, name])}
                value={fields.get("source") ?? undefined}
              />
              <Button name="action" value="save">
                Save as its mapping
              </Button>
            </>
          )}
        </div>
      </Form>
      <Sheet id="issues" title="What would be refused or unknown">
        <Lines lines={[...issues.map(describeIssue), ...remarks]} />
      </Sheet>
      <TableSheet id="listings" title="The first cars as listings" rows={listings} columns={columnsOf(listings)} />
      <CodeBox title="Mapping" language="json" code={JSON.stringify(content, undefined, 2)} />
    </>
  );
};

/** Returns a column for each field of listings. */
const columnsOf = ([first = {}]: readonly Row[]): readonly TableColumn<Row>[] =>
  Object.keys(first).map((field) => ({
    title: field.replaceAll("_", " "),
    value: (car) => String(ownValue(car, field) ?? ""),
  }));

const Lines = ({ lines }: { readonly lines: readonly string[] }): JSX.Element | null =>
  lines.length === 0 ? null : (
    <ul>
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
    <select class="in" name={`column:${column}`} aria-label={`Field of ${column}`}>
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
  <Sheet id="constants" title="The same in all rows">
    <div class="line">
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
  </Sheet>
);
