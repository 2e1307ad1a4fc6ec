/** The frame of the operators' pages, which only operators see: the verdict, and the chips that lead to the others. */
import type Router from "@koa/router";
import type { ComponentChildren, JSX } from "preact";
import { refuse } from "../../contract/errors.ts";
import type { RequestContext, RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signInPage } from "../account/sign-in/sign-in-page.tsx";
import { Chips } from "../components/chips.tsx";
import { DataTable, type Sorting, type TableColumn } from "../components/table.tsx";
import type { Judgement } from "../sentences/sentence.ts";
import type { PageContent } from "../shell/document.tsx";
import { count } from "../shell/format.ts";
import { formBytesMax, type VisitorForm, visitorForm } from "../shell/forms.tsx";
import { type PageHandler, type PageVisit, type Redirect, signedInPage } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import { type Visitor, visitorOf } from "../shell/visitor.ts";

export const operatePath = "/operate";

/** The pages with a chip. Open access has no money, so that it lacks some. */
const pages = [
  { path: operatePath, text: "This morning" },
  { path: "/operate/revenue", text: "Revenue", isOfMoney: true },
  { path: "/operate/accounts", text: "Accounts", isOfMoney: true },
  { path: "/operate/service", text: "Service" },
  { path: "/operate/log", text: "Log" },
] as const;

interface OperatePage {
  /** The page whose chip is marked. */
  readonly path: (typeof pages)[number]["path"];
  readonly title: string;
  readonly judgement: Judgement;
  /** What the kicker says after `Operate`; by default, the title. */
  readonly here?: ComponentChildren;
  /** The whole kicker, in place of links to the pages above. */
  readonly kicker?: ComponentChildren;
  readonly visitor: Visitor;
  readonly children: ComponentChildren;
}

export const operatePage = ({ path, title, judgement, here = title, visitor, ...page }: OperatePage): PageContent => ({
  title,
  door: "operate",
  top: (
    <Verdict kicker={page.kicker ?? <Kicker above={[[operatePath, "Operate"]]} here={here} />} judgement={judgement} />
  ),
  body: (
    <>
      <Chips
        label="Operate"
        chips={pages
          .filter((one) => !("isOfMoney" in one) || !visitor.isOpen)
          .map((one) => ({ path: one.path, text: one.text, ...(one.path === path ? { state: "current" } : {}) }))}
      />
      {page.children}
    </>
  ),
});

/** A column that sorts by a value of its rows. */
export interface SortedColumn<Row> extends TableColumn<Row> {
  readonly by?: (row: Row) => string | number;
}

/** Returns a column of texts that sorts. */
export const textColumn = <Row,>(
  title: string,
  sort: string,
  by: (row: Row) => string,
  cell: (row: Row) => ComponentChildren = by,
): SortedColumn<Row> => ({ title, sort, by, cell });

/** Returns a column of numbers that sorts. */
export const numberColumn = <Row,>(
  title: string,
  sort: string,
  by: (row: Row) => number,
  cell: (row: Row) => ComponentChildren = (row) => count(by(row)),
): SortedColumn<Row> => ({ title, sort, by, cell, isNumber: true });

interface SortedTableProps<Row> {
  /** Distinguishes the tables of a page in its address. */
  readonly id: string;
  readonly label: string;
  readonly columns: readonly SortedColumn<Row>[];
  readonly rows: readonly Row[];
  readonly path: string;
  readonly query: URLSearchParams;
  /** How the rows are sorted that the page has: the `sort` of a column, after `-` if it descends. */
  readonly first: string;
  readonly isMine?: (row: Row) => boolean;
  readonly empty?: string;
}

/** A table whose headings sort it by the address of the page: `sort=silent.-vins`. */
export function SortedTable<Row>({
  id,
  columns,
  rows,
  path,
  query,
  first,
  ...table
}: SortedTableProps<Row>): JSX.Element {
  const [sorted, chosen] = (query.get("sort") ?? "").split(".");
  const current = sorted === id && chosen !== undefined ? chosen : first;
  const sorting: Sorting = {
    current,
    pathOf: (sort) => {
      const changed = new URLSearchParams(query);
      changed.set("sort", `${id}.${sort}`);
      return `${path}?${changed}#${id}`;
    },
  };
  const by = columns.find(({ sort }) => sort === current.replace(/^-/, ""))?.by;
  const sign = current.startsWith("-") ? -1 : 1;
  const ordered = by === undefined || current === first ? rows : [...rows].sort((a, b) => sign * compare(by(a), by(b)));
  return <DataTable {...table} columns={columns} rows={ordered} sorting={sorting} />;
}

const compare = (one: string | number, other: string | number): number =>
  typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));

const isOperator = (visitor: Visitor | undefined): boolean => visitor?.identity.cached.account.isOperator === true;

type Visit = Pick<PageVisit, "visitor" | "context">;

/** For all other accounts, the operators' pages do not exist. */
function requireOperator({ visitor, context }: Visit): void {
  if (!isOperator(visitor)) throw refuse("not_found", { what: "resource", id: context.path });
}

const forOperators =
  <One extends Visit, Result>(handle: (visit: One) => Promise<Result>) =>
  async (visit: One): Promise<Result> => {
    requireOperator(visit);
    return handle(visit);
  };

/** Returns the operator that a download is for; undefined if its browser is not signed in. */
export async function operatorOf(context: RequestContext, services: SiteServices): Promise<Visitor | undefined> {
  const visitor = await visitorOf(context, services, "download");
  if (visitor !== undefined) requireOperator({ visitor, context });
  return visitor;
}

export const addOperatePage = (
  router: Router<RequestState>,
  services: SiteServices,
  [path, handle]: readonly [path: string, handle: PageHandler],
): void => void router.get(path, signedInPage(services, signInPage, forOperators(handle)));

export const addOperateForm = (
  router: Router<RequestState>,
  services: SiteServices,
  [path, handle]: readonly [path: string, handle: (form: VisitorForm) => Promise<PageContent | Redirect>],
  bytesMax = formBytesMax,
): void =>
  void router.post(
    path,
    visitorForm(services, forOperators(handle), (visitor) => (isOperator(visitor) ? bytesMax : formBytesMax)),
  );
