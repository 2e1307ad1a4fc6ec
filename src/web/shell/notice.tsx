/** A notice: a page that is one message, such as a missing page, a used-up credit or a welcome. A car stands on the road above it. */
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import type { Judgement } from "../sentences/sentence.ts";
import type { PageContent } from "./document.tsx";
import { Words } from "./verdict.tsx";

/** The address and the words of a way out of a notice; the first one is the main one. */
export type Way = readonly [path: string, text: string];

interface NoticeOptions extends Judgement {
  readonly ways?: readonly Way[];
  /** The car on the road. */
  readonly car?: keyof typeof cars;
  /** A column of a form is narrow. */
  readonly isNarrow?: boolean;
  /** What follows its sentence and context, before the ways. */
  readonly children?: ComponentChildren;
  readonly more?: ComponentChildren;
}

/** The cars of the notices: each state has its own. */
const cars = {
  offroad: { model: "Wrangler", exterior_color: "mango tango", base_exterior_color: "Orange" },
  wagon: { model: "Outback" },
  hatch: { model: "Golf", exterior_color: "teal", base_exterior_color: "Blue" },
} as const;

/** Returns the top and the body of a notice. */
export const notice = ({ sentence, context, ways = [], car = "wagon", isNarrow, children, more }: NoticeOptions) => ({
  top: (
    <div class="road">
      <CarDrawing car={{ ...cars[car], vin: "sign" }} />
    </div>
  ),
  body: (
    <section class={isNarrow === true ? "narrow" : "msg"}>
      <h1>
        <Words sentence={sentence} />
      </h1>
      {context === undefined ? null : (
        <p>
          <Words sentence={context} />
        </p>
      )}
      {children}
      {more}
      {ways.length === 0 ? null : (
        <p class="line">
          {ways.map(([path, text], index) => (
            <Button key={path} href={path} look={index === 0 ? "main" : undefined}>
              {text}
            </Button>
          ))}
        </p>
      )}
    </section>
  ),
});

/** Returns a page of a message and the next step. */
export const noticePage = (title: string, message: string, ...ways: readonly Way[]): PageContent => ({
  title,
  ...notice({ sentence: [title], context: [message], ways }),
});

/** Returns a page of one form below a car on the road; its heading is its title by default. */
export const narrowPage = (
  {
    title,
    heading = title,
    status = 200,
  }: { readonly title: string; readonly heading?: string; readonly status?: number },
  children: ComponentChildren,
): PageContent => ({ title, status, ...notice({ sentence: [heading], car: "hatch", isNarrow: true, children }) });
