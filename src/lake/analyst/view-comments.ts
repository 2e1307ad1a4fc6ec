/**
 * Comments of views and their columns: the descriptions of the document's fields, and `schemas/views.json` for what only views have. The catalog
 * stores them, and `DESCRIBE` shows them.
 */
import { isObject, ownValue } from "../../base/json.ts";
import { projectText } from "../../base/project-files.ts";
import { resolve } from "../../contract/document.ts";
import { ident, literal, plainIdent, type Sql, sql } from "../../db/sql.ts";
import { withoutLeadingComments } from "./statements.ts";

type Texts = Readonly<Record<string, string>>;

interface ViewTexts {
  readonly views: Readonly<Record<string, { readonly description: string; readonly columns?: Texts }>>;
  readonly macros: Texts;
  /** Of columns, in any view. */
  readonly columns: Texts;
}

const texts: ViewTexts = JSON.parse(projectText("schemas/views.json"));

/** The schemas of the document whose properties are columns of a view; the first one that has a column describes it. */
const schemasOfViews: Readonly<Record<string, string>> = {
  builds: "Build",
  dealers: "DealerDetail",
  options: "Option",
  price_changes: "PriceHistoryItem",
};

/** Sentences of the document about requests and answers. */
const aboutRequests = / (?:An extension|Present if requested in [^.]*)\./g;

/** Returns the descriptions of the columns that a view can have. */
function columnTexts(view: string): Texts {
  const own = ownValue(schemasOfViews, view);
  const names = ["DealerDetail", "ExportedColumns", "ListingSummary", ...(own === undefined ? [] : [own])];
  const described = names.flatMap((name) => {
    const { properties } = resolve<{ readonly properties: object }>({ $ref: `#/components/schemas/${name}` });
    return Object.entries(properties).flatMap(([column, property]): [string, string][] =>
      isObject(property) && typeof property.description === "string"
        ? [[column, property.description.replaceAll(aboutRequests, "").replaceAll(/\s+/g, " ").trim()]]
        : [],
    );
  });
  return { ...Object.fromEntries(described), ...texts.columns, ...ownValue(texts.views, view)?.columns };
}

/** The statements that comment the macros. */
export const commentsOnMacros: readonly Sql[] = Object.entries(texts.macros).map(
  ([name, text]) => sql`COMMENT ON MACRO TABLE ${plainIdent(name)} IS ${literal(text)}`,
);

/** Returns the statements that comment views with their columns. */
export function commentsOnViews(columns: readonly (readonly [view: string, column: string])[]): readonly Sql[] {
  const views = [...new Set(columns.map(([view]) => view))];
  return views.flatMap((view) => {
    const described = columnTexts(view);
    const ofColumns = columns.flatMap(([one, column]) => {
      const text = one === view ? ownValue(described, column) : undefined;
      return text === undefined ? [] : [sql`COMMENT ON COLUMN ${ident(view, column)} IS ${literal(text)}`];
    });
    const { description = "" } = ownValue(texts.views, view) ?? {};
    return [sql`COMMENT ON VIEW ${ident(view)} IS ${literal(description)}`, ...ofColumns];
  });
}

/** Returns a statement that describes a view with a column `comment` of its columns' comments; all others unchanged. */
export function withComments(text: string): string {
  const [, view = ""] = /^desc(?:ribe)?\s+"?(\w+)"?\s*$/i.exec(withoutLeadingComments(text)) ?? [];
  if (ownValue(texts.views, view.toLowerCase()) === undefined) return text;
  const pairs = Object.entries(columnTexts(view.toLowerCase()));
  const comments = pairs.map(([name, comment]) => `${literal(name).text}: ${literal(comment).text}`).join();
  return `SELECT *, (MAP {${comments}})[column_name] AS comment FROM (${text}\n)`;
}
