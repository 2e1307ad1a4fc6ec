/** The dealers of a version in memory: every dealer there has been, by its newest row, with the number of its active listings. */
import { isRow, type Json, type Row, textIn } from "../base/json.ts";
import type { Session } from "../db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../db/sql.ts";
import { matchKeyOf } from "../db/text-matching.ts";

/** The columns of schema `Dealer`, in the order in which they are served. */
const profileColumns = ["dealer_id", "name", "city", "state", "postal_code", "country", "latitude", "longitude", "type"]
  .concat(["website", "makes", "listing_count"])
  .map((column) => ident(column));

const addressFields = ["line1", "city", "state", "postal_code", "country"];

export interface DealerProfile {
  /** Schema `Dealer`. */
  readonly profile: Row;
  /** What schema `DealerDetail` adds. */
  readonly phone: Json;
  readonly address: Json;
  /** The dealer id in lower case. */
  readonly id: string;
  /** The match keys of its makes. */
  readonly makeKeys: readonly string[];
  /** The words of its name and website, each after a blank. */
  readonly words: string;
}

export class DealerDirectory {
  private constructor(
    /** The largest dealers first; of equal ones by name, then by id. */
    readonly dealers: readonly DealerProfile[],
    private readonly byId: ReadonlyMap<string, DealerProfile>,
  ) {}

  /** Reads a query for dealer profiles (`dealerProfiles` of lake/views.ts). */
  static async read(session: Session, profiles: Sql): Promise<DealerDirectory> {
    const address = join(addressFields.map((field) => sql`${literal(field)}: ${ident(field)}`));
    const rows = await session.rows(sql`
      SELECT {${join(profileColumns.map((column) => sql`${column}: ${column}`))}} AS profile, phone, {${address}} AS address, words
      FROM   (${profiles}) ORDER BY listing_count DESC, "name", dealer_id`);
    const dealers = rows.map(profileOf);
    return new DealerDirectory(dealers, new Map(dealers.map((dealer) => [dealer.id, dealer])));
  }

  /** The dealer of an id, in any case; undefined where there is none. */
  find(id: string): DealerProfile | undefined {
    return this.byId.get(id.toLowerCase());
  }
}

function profileOf({ profile, phone, address, words }: Row): DealerProfile {
  if (!isRow(profile)) throw new TypeError("A dealer profile is not a struct.");
  const makes = Array.isArray(profile.makes) ? profile.makes : [];
  return {
    ...{ profile, phone: phone ?? null, address: address ?? null },
    id: textIn(profile, "dealer_id").toLowerCase(),
    makeKeys: makes.map((make) => matchKeyOf(String(make))),
    words: typeof words === "string" ? words : "",
  };
}
