/** The frame of the operators' pages: the verdict, and the chips that lead to the others; and links between them. */
import type { ComponentChildren, JSX } from "preact";
import { Chips } from "../components/chips.tsx";
import type { Judgement } from "../sentences/sentence.ts";
import type { PageContent } from "../shell/document.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";

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
  /** What the kicker says last; by default, the title. */
  readonly here?: ComponentChildren;
  /** The whole kicker, in place of a link to `Operate`. */
  readonly kicker?: string;
  readonly visitor: Visitor;
  readonly children: ComponentChildren;
}

export const operatePage = ({ path, title, judgement, visitor, children, ...page }: OperatePage): PageContent => ({
  title,
  door: "operate",
  top: (
    <Verdict
      kicker={page.kicker ?? <Kicker above={[[operatePath, "Operate"]]} here={page.here ?? title} />}
      judgement={judgement}
    />
  ),
  body: (
    <>
      <Chips
        label="Operate"
        chips={pages
          .filter((one) => !("isOfMoney" in one) || !visitor.isOpen)
          .map((one) => ({ path: one.path, text: one.text, ...(one.path === path ? { state: "current" } : {}) }))}
      />
      {children}
    </>
  ),
});

/** Returns the address of a dealer's feed of a day. */
export const feedPath = (dealer: string, day: string): string =>
  `/operate/days/${day}?${new URLSearchParams({ dealer })}`;

export const FeedLink = ({ id, day, name }: { readonly id: string; readonly day: string; readonly name: string }) => (
  <a href={feedPath(id, day)}>{name}</a>
);

export const AccountLink = ({ id, text }: Readonly<Record<"id" | "text", string | null>>): JSX.Element | null =>
  id === null ? null : <a href={`/operate/accounts/${id}#account`}>{text}</a>;
