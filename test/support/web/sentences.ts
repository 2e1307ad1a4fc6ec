/** Sentences of pages as text with their marks and links, for tables of cases. */
import assert from "node:assert/strict";
import type { Judgement, Sentence } from "../../../src/web/sentences/sentence.ts";

/** Returns a sentence with its marks, for example `[neutral:784 great prices] stand first.`; `<text>` is a link without a mark. */
export const marked = (sentence: Sentence | string | undefined): string =>
  (typeof sentence === "string" ? [sentence] : (sentence ?? ["-"]))
    .map((part) =>
      typeof part === "string" ? part : part.mark === undefined ? `<${part.text}>` : `[${part.mark}:${part.text}]`,
    )
    .join("")
    .replaceAll("\u00a0", " ");

/** Returns the lines of a judgement: its sentence, its context, and its facts as `value label`. */
export const linesOf = ({ sentence, context, facts = [] }: Judgement): readonly string[] => [
  marked(sentence),
  ...(context === undefined ? [] : [marked(context)]),
  ...facts.map(({ value, label }) => `${marked(value)} ${marked(label)}`),
];

/** Fails unless each input has its expected lines. */
export function assertSaid<Input>(
  say: (input: Input) => Judgement | Sentence | string | undefined,
  cases: readonly (readonly [input: Input, ...lines: readonly string[]])[],
): void {
  for (const [input, ...lines] of cases) {
    const said = say(input);
    const isJudgement = typeof said === "object" && "sentence" in said;
    assert.deepEqual(isJudgement ? linesOf(said) : [marked(said)], lines, JSON.stringify(input));
  }
}
