/** Releases a feed that is held, for the next ingest and for replays. */
import { integerIn } from "../../base/json.ts";
import { printable, UserError } from "../../base/user-error.ts";
import { type ReleasedFeed, releaseFeed } from "../../lake/released-feeds.ts";
import type { DeliveryRecords } from "../../serving/delivery-records.ts";

/** Releases the feed of a dealer and day. Throws a UserError if it is not held. */
export async function releaseHeldFeed(
  lake: string,
  deliveries: DeliveryRecords,
  { dealerId: dealer_id, day }: { readonly dealerId: string; readonly day: string },
): Promise<ReleasedFeed> {
  const feed = (await deliveries.deliveriesOf([dealer_id], day)).find(({ delivery_date }) => delivery_date === day);
  if (feed?.verdict !== "collapsed")
    throw new UserError(
      `The feed of ${printable(dealer_id, 60)} of ${day} is not held (${feed?.verdict ?? "none"}): expected a collapsed feed.`,
    );
  const released = { dealer_id, day, vins: integerIn(feed, "vins") };
  await releaseFeed(lake, released);
  return released;
}
