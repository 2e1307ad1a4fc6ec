/** The page that asks before something of an account ends. */
import type { ComponentChildren } from "preact";
import type { PageContent } from "../shell/document.tsx";
import { Confirmation } from "../shell/forms.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface Ending {
  readonly visitor: Visitor;
  readonly action: string;
  readonly button: string;
  readonly keepPath: string;
}

/** Returns the page; `children` say what ends, and how. */
export const askingPage = (title: string, ending: Ending, children: ComponentChildren): PageContent => ({
  title,
  door: "account",
  top: <Verdict kicker={<Kicker above={[["/account", "Account"]]} />} judgement={{ sentence: [`${title}?`] }} />,
  body: <Confirmation {...ending}>{children}</Confirmation>,
});
