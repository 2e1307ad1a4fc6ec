/** Hostile parameter values in URL form: quotes, comments, broken encodings, huge numbers. */
import { type Operation, operation } from "../../../src/contract/document.ts";
import type { OperationId } from "../../../src/contract/types.ts";
import type { Chance } from "../chance.ts";
import { encodeExample, requiredQuery } from "../examples.ts";

export interface HostileRequest {
  readonly parameter: string;
  readonly path: string;
}

/** Texts with a meaning in SQL, patterns, formats, paths or JavaScript. */
const texts = [
  ..."' '' \" \"\" ` '' \\' \\ \\\\ ; -- /* */ # ? ?? : :1 $1 $$ @ @@version | || & ! ~ ^ * % %% _ \\_ . .. ( ) [ ] { } <> = =' <".split(
    " ",
  ),
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE listings; --",
  '"; DROP VIEW active; --',
  "') UNION SELECT vin FROM missing --",
  "1); ATTACH '/tmp/x.db'; --",
  "1 OR 1=1",
  "0/**/OR/**/1=1",
  "x' AND (SELECT count(*) FROM read_csv('/etc/passwd')) > 0 --",
  "read_parquet('*')",
  "getenv('HOME')",
  "current_setting('memory_limit')",
  "$tag$x$tag$",
  "E'\\x27'",
  "\\u0027",
  "&#39;",
  "<script>alert(1)</script>",
  "{{7*7}}",
  "$" + "{7*7}",
  "%s%n%d%x",
  "(a+)+$",
  "(?=",
  "[[:alpha:]]",
  "[a-z",
  "a{99999}",
  ".*.*.*.*.*x",
  "../../../../etc/passwd",
  "file:///etc/passwd",
  "C:\\Windows\\win.ini",
  "http://localhost:1/",
  "|cat /etc/passwd",
  "$(id)",
  "`id`",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "[object Object]",
  "undefined",
  "null",
  "NULL",
  "true",
  "[]",
  "{}",
  '{"$ne":null}',
  "a\0b",
  "\0",
  "a\r\nSet-Cookie: a=b",
  "\t",
  " ",
  "  a  ",
  "\u00a0",
  "\u200b",
  "\ufeff",
  "\u202egnirts",
  "\u2028\u2029",
  "\u001b[31m",
  "\u0085",
  "\uffff",
  "\u{10ffff}",
  "👩‍👩‍👧‍👦",
  "İıſßẞ",
  "ΑΣ ας",
  "e\u0301",
  `a${"\u0301".repeat(500)}`,
  "ﬁ",
  "Ⅷ",
  "日本",
  "ا",
  ",",
  ",,",
  "a,,b",
  ",a",
  "a,",
  "|",
  "a||b",
  "+",
  "a+b",
  "-",
  "--price",
  "-price,",
  "a".repeat(10_000),
  "'".repeat(3000),
  "9".repeat(10_000),
  "*".repeat(10_000),
  "(".repeat(10_000),
  "?".repeat(3000),
  "é".repeat(2000),
];

/** Malformed or extreme numbers, times and identifiers. */
const numbers = [
  ..."-0 0 00 -1 +1 1. .5 1.0 1,0 1e0 1e1 1E9 1e400 1e-400 -1e400 0x10 0b11 0o17 1_000 1'000 0.1e1 NaN nan Infinity".split(
    " ",
  ),
  ..."-Infinity inf 1e308 2147483647 2147483648 -2147483648 4294967295 4294967296 9007199254740991".split(" "),
  ..."9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616 170141183460469231731687303715884105728".split(
    " ",
  ),
  ..."0.1 0.30000000000000004 0.0000000000000001 123456789012345.123456789012345 89.999999999999 90.0000001 -90 -180 180".split(
    " ",
  ),
  ..."180.0000001 500 500.0000001 0.0 -0.0 ١٢٣ １２３ ½ ² 1n 1f 1px 101 100 99 50,50 1..2 1-2 1:2 1/0 1%200".split(" "),
  ..."0000-00-00 9999-12-31 0001-01-01 2026-02-30 2026-13-01 -2026-01-01 +12026-01-01 2026-1-1 20261119 2026-W47-4".split(
    " ",
  ),
  ..."2026-11-19T24:00:00Z 2026-11-19T23:59:60Z 2026-11-19T00:00:00+99:99 2026-11-19T00:00Z 2026-11-19T00:00:00.123456789Z".split(
    " ",
  ),
  ..."0001-01-01T00:00:00Z 9999-12-31T23:59:59Z 2026-11-19T00:00:00+14:00 infinity -infinity epoch today now() 1/1/2026".split(
    " ",
  ),
  ..."00000000-0000-0000-0000-000000000000 {00000000-0000-4000-8000-000000000001} urn:uuid:00000000-0000-4000-8000-000000000001".split(
    " ",
  ),
  ..."ffffffff-ffff-ffff-ffff-ffffffffffff 00000000000040008000000000000001 -180,-90,180,90 0,0,0,0 180,0,-180,0 170,0,-170,1".split(
    " ",
  ),
  ..."-122,37,-121,38,1 1,2,3 NaN,0,0,0 -0,-0,0,0 -122.6,38,-121.7,37 99999 00000 9453 94538-1234 IOQ ABC*D **** ????????????????? ?*".split(
    " ",
  ),
  ..."ABCDEFGHJKLMNPRST* abc? A%25 A_ A.*".split(" "),
];

