/** What `carquet map` and the page "New feed" share: reads a file, proposes its mapping with a person's choices, and tries it on all rows. */
import { integerIn, type Json, type Row, textIn } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { any, sql } from "../../db/sql.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import type { ReadSettings } from "../feed/file-formats.ts";
import { soldColumns } from "../feed/read-files.ts";
import type { Mapping } from "../mapping/rules.ts";
import { loadReferenceTables } from "../normalize/vocabularies.ts";
import { readChoices } from "./choices.ts";
import { aliases } from "./match-columns.ts";
import { type ColumnPlan, expectedFields, proposeMapping, requireForeign, shareText } from "./propose.ts";
import { sampleFile, samplesOf, tryMapping } from "./sample.ts";

/** What a person says about a file. */
export interface MapRequest {
  /** Fields, values and the unit, as `readChoices` reads them. */
  readonly set: readonly string[];
  /** The path of the records of a document. */
  readonly records: string | undefined;
  /** Whether what is only suggested is used. */
  readonly isAccepting: boolean;
  /** ISO 4217 code of the currency of prices. */
  readonly currency: string;
}

interface MapSettings extends ReadSettings {
  readonly scratch: string;
  readonly day: string;
}

export type MappedFile = Awaited<ReturnType<typeof mapFile>>;
export type TriedMapping = Awaited<ReturnType<typeof triedMapping>>;

/** Proposes the mapping of a file and tries it. Throws a UserError if the file needs none, is invalid, or a choice is. */
export async function mapFile(
  session: Session,
  file: FeedFile,
  { set, records, isAccepting, currency }: MapRequest,
  settings: MapSettings,
) {
  await loadReferenceTables(session);
  const sample = await sampleFile(session, file, { ...settings, ...(records && { records }) });
  await requireForeign(session, sample);
  const { name, columns, hasHeader, preset } = sample;
  const choices = { ...(await readChoices(session, set, columns)), currency };
  const proposal = await proposeMapping(session, sample, { choices, isAccepting });
  const start =
    preset === undefined ? "no preset has these" : `recognized as ${preset.name}, from which the mapping starts`;
  const summary = `${columns.length} columns${hasHeader ? "" : " without a header"}; ${start}.`;
  const tried = await triedMapping(session, file, proposal, { ...settings, currency });
  const { filled, rows, refused } = tried.trial;
  const usable = rows - refused;
  const few = expectedFields.filter((field) => (filled.get(field) ?? usable) < usable / 2);
  const shares = few.map((field) => `${field} (${shareText((filled.get(field) ?? 0) / usable)})`);
  const notes = few.length === 0 ? [] : [`few rows have: ${shares.join(", ")}; --set fills one in the others`];
  const gone = soldColumns(columns) === undefined ? await goneCars(session) : [];
  return { ...proposal, ...tried, name, summary, notes: [...proposal.notes, ...notes, ...gone] };
}

/** Returns a note for each column by which some rows are of cars that are not for sale. */
async function goneCars(session: Session): Promise<readonly string[]> {
  const tests = aliases.gone.map(
    ({ of, text }) => sql`(regexp_matches("column", ${of}) AND regexp_full_match("text", ${text}))`,
  );
  const rows = await session.rows(sql`
    SELECT "column", min("text") AS "text", count(*)::INTEGER AS n FROM cells WHERE ${any(tests)} GROUP BY "column" ORDER BY "column"`);
  const named = (row: Row, column: string): string => `"${printable(textIn(row, column), 40)}"`;
  return rows.map(
    (row) =>
      `${named(row, "column")} has ${named(row, "text")} (${integerIn(row, "n")} rows): expected cars for sale, not sold ones; the filter of a mapping leaves rows out`,
  );
}

/** Tries a mapping on all rows of the file that is sampled. Returns how much of each column is usable, with values before and after. */
export async function triedMapping(
  session: Session,
  file: FeedFile,
  { mapping, plans }: { readonly mapping: Mapping; readonly plans: readonly ColumnPlan[] },
  { day, ...settings }: MapSettings,
) {
  const trial = await tryMapping(session, { file, mapping, day }, settings);
  const fieldOf = new Map(plans.map(({ column, fields: [field = ""] }) => [column, field]));
  const samples = await samplesOf(session, trial, fieldOf);
  const columns = plans.map((plan) => {
    const share = trial.usable.get(plan.fields[0] ?? "") ?? plan.usable;
    const shown = (samples.get(plan.column) ?? []).map(([before, after]) =>
      after === null ? cut(before) : `${cut(before)} → ${cut(textOf(after))}`,
    );
    return { ...plan, share: share === undefined ? "" : shareText(share), samples: shown.join("; ") };
  });
  return { trial, columns };
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Shortens a text for a table. */
export const cut = (text: string): string => printable(text, 30);
