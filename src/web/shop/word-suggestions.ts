/** Suggestions while a question is typed: what its last words begin to name, to replace them. */
import { wordsOf } from "../../db/text-matching.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { introduced } from "../../query/suggest/stock-numbers.ts";
import { PageRequests } from "../shell/page-requests.ts";
import { visitorOf } from "../shell/visitor.ts";

/** How many last words can be one name, and how many suggestions are shown. */
const wordsMax = 3;
const suggestionsMax = 8;

/** Answers with a JSON array of completed questions, empty if nothing is suggested or the API refuses. */
export const wordSuggestions =
  (services: SiteServices): Middleware =>
  async (context) => {
    const visitor = await visitorOf(context, services);
    context.set("Cache-Control", "private, max-age=60");
    context.body = [];
    if (visitor === undefined) return;
    const requests = new PageRequests(services.callOperation, context, visitor);
    const question = new URLSearchParams(context.querystring).get("q") ?? "";
    context.body = (await requests.loadPart("suggestions", () => completed(requests, question))) ?? [];
  };

/** Returns the question with its last words replaced by what they begin to name: as many words as name something. */
async function completed(requests: PageRequests, question: string): Promise<readonly string[]> {
  const starts = [...question.matchAll(/\S+/g)].map(({ index }) => index).slice(-wordsMax);
  for (const start of starts) {
    const head = question.slice(0, start);
    const q = question.slice(start);
    const last = wordsOf(q).at(-1);
    if (last === undefined) continue;
    const { data } = await requests.call("suggestFilters", {
      q: q.slice(0, 100),
      limit: String(suggestionsMax),
    });
    // A name that only resembles several words is no completion.
    const begun = data.filter(
      ({ text }) => start === starts.at(-1) || wordsOf(text).some((word) => word.startsWith(last)),
    );
    if (begun.length > 0)
      return begun.map(({ text, attribute, value }) => {
        if (attribute === "stock_number") return `${introduced(head)}${value}`;
        const name = attribute === "postal_code" ? value : text;
        return `${head}${name.replaceAll("_", " ")}`;
      });
  }
  return [];
}
