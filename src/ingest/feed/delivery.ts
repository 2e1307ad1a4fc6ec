/**
 * Finds the feed files of deliveries: one folder per day, a single inventory file, or files with months of history whose rows have their day in a
 * column.
 *
 * Folders may belong to third parties, so a symbolic link in one is followed only to a target in the same folder.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { isDay } from "../../base/day.ts";
import { integerIn, textIn } from "../../base/json.ts";
import { printable, UserError } from "../../base/user-error.ts";
import { DuckDatabase, type Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { preparedFiles, readRepaired, withScratch } from "../documents/prepared-files.ts";
import { daysOfRows } from "../mapping/mapped-rows.ts";
import { mappingIn, matchingColumns } from "../mapping/mapping.ts";
import type { DayRule, Mapping } from "../mapping/rules.ts";
import { type DealerList, dealerListName, readDealerList } from "./dealer-list.ts";
import { type FeedFile, feedEndings, fileOf, kindOf, tableOfName } from "./feed-file.ts";
import { feedTables } from "./feed-schema.ts";
import { checkFeedFile } from "./file-checks.ts";
import { describeFiles, describeSystemError, fileError } from "./file-errors.ts";
import { type ReadSettings, relationOf, shapeOf } from "./file-formats.ts";

export interface Delivery {
  readonly day: string;
  readonly files: readonly FeedFile[];
  /** Remarks on what was found beside its files, and is ignored. */
  readonly remarks?: readonly string[];
}

/** The day that a mapping assigns to files without a dated folder: a constant, or the pattern of it in their names. */
export interface MappedDay {
  readonly file: string;
  readonly day: string | DayRule;
}

/** Returns the day that a mapping assigns. */
export const mappedDayOf = (mapping: Mapping | undefined): MappedDay | undefined =>
  mapping?.day === undefined ? undefined : { file: mapping.name, day: mapping.day };

/**
 * Returns the deliveries at a path in day order. A path with folders named YYYY-MM-DD has one delivery per folder. Any other path is one
 * delivery, of `day`, of the day in its name, or of the mapping's. If `day` is set, returns only that day. Throws a UserError if there is
 * none, or if a folder is of another day than the mapping.
 */
export async function deliveriesAt(
  path: string,
  day: string | undefined,
  mapped?: MappedDay,
): Promise<readonly Delivery[]> {
  if (day !== undefined && !isDay(day)) throw new UserError(`Invalid value "${day}" for --day: expected YYYY-MM-DD.`);
  const isFolder = (await orUserError(path, stat(path))).isDirectory();
  const inColumn = day === undefined && typeof mapped?.day === "object" && mapped.day.column !== undefined;
  if (inColumn)
    throw new UserError(
      `${printable(mapped.file)}: its day is in a column: expected the path of a file or folder without days, or --day.`,
    );
  if (!isFolder) return [{ day: day ?? dayOfFile(basename(path), mapped) ?? dayOf(path), files: [singleFile(path)] }];
  const names = await namesIn(path);
  const dated = names.filter(isDay);
  if (day === undefined && mapped !== undefined) requireMappedDay(mapped, [basename(path), ...dated].filter(isDay));
  if (dated.length === 0) return deliveriesOf(await filesIn(path), path, day, mapped);
  const chosen = day === undefined ? dated : dated.filter((folder) => folder === day);
  if (chosen.length === 0)
    throw new UserError(`${printable(path)}: no folder for ${day}: expected one of ${dated.join(", ")}.`);
  const remarks = day === undefined ? await remarksOnOthers(path, names) : [];
  return Promise.all(
    chosen.map(async (folder, index) => {
      const content = await filesIn(await resolveWithin(path, folder));
      return { day: folder, ...content, remarks: [...(index === 0 ? remarks : []), ...content.remarks] };
    }),
  );
}

/** Returns a remark on the files and folders that lie beside dated folders; none if there are none. */
async function remarksOnOthers(path: string, names: readonly string[]): Promise<readonly string[]> {
  const others: string[] = [];
  for (const name of names)
    if (!isDay(name) && !isNoFeed(name) && (kindOf(name) !== undefined || (await isFolderIn(path, name))))
      others.push(name);
  return others.length === 0 ? [] : [describeFiles("ignored: expected folders named YYYY-MM-DD.", others)];
}

/** Photos, and names of files that are hidden or being copied: they are ignored without a remark. */
const isNoFeed = (name: string): boolean => /^\.|\.(?:jpe?g|png|gif|webp|avif|heic|mp4|part|tmp)$/i.test(name);

