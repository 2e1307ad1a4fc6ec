/** Asks Solr, and makes bodies in the shape of the API of what it answers. */
import { isObject, type Row } from "../../../src/base/json.ts";
import {
  type AskedNumericFacet,
  askedCategoricalFacets,
  type Count,
  facetsBody,
  rangedBody,
  type Statistics,
  spanOf,
  statisticsFrom,
} from "../../questions/facets.ts";
import { at, type Facets, type LookUp, listAt, type Search, type Subject } from "../../questions/question.ts";
import { foundBy } from "../../questions/search.ts";
import type { HttpClient } from "../../servers/http.ts";
import type { Reply } from "../../servers/server.ts";
import {
  distinctParameters,
  facetParameters,
  fieldOf,
  formOf,
  lookUpParameters,
  type Mode,
  type Parameters,
  rangeParameters,
  searchParameters,
} from "./requests.ts";

type Send = (core: string, parameters: Parameters) => Promise<string>;

const sendBy =
  (client: HttpClient): Send =>
  (core, parameters) =>
    client.send(`/${core}/select`, { form: formOf(parameters) });

/** Asks a question; what is read of the answers is parsed when the reply's body is asked for, except what the next request needs. */
export function askSolr(subject: Subject, client: HttpClient, mode: Mode): Promise<Reply> {
  const send = sendBy(client);
  if (subject.kind === "search") return askSearch(subject, send, mode);
  return subject.kind === "lookUp" ? askLookUp(subject, send, mode) : askFacets(subject, send, mode);
}

async function askSearch(subject: Search, send: Send, mode: Mode): Promise<Reply> {
  const answer = await send(subject.from, searchParameters(subject, mode));
  return () => {
    const { response } = parsed(answer);
    return { data: listAt(response, "docs"), pagination: { total: Number(at(response, "numFound")) } };
  };
}

async function askLookUp(subject: LookUp, send: Send, mode: Mode): Promise<Reply> {
  const answer = await send("active", lookUpParameters(subject, mode));
  return () => foundBy(subject.by, at(parsed(answer).response, "docs", 0));
}

/** Two requests where ranges are asked for: their edges follow from the percentiles. */
async function askFacets(subject: Facets, send: Send, mode: Mode): Promise<Reply> {
  const { from, numeric } = subject;
  const answer = await send(from, facetParameters(subject, mode));
  if (numeric.length === 0) return () => facetsBody(totalIn(answer), subject, bucketsIn(answer, subject), {});
  const { facets } = parsed(answer);
  const found = numeric.map((of) => ({ of, statistics: statisticsIn(facets, of) }));
  const spans = found.map(({ of, statistics }) => ({ of, span: spanOf(statistics) }));
  const counted = await send(
    from,
    rangeParameters(
      subject,
      spans.filter(({ span }) => span.last >= span.first),
      mode,
    ),
  );
  return () => {
    const ranges = parsed(counted).facets;
    const ranged = found.map(({ of, statistics }) => ({ of, statistics, counts: countsIn(ranges, of, statistics) }));
    const total = totalIn(answer);
    return facetsBody(total, subject, bucketsIn(answer, subject), rangedBody(ranged, total));
  };
}

function parsed(answer: string): Readonly<Record<string, unknown>> {
  const body: unknown = JSON.parse(answer);
  return isObject(body) ? body : {};
}

const totalIn = (answer: string): number => Number(at(parsed(answer).response, "numFound"));

/** Rows of `facet`, `value` and `listings`: of the JSON Facet API with a metric, otherwise lists of value, count, value, count. */
function bucketsIn(answer: string, { categorical, metric }: Facets): readonly Row[] {
  const { facets, facet_counts: counts } = parsed(answer);
  return categorical.flatMap((facet): readonly Row[] => {
    if (metric !== undefined)
      return listAt(facets, facet, "buckets").map((bucket) => ({
        ...{ facet, value: String(at(bucket, "val")), listings: Number(at(bucket, "count")) },
        ...{ metric: numberOf(at(bucket, "metric")), sample: Number(at(bucket, "sample")) },
      }));
    const list = listAt(counts, "facet_fields", fieldOf(facet));
    return Array.from({ length: list.length / 2 }, (_, index) => ({
      ...{ facet, value: String(list[2 * index]), listings: Number(list[2 * index + 1]) },
    }));
  });
}

const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Percentiles come in one list, in the order of `percentShares`. */
const percentiles: Readonly<Partial<Record<keyof Statistics, number>>> = { p1: 0, median: 1, p99: 2 };

const statisticsIn = (facets: unknown, of: AskedNumericFacet): Statistics =>
  statisticsFrom((part) => {
    const index = percentiles[part];
    return numberOf(index === undefined ? at(facets, `${of}_${part}`) : at(facets, `${of}_percentiles`, index));
  });

function countsIn(ranges: unknown, of: AskedNumericFacet, statistics: Statistics): readonly Count[] {
  const { width, first, last } = spanOf(statistics);
  const regular = listAt(ranges, of, "buckets").map((bucket) => ({
    ...{ number: Math.round(Number(at(bucket, "val")) / width), listings: Number(at(bucket, "count")) },
  }));
  const outside = (where: string): number => Number(at(ranges, of, where, "count") ?? 0);
  return [
    { number: first - 1, listings: outside("before") },
    ...regular,
    { number: last + 1, listings: outside("after") },
  ];
}

/** A bitset for each value pays up to about as many values. */
const bitsetsMax = 1000;

/** The fields whose facets are counted by ordinals, given what a core holds. */
export async function fieldsByOrdinals(client: HttpClient): Promise<readonly string[]> {
  const fields = askedCategoricalFacets.map(fieldOf);
  const { facets } = parsed(await sendBy(client)("active", distinctParameters(fields)));
  return fields.filter((field) => Number(at(facets, field) ?? 0) > bitsetsMax);
}
