/** The feeds that an operator has released: a file in the lake's folder, which ingest reads. Not part of a version. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, replaceFile } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";

/** A collapsed feed that is to be accepted. */
export interface ReleasedFeed {
  readonly dealer_id: string;
  readonly day: string;
  /** The number of its VINs. */
  readonly vins: number;
}

const pathIn = (lake: string): string => join(lake, "released-feeds.json");

/** Returns the released feeds of a lake. Throws a UserError if the file is malformed. */
export async function readReleasedFeeds(lake: string): Promise<readonly ReleasedFeed[]> {
  try {
    const content: unknown = JSON.parse(await readFile(pathIn(lake), "utf8"));
    if (Array.isArray(content) && content.every(isReleasedFeed)) return content;
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  throw new UserError(
    `${pathIn(lake)}: malformed: expected an array of released feeds as "carquet release" writes it.`,
  );
}

/** Adds a feed to the released ones, once. */
export async function releaseFeed(lake: string, feed: ReleasedFeed): Promise<void> {
  const others = (await readReleasedFeeds(lake)).filter(
    ({ dealer_id, day }) => dealer_id !== feed.dealer_id || day !== feed.day,
  );
  const feeds = [...others, feed].map((one) => JSON.stringify(one));
  await replaceFile(pathIn(lake), `[\n${feeds.join(",\n")}\n]\n`);
}

const isReleasedFeed = (value: unknown): value is ReleasedFeed =>
  isObject(value) &&
  typeof value.dealer_id === "string" &&
  typeof value.day === "string" &&
  Number.isInteger(value.vins);
