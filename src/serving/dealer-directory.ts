/** Dealer directory of a version, in memory: the newest row of every dealer, with its number of active listings. */
import { isRow, type Json, type Row, textIn } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import type { Session } from "../db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../db/sql.ts";
import { matchKeyOf } from "../db/text-matching.ts";

/** The columns of schema `Dealer`, in response order. */
const profileColumns = ["dealer_id", "name", "city", "state", "postal_code", "country", "latitude", "longitude"]
  .concat(["coordinates_source", "type", "website", "makes", "listing_count"])
  .map((column) => ident(column));

const addressFields = ["line1", "city", "state", "postal_code", "country"];

export interface DealerProfile {
  /** Schema `Dealer`. */
  readonly profile: Row;
  /** Property of schema `DealerDetail`. */
  readonly phone: Json;
  /** Property of schema `DealerDetail`. */
  readonly address: Json;
  /** The dealer id in lower case. */
  readonly id: string;
  /** Columns of the profile in lower case; empty if unknown. */
  readonly folded: Readonly<Record<"state" | "country" | "type", string>>;
  readonly makeKeys: readonly string[];
  /** The words of its name, website and city, each preceded by a space. */
  readonly words: string;
}

export class DealerDirectory {
  /** The makes of all dealers, by match key. */
  readonly makes: ReadonlyMap<string, string>;
  /** The countries of dealers, by their name in lower case. */
  readonly countries: ReadonlyMap<string, string>;
  private readonly byId: ReadonlyMap<string, DealerProfile>;

  private constructor(
    /** Ordered by number of listings (largest first), name and id. */
    readonly dealers: readonly DealerProfile[],
  ) {
    this.byId = new Map(dealers.map((dealer) => [dealer.id, dealer]));
    this.makes = new Map(
      dealers.flatMap(({ makeKeys, profile: { makes } }) =>
        makeKeys.map((key, index): [string, string] => [key, Array.isArray(makes) ? String(makes[index]) : ""]),
      ),
    );
    this.countries = new Map(
      dealers.flatMap(({ folded: { country }, profile }): [string, string][] =>
        country === "" ? [] : [[country, String(profile.country)]],
      ),
    );
  }

  /** Reads the directory from a query for dealer profiles (see `dealerProfiles`). */
  static async read(session: Session, profiles: Sql): Promise<DealerDirectory> {
    const address = join(addressFields.map((field) => sql`${literal(field)}: ${ident(field)}`));
    const rows = await session.rows(sql`
      SELECT {${join(profileColumns.map((column) => sql`${column}: ${column}`))}} AS profile, phone, {${address}} AS address, words
      FROM   (${profiles}) ORDER BY listing_count DESC, "name", dealer_id`);
    const dealers: DealerProfile[] = [];
    await forEachInTurns(rows, (row) => dealers.push(profileOf(row)));
    return new DealerDirectory(dealers);
  }

  /** Returns the dealer with an id, matched case-insensitively; undefined if the id is unknown. */
  find(id: string): DealerProfile | undefined {
    return this.byId.get(id.toLowerCase());
  }

  /** Returns the newest name of the dealer with an id; null if the name or the id is unknown. */
  nameOf(id: string): string | null {
    const name = this.find(id)?.profile.name;
    return typeof name === "string" ? name : null;
  }
}

function profileOf({ profile, phone, address, words }: Row): DealerProfile {
  if (!isRow(profile)) throw new TypeError("Invalid dealer profile: expected a struct.");
  const makes = Array.isArray(profile.makes) ? profile.makes : [];
  return {
    profile,
    phone: phone ?? null,
    address: address ?? null,
    id: textIn(profile, "dealer_id").toLowerCase(),
    folded: { state: folded(profile.state), country: folded(profile.country), type: folded(profile.type) },
    makeKeys: makes.map((make) => matchKeyOf(String(make))),
    words: typeof words === "string" ? words : "",
  };
}

const folded = (value: Json | undefined): string => (typeof value === "string" ? value.toLowerCase() : "");