function requireMappedDay({ file, day }: MappedDay, folders: readonly string[]): void {
  const other = typeof day === "string" ? folders.find((folder) => folder !== day) : undefined;
  if (other !== undefined)
    throw new UserError(
      `${printable(file)}: its day ${String(day)} contradicts the folder ${other}: expected a mapping of ${other}, or without a day.`,
    );
}

/** Returns the result of a file operation. Throws a UserError if it fails. */
async function orUserError<T>(path: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (thrown) {
    throw new UserError(`${printable(path)}: ${describeSystemError(thrown)}.`);
  }
}

const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await orUserError(folder, readdir(folder))).sort();

/** Returns the path of a folder's entry without symbolic links. Throws a UserError if it is not in the folder. */
async function resolveWithin(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const target = await orUserError(path, realpath(path));
  const root = await orUserError(folder, realpath(folder));
  if (target.startsWith(root.endsWith(sep) ? root : root + sep)) return target;
  throw new UserError(`${printable(path)}: symbolic link out of its folder: expected a file or a link within it.`);
}

function dayOf(path: string): string {
  const day = basename(path);
  if (isDay(day)) return day;
  throw new UserError(`${printable(path)}: unknown day: expected --day YYYY-MM-DD or a name of that form.`);
}

/** Returns the files at a path without dated folders. */
export const undatedFiles = async (path: string): Promise<readonly FeedFile[]> =>
  (await orUserError(path, stat(path))).isDirectory() ? (await filesIn(path)).files : [singleFile(path)];

/** Returns the deliveries of files without a dated folder: of one day, or of those in their names. */
function deliveriesOf(
  { files, remarks }: FolderContent,
  path: string,
  day: string | undefined,
  mapped: MappedDay | undefined,
): readonly Delivery[] {
  const days = files.map(({ name }) => day ?? dayOfFile(basename(name), mapped) ?? dayOf(path));
  return [...new Set(days)].sort().map((one, position) => ({
    day: one,
    files: files.filter((_, index) => days[index] === one),
    remarks: position === 0 ? remarks : [],
  }));
}

/** Returns the day that a mapping assigns to a file. Throws a UserError if it is in names of files, and not in this one. */
function dayOfFile(name: string, mapped: MappedDay | undefined): string | undefined {
  if (mapped === undefined) return undefined;
  if (typeof mapped.day === "string") return mapped.day;
  const { fileName } = mapped.day;
  if (fileName === undefined) return undefined;
  const parts = [...fileName.matchAll(/%([Ymd])|[^%]+/g)];
  const pattern = parts
    .map(([text, part]) =>
      part === undefined ? text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&") : `(?<${part}>\\d{${part === "Y" ? 4 : 2}})`,
    )
    .join("");
  const { Y, m, d } = new RegExp(pattern).exec(name)?.groups ?? {};
  const day = `${Y}-${m}-${d}`;
  if (isDay(day)) return day;
  throw new UserError(`${printable(name)}: no day in its name: expected ${fileName}, as in ${printable(mapped.file)}.`);
}

type FolderContent = Required<Omit<Delivery, "day">>;

/** The files of a day's folder, and the names in it that are ignored. */
interface Found {
  readonly files: FeedFile[];
  readonly ignored: string[];
}

/**
 * Returns the feed files of a day's folder, and of the folders in it, which are those of dealers or sources. The prefix of a file name selects its
 * table; others are foreign. Files with other endings are ignored.
 */
async function filesIn(folder: string): Promise<FolderContent> {
  const found: Found = { files: [], ignored: [] };
  for (const name of await namesIn(folder)) {
    const table = tableOfName(name);
    if (fileOf(name) === undefined && table.isForeign && (await isFolderIn(folder, name)))
      await addFilesIn(name, { day: folder, depth: foldersDeep, found });
    else if (kindOf(name) !== undefined || !table.isForeign)
      found.files.push({ ...feedFile(await resolveWithin(folder, name), name), ...table });
    else if (!isNoFeed(name)) found.ignored.push(name);
  }
  const { files, ignored } = found;
  if (files.length === 0) throw noFeedFiles(folder);
  const remark = `ignored: expected ${feedEndings}, at most ${foldersDeep} folders deep.`;
  return { files, remarks: ignored.length === 0 ? [] : [describeFiles(remark, ignored)] };
}

/** Creates the error of a folder without feeds. */
export const noFeedFiles = (folder: string): UserError =>
  new UserError(`${printable(folder)}: no feed files: expected ${feedTables.join(", ")} as ${feedEndings}.`);

const isFolderIn = async (folder: string, name: string): Promise<boolean> =>
  stat(join(folder, name)).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** The name of the file in a source's folder that has the mapping of the others. */
