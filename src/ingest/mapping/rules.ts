/** The rules of a mapping: sources of a text, and conversions of it. The shorthands of a mapping file are those of `schemas/mapping.json`. */

export interface RowCondition {
  readonly column: string;
  readonly in?: readonly string[];
  readonly notIn?: readonly string[];
  readonly matches?: string;
  readonly notMatches?: string;
}

/** Where a text comes from: exactly one of column, template, constant and file. */
export interface Source {
  readonly column?: string;
  readonly template?: string;
  readonly constant?: string;
  readonly file?: "name" | "folder";
  readonly when?: RowCondition;
  readonly match?: string;
  readonly zeroIsUnknown?: boolean;
}

export interface ListRule {
  readonly separator?: string | readonly string[];
  readonly before?: string;
  readonly item?: string;
  readonly all?: boolean;
}

/** The conversions of a value, in the order in which they are applied. */
export interface Conversions {
  readonly list?: ListRule;
  readonly html?: boolean;
  readonly number?: { readonly unit?: string; readonly unitColumn?: string; readonly decimal?: "." | "," };
  readonly dates?: readonly string[];
  readonly values?: Readonly<Record<string, string | null>>;
}

export interface Rule extends Conversions {
  readonly from: readonly Source[];
}

export type FileSource = string | Source;

/** A rule as a file has it. */
export type FileRule =
  | string
  | readonly FileSource[]
  | (Conversions & { readonly from: FileSource | readonly FileSource[] });

/** The rules of a file by field, as written or with their sources as lists. */
export type Rules<R = Rule> = Readonly<Record<string, R>>;

/** The day in a file's name, or in a column. */
export interface DayRule {
  readonly fileName?: string;
  readonly column?: string;
  readonly dates?: readonly string[];
}

/** The version of the language of mapping files. A file of another version is refused. */
export const mappingVersion = 1;

/** What the rules are written in. */
interface MappingOf<R> {
  readonly version: typeof mappingVersion;
  readonly description?: string;
  readonly recognize?: readonly string[];
  readonly day?: string | DayRule;
  readonly file?: TextLayout & { readonly records?: string | readonly string[] };
  readonly badRows?: { readonly share?: number };
  readonly unknown?: readonly string[];
  readonly required?: readonly string[];
  readonly filter?: readonly RowCondition[];
  readonly fields: Rules<R>;
  readonly dealer: { readonly namespace?: string; readonly key: readonly R[]; readonly fields: Rules<R> };
  /** Rules that are not used, by the name of their field. */
  readonly suggestions?: Rules<FileRule>;
}

/** How a text file is written. What is absent is found from its content. */
export interface TextLayout {
  readonly delimiter?: string;
  readonly quote?: string;
  readonly header?: boolean;
  readonly columns?: readonly string[];
  readonly encoding?: string;
}

/** The content of a mapping file. */
export type FileMapping = MappingOf<FileRule>;

export interface Mapping extends MappingOf<Rule> {
  /** The file's path or the preset's name, for messages. */
  readonly name: string;
  /** The day whose rows are used, of those in the column of `day`. */
  readonly onDay?: string;
}

/** Returns the names of columns in a template. */
export const columnsInTemplate = (template: string): readonly string[] =>
  [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] ?? "");

/** Returns every regular expression of a mapping, with the path of its rule. */
export function patternsOf(mapping: Mapping): readonly (readonly [rule: string, pattern: string])[] {
  const ofCondition = (path: string, { matches, notMatches }: RowCondition) => [
    [`${path}.matches`, matches] as const,
    [`${path}.notMatches`, notMatches] as const,
  ];
  const ofRule = (path: string, { from, list }: Rule) => [
    ...from.flatMap(({ match, when }, index) => [
      [`${path}.from[${index}].match`, match] as const,
      ...(when === undefined ? [] : ofCondition(`${path}.from[${index}].when`, when)),
    ]),
    [`${path}.list.before`, list?.before] as const,
    [`${path}.list.item`, list?.item] as const,
  ];
  const { fields, dealer, filter = [] } = mapping;
  const all = [
    ...Object.entries(fields).flatMap(([field, rule]) => ofRule(`fields.${field}`, rule)),
    ...dealer.key.flatMap((rule, index) => ofRule(`dealer.key[${index}]`, rule)),
    ...Object.entries(dealer.fields).flatMap(([field, rule]) => ofRule(`dealer.fields.${field}`, rule)),
    ...filter.flatMap((condition, index) => ofCondition(`filter[${index}]`, condition)),
  ];
  return all.flatMap(([path, pattern]) => (pattern === undefined ? [] : [[path, pattern] as const]));
}
