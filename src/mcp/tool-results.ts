/** Turns the answer of an operation into the result of a tool call: structured content and text, together within a limit. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Json } from "../base/json.ts";
import { type Refusal, refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import { type AnswerBody, compactText } from "./compact-text.ts";

/** The size of an answer, in characters of JSON. */
const answerCharactersMax = 40_000;

/** The charge of a call. */
export interface CallUsage {
  readonly request_id: string;
  readonly charged_micros: number;
  /** Null for an operation that is never charged. */
  readonly usage_class: string | null;
}

/** The key of `CallUsage` in the `_meta` of a result. */
const usageKey = "carquet/usage";

/** Returns the result of a call. An answer beyond `answerCharactersMax` has fewer items, and a note that says how to get the others. */
export function resultOfAnswer(id: OperationId, body: AnswerBody, usage: CallUsage | undefined): CallToolResult {
  const resultOf = (shown: AnswerBody): CallToolResult => ({
    content: [{ type: "text", text: compactText(id, shown) }],
    structuredContent: shown,
    ...(usage === undefined ? {} : { _meta: { [usageKey]: usage } }),
  });
  const fits = (shown: AnswerBody): boolean => JSON.stringify(resultOf(shown)).length < answerCharactersMax;
  return resultOf(fits(body) ? body : shortened(body, fits));
}

/** Returns the result of a refused call, with the message of the refusal. */
export const resultOfRefusal = ({ code, message }: Refusal): CallToolResult => ({
  content: [{ type: "text", text: `${code}: ${message}` }],
  isError: true,
});

/** Returns as much of an answer as fits: fewer items of `data`, at least one; then shorter lists within. */
function shortened(body: AnswerBody, fits: (shown: AnswerBody) => boolean): AnswerBody {
  const items = isList(body.data) ? body.data.length : 0;
  const fewer = items === 0 ? undefined : longest(items, (count) => withFewerItems(body, count), fits);
  if (fewer !== undefined && isList(fewer.data) && fewer.data.length > 0) return fewer;
  const first = items > 1 ? withFewerItems(body, 1) : body;
  const short = longest(longestListIn(first), (length) => withShorterLists(first, length), fits);
  if (short === undefined) throw refuse("incompatible_parameters", tooLarge);
  return short;
}

const tooLarge = {
  parameters: "The requested parts",
  reason: "the answer is too large for a tool; request fewer fields",
};

/** Returns the candidate of the greatest number, from 0 to `most`, that fits; undefined if none does. */
function longest(
  max: number,
  candidate: (count: number) => AnswerBody,
  fits: (shown: AnswerBody) => boolean,
): AnswerBody | undefined {
  let [min, greatest] = [-1, max];
  while (min < greatest) {
    const middle = Math.ceil((min + greatest) / 2);
    if (fits(candidate(middle))) min = middle;
    else greatest = middle - 1;
  }
  return min < 0 ? undefined : candidate(min);
}

const limitText = `to stay below ${answerCharactersMax} characters`;

function withFewerItems(body: AnswerBody, count: number): AnswerBody {
  const { data, pagination } = body;
  const items = isList(data) ? data : [];
  const fewer = { ...body, data: items.slice(0, count) };
  const shown = `Shortened to the first ${count} of ${items.length} items, ${limitText}.`;
  if (pagination === undefined) return { ...fewer, note: `${shown} Narrow the request to see the others.` };
  const next_offset = pagination.offset + count;
  const note = `${shown} Continue with offset=${next_offset}, or request fewer fields.`;
  return { ...fewer, pagination: { ...pagination, next_offset }, note };
}

/** Returns an answer whose lists, at any depth, have at most `length` entries. */
function withShorterLists(body: AnswerBody, length: number): AnswerBody {
  const advice = "Narrow the request: fewer facets, values, metrics or expansions, or a shorter period.";
  const note = [body.note, `Lists are shortened to their first ${length} entries, ${limitText}. ${advice}`];
  const members = Object.entries(body).map(([name, member]) => [name, shorten(member ?? null, length)] as const);
  return { ...body, ...Object.fromEntries(members), note: note.filter((part) => part !== undefined).join(" ") };
}

function shorten(value: Json, length: number): Json {
  if (isList(value)) return value.slice(0, length).map((item) => shorten(item, length));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member, length)]));
}

function longestListIn(value: Json | AnswerBody | undefined): number {
  if (typeof value !== "object" || value === null) return 0;
  const lengths = (isList(value) ? value : Object.values(value)).map((member) => longestListIn(member));
  return lengths.reduce((max, length) => Math.max(max, length), isList(value) ? value.length : 0);
}

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);