export const folderMapping = "mapping.json";

/** Folders in a day's folder: those of sources, and in them those of dealers. */
const foldersDeep = 2;

/** What the folder of a source has for its files. */
interface SourceFolder {
  mapping?: Mapping;
  dealers?: DealerList;
}

/** Adds the files of a folder in a day's folder, and of the folders in it, with the mapping and the list of dealers in the nearest that has one. */
async function addFilesIn(
  folder: string,
  { day, depth, found }: { readonly day: string; readonly depth: number; readonly found: Found },
  outer: SourceFolder = {},
): Promise<void> {
  const path = await resolveWithin(day, folder);
  const names = await namesIn(path);
  const own: SourceFolder = { ...outer };
  if (names.includes(folderMapping))
    own.mapping = await mappingIn(await resolveWithin(path, folderMapping), `${folder}/${folderMapping}`);
  if (names.includes(dealerListName))
    own.dealers = await readDealerList(await resolveWithin(path, dealerListName), `${folder}/${dealerListName}`);
  for (const name of names) {
    const inDay = `${folder}/${name}`;
    if (name === folderMapping || name === dealerListName) continue;
    if (fileOf(name) === undefined && (await isFolderIn(path, name))) {
      if (depth > 1) await addFilesIn(inDay, { day, depth: depth - 1, found }, own);
      else found.ignored.push(inDay);
    } else if (kindOf(name) !== undefined) {
      const file = feedFile(await resolveWithin(path, name), inDay);
      found.files.push({ ...file, ...own, table: "inventory", isForeign: true, folder: basename(folder) });
    } else if (!isNoFeed(name)) found.ignored.push(inDay);
  }
}

const singleFile = (path: string): FeedFile => ({ ...feedFile(path, basename(path)), table: "inventory" });

function feedFile(path: string, name: string): Omit<FeedFile, "table"> {
  const kind = kindOf(basename(name));
  if (kind !== undefined) return { ...kind, path, name };
  throw new UserError(`${printable(name)}: unknown file format: expected ${feedEndings}.`);
}

/** Returns the days of the mapping's column as deliveries in order. Throws a UserError for the first row without one. */
export async function deliveriesByColumn(
  files: readonly FeedFile[],
  mapping: Mapping,
  settings: ReadSettings,
): Promise<readonly Delivery[]> {
  const filesOfDay = new Map<string, FeedFile[]>();
  await DuckDatabase.use({ threads: 1 }, (session) =>
    withScratch(settings, async (scratch) => {
      for (const file of files)
        for (const [index, day] of (await daysIn(session, file, { ...settings, mapping, scratch })).entries()) {
          const ofDay = { ...file, mapping: { ...mapping, onDay: day }, hidesBadRows: index > 0 };
          filesOfDay.set(day, [...(filesOfDay.get(day) ?? []), ofDay]);
        }
    }),
  );
  if (filesOfDay.size === 0) throw new UserError(`${printable(mapping.name)}: no rows: expected days in the files.`);
  return [...filesOfDay]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, ofDay]) => ({ day, files: ofDay }));
}

/** Returns the days of the rows of a file, in order. */
async function daysIn(
  session: Session,
  file: FeedFile,
  settings: ReadSettings & { readonly scratch: string; readonly mapping: Mapping },
): Promise<readonly string[]> {
  const { mapping, limits } = settings;
  const read = async (prepared: FeedFile): Promise<readonly string[]> => {
    await checkFeedFile(prepared, limits);
    const shape = await shapeOf(session, prepared, settings);
    const name = typeof mapping.day === "object" ? (mapping.day.column ?? "") : "";
    if (matchingColumns(shape.columns, name).length === 0)
      throw fileError(
        prepared,
        `, row 0 (header): missing column "${printable(name, 40)}": expected by the mapping of day.`,
      );
    const rows = daysOfRows(relationOf({ files: [prepared], file: prepared, shape }, settings), mapping);
    const found = await session.rows(sql`SELECT "day", min("row")::INTEGER AS "row" FROM (${rows}) GROUP BY "day"`);
    const without = found.find(({ day }) => day === null);
    if (without !== undefined)
      throw fileError(
        prepared,
        `, row ${integerIn(without, "row")}: no day in column "${printable(name, 40)}": expected a date, as in day.dates.`,
      );
    return found.map((row) => textIn(row, "day"));
  };
  const days: string[] = [];
  for (const prepared of await preparedFiles(file, { ...settings, remark: () => {}, onRecognized: () => {} }))
    days.push(...(await readRepaired(prepared, settings, read)));
  return [...new Set(days)].sort();
}
