/**
 * Finds the records of a document by its structure: the repeated elements, or objects of a list, that have the VINs. A document is read to its end for
 * it, or until it is malformed, which the second reading reports.
 */
import { vinForm } from "../../listing/vins.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import { feed, fieldOfColumn } from "../feed/feed-schema.ts";
import { foldName } from "../mapping/mapping.ts";
import type { DocumentEvents } from "./document-events.ts";

/** Texts of 17 characters with the letters and digits of VINs, and at least one of each. */
const vinPattern = new RegExp(`^(?=.*\\d)(?=.*[A-Z])${vinForm}$`, "i");

export const isVin = (text: string): boolean => vinPattern.test(text.trim());

/** Returns whether a name is one of VINs. */
export function isVinName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return (
    words.some((word) => /^vin(?:s|no|nr|num|number|code)?$/.test(word)) ||
    /identificationn(?:umber|o|r)$/.test(words.join(""))
  );
}

/** Returns whether a name is that of the key of a table's rows: of the VIN, also by the mapping of the file, or of another required field. */
export function isRowKeyName({ table, mapping }: Pick<FeedFile, "table" | "mapping">, name: string): boolean {
  if (table !== "inventory") return feed[table].required.includes(fieldOfColumn(table, name) ?? "");
  const named = mapping?.fields.vin?.from.map(({ column = "" }) => foldName(column.replace(/^.*[./]/, ""))) ?? [];
  return isVinName(name) || (foldName(name) !== "" && named.includes(foldName(name)));
}

export const childPath = (path: string, name: string): string => (name === "" ? path : `${path}/${name}`);

export const parentPath = (path: string): string => path.slice(0, path.lastIndexOf("/"));
export const lastName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Returns the paths of the elements around one. */
export const pathsAround = (path: string): readonly string[] =>
  path === "" ? [] : [...pathsAround(parentPath(path)), parentPath(path)];

/** Names of elements around a list, such as those of dealers, whose own values its records share. */
export const isOwnerName = (name: string): boolean =>
  /dealer|sell|vendor|merchant|store|location|branch|rooftop|showroom|outlet|compan|account|organi[sz]ation|^(?:lot|yard|group|customer|client)s?$/i.test(
    name,
  );

/** Names of records, which stand for one of a list that has only one. */
const recordName =
  /^(?:item|entry|listing|vehicle|car|auto|automobile|truck|record|row|offer|ad|advert|product|unit|result|hit|(?:inventory|stock)[-_]?item)$/i;

/** Names of values of which another says what they are. */
const valueName = /^(?:value|text|content)$/i;

/** Different paths of a document. */
const pathsMax = 20_000;

export class RecordPathFinder implements DocumentEvents {
  rows = 0;
  /** Paths of elements that occur several times in their parent, and of lists. */
  readonly repeated = new Set<string>();
  /** The name of the outermost element. */
  root: string | undefined;
  private readonly around: { readonly path: string; readonly counts: Map<string, number> }[] = [];
  /** Paths of what has a key, and how sure that is: 3 by name and value, 2 by value, 1 by name. */
  private readonly keyed = new Map<string, number>();
  private readonly paths = new Set<string>();

  constructor(private readonly file: FeedFile) {}

  /** Whether there are more paths than any list of vehicles has: what is known of the document must do. */
  get isFull(): boolean {
    return this.paths.size > pathsMax;
  }

  open(name: string, isItem: boolean): void {
    this.root ??= name;
    const parent = this.around.at(-1);
    const path = childPath(parent?.path ?? "", name);
    const count = (parent?.counts.get(name) ?? 0) + 1;
    parent?.counts.set(name, count);
    if (isItem || count === 2) this.repeated.add(path);
    if (!this.isFull) this.paths.add(path);
    this.around.push({ path, counts: new Map() });
  }

  text(text: string): void {
    const path = this.around.at(-1)?.path ?? "";
    const name = lastName(path);
    const isNamed = text !== "" && isRowKeyName(this.file, name);
    const certainty = this.file.table === "inventory" && isVin(text) ? (isNamed ? 3 : 2) : isNamed ? 1 : 0;
    if (certainty === 0) return;
    const around = this.around.at(valueName.test(name) ? -3 : -2)?.path ?? this.around[0]?.path ?? "";
    if (certainty > (this.keyed.get(around) ?? 0)) this.keyed.set(around, certainty);
  }

  close(): void {
    this.around.pop();
  }

  /** Returns the paths of the records; none if nothing has a key. */
  get found(): readonly string[] {
    const best = Math.max(0, ...this.keyed.values());
    const keyed = [...this.keyed].flatMap(([path, certainty]) => (certainty === best ? [path] : []));
    const single = keyed.filter((path) => this.listAround(path) === undefined);
    const parents = new Map<string, number>();
    for (const path of single) parents.set(parentPath(path), (parents.get(parentPath(path)) ?? 0) + 1);
    const all = new Set(
      keyed.map((path) => {
        const isOneOfSome = path !== "" && (parents.get(parentPath(path)) ?? 0) > 1;
        const list = this.listAround(path);
        // Dealers that have one vehicle each are not the vehicles.
        if (list !== undefined && list !== path && isOwnerName(lastName(list))) return this.recordAround(path, list);
        return list ?? (isOneOfSome ? `${parentPath(path)}/*` : this.recordAround(path));
      }),
    );
    return [...all].filter((path) => !pathsAround(path).some((outer) => all.has(outer)));
  }

  /** Returns the path of the nearest list around a key. */
  private listAround(path: string): string | undefined {
    if (this.repeated.has(path)) return path;
    return path === "" ? undefined : this.listAround(parentPath(path));
  }

  /** Returns the path of the record around a key that is in no list: the outermost with a name of records, else a child of the root of XML, or of the owner. */
  private recordAround(path: string, owner = ""): string {
    const names = path.slice(owner.length).split("/").slice(1);
    const at = names.findIndex((name) => recordName.test(name));
    const other = owner !== "" ? 1 : this.file.format === "xml" ? Math.min(2, names.length) : names.length;
    return [owner, ...names.slice(0, at >= 0 ? at + 1 : other)].join("/");
  }
}
