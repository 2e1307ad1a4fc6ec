/** A notice: a page that is one message, such as a missing page, a used-up credit or a welcome. A car stands on the road above it. */
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import type { Sentence } from "../sentences/sentence.ts";
import type { PageContent } from "./document.tsx";
import { Words } from "./verdict.tsx";

/** The address and the words of a way out of a notice; the first one is the main one. */
export type Way = readonly [path: string, text: string];

interface NoticeOptions {
  readonly sentence: Sentence;
  readonly ways: readonly Way[];
  /** Whether the ways are links, below a form with a button. */
  readonly isQuiet?: boolean;
  /** The car on the road. */
  readonly car?: keyof typeof cars;
  /** What the message says below its sentence. */
  readonly children: ComponentChildren;
  /** What follows the ways, such as steps or a box. */
  readonly more?: ComponentChildren;
}

/** The cars of the notices: each state has its own. */
const cars = {
  offroad: { model: "Wrangler", exterior_color: "copper", base_exterior_color: "Orange" },
  wagon: { model: "Outback", base_exterior_color: "Gray" },
  hatch: { model: "Golf", exterior_color: "teal", base_exterior_color: "Blue" },
} as const;

/** Returns the top and the body of a notice. */
export const notice = ({ sentence, ways, isQuiet = false, car = "wagon", children, more }: NoticeOptions) => ({
  top: (
    <div class="road">
      <CarDrawing car={{ ...cars[car], vin: "notice" }} />
    </div>
  ),
  body: (
    <section class="msg">
      <h1>
        <Words sentence={sentence} />
      </h1>
      {children}
      {more}
      <p class="line">
        {ways.map(([path, text], index) => (
          <Button key={path} href={path} look={isQuiet ? "quiet" : index === 0 ? "main" : undefined}>
            {text}
          </Button>
        ))}
      </p>
    </section>
  ),
});

/** Returns a page of a message and the next step. */
export const noticePage = (title: string, message: string, ...ways: readonly Way[]): PageContent => ({
  title,
  ...notice({ sentence: [title], ways, children: <p>{message}</p> }),
});