/** Invalid UTF-8, invalid percent-encoding and double encoding. */
const encodings = [
  ..."% %2 %zz %u0041 %%% %25 %2525 %2527 %252C %2500 %00 %0 %0a %0D%0A %1f %7f %80 %bf %c0 %c0%80 %c0%af %c1%9c %e0%80%af".split(
    " ",
  ),
  ..."%e0%9f%bf %f0%80%80%af %f0%8f%bf%bf %f4%90%80%80 %f8%88%80%80%80 %fc%84%80%80%80%80 %fe %ff %ff%fe %fe%ff %ed%a0%80".split(
    " ",
  ),
  ..."%ed%bf%bf %ed%a0%80%ed%b0%80 %ed%a0%bd%ed%b8%80 %e2%82 %e2%28%a1 %f0%9f%98 %c3 %c3%28 %ef%bf%bd %ef%bb%bf %ef%bf%be".split(
    " ",
  ),
  ..."a%00b %27 %22 %2527%20OR%201 %2c %2C%2c %7c %7C%7c %2b %2B%2b a%2Bb+c %26 %3d %3B %23 %2f %5c %5C%27 a=b a=b=c == = ;a=b".split(
    " ",
  ),
  `${"%25".repeat(3000)}27`,
  `${"a,".repeat(4999)}a`,
  `${"1,".repeat(4999)}1`,
  ",".repeat(10_000),
  "%41%42%43",
  "%E2%80%8B".repeat(100),
];

const all = [...texts.map(encodeURIComponent), ...numbers.map(encodeURIComponent), ...encodings];

/** Parameters that another one needs to have an effect. */
const companions: Readonly<Record<string, string>> = {
  latitude: "longitude=-121.9886",
  longitude: "latitude=37.5483",
  radius: "latitude=37.5483&longitude=-121.9886",
  sort: "latitude=37.5483&longitude=-121.9886",
};

/** Parameters that the search by page number reads differently from the listing search. */
const pageParameters = new Set(["page", "per_page", "limit", "offset"]);

/** Parameters that keep an answer small. */
function smallPage(id: OperationId): readonly (readonly [name: string, value: string])[] {
  return id === "searchListings" ? [["limit", "2"]] : [];
}

/** Returns `each` hostile values for every query parameter of an operation: fixed ones and mutations of its example. */
export function hostileRequests(chance: Chance, id: OperationId, each: number): readonly HostileRequest[] {
  const operationWithParameters: Operation = operation(id);
  return operationWithParameters.parameters
    .filter(
      (parameter) => parameter.in === "query" && (id !== "searchListingsByPage" || pageParameters.has(parameter.name)),
    )
    .flatMap((parameter) => {
      const { name } = parameter;
      const example = encodeExample(parameter);
      const fixed = each < all.length ? chance.some(all, 2 * each).slice(0, Math.floor(each / 2)) : all;
      const drawn = Array.from({ length: Math.max(0, each - fixed.length) }, () => mutate(chance, example));
      const others = [...requiredQuery(operationWithParameters), ...smallPage(id)].filter(([other]) => other !== name);
      const beside = [...others.map((pair) => pair.join("=")), ...(companions[name] ? [companions[name]] : [])];
      const pathOf = (value: string): string =>
        `${operationWithParameters.path}?${[`${name}=${value}`, ...beside].join("&")}`;
      return [...fixed, ...drawn].map((value) => ({ parameter: name, path: pathOf(value) }));
    });
}

/** Returns a mutation of a valid value. */
function mutate(chance: Chance, example: string): string {
  const at = chance.integer(0, example.length);
  const before = example.slice(0, at);
  const after = example.slice(at);
  const short = all.filter((value) => value.length < 200);
  const decoded = decodeURIComponent(example);
  const bytes = [...Buffer.from(decoded)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`);
  const change = chance.pick<() => string>([
    () => `${before}${chance.pick(short)}${after}`,
    () => `${example}${chance.pick(short)}`,
    () => `${chance.pick(short)}${example}`,
    () => `${example},${chance.pick(short)}`,
    () => `${chance.pick(short)}%7C${example}`,
    () => `'${example}'`,
    () => `%22${example}%22`,
    () => bytes.join(""),
    () => encodeURIComponent(bytes.join("")),
    () => bytes.toReversed().join(""),
    () => encodeURIComponent([...decoded].reverse().join("")),
    () => Array.from({ length: chance.integer(1, 40) }, () => randomByte(chance)).join(""),
    () =>
      encodeURIComponent(
        String.fromCodePoint(...Array.from({ length: chance.integer(1, 30) }, () => randomCodePoint(chance))),
      ),
    () => `${example}${",".repeat(chance.integer(1, 3))}${example}`,
    () => Array.from({ length: chance.integer(2, 200) }, () => example).join(","),
    () => String((chance.next() - 0.5) * 10 ** chance.integer(-20, 30)),
    () => `${before}%${after}`,
  ]);
  return change();
}

const randomByte = (chance: Chance): string => `%${chance.integer(0, 255).toString(16).padStart(2, "0")}`;

/** Returns a random code point that is not a surrogate. */
function randomCodePoint(chance: Chance): number {
  const point = chance.integer(0, chance.pick([0x7f, 0x7ff, 0xffff, 0x10ffff]));
  return point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
}

export const searchOperations: readonly OperationId[] = ["searchListings", "searchListingsByPage", "getFacets"];
