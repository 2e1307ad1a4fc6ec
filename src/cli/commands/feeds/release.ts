/** `carquet release`: releases a feed that is held because it collapsed, for the next ingest and for replays. */
import { Command } from "commander";
import { textIn } from "../../../base/json.ts";
import { printable, UserError } from "../../../base/user-error.ts";
import { releaseHeldFeed } from "../../../query/quality/release.ts";
import type { DeliveryRecords } from "../../../serving/delivery-records.ts";
import { addSettings, type SharedValues, sharedSettings } from "../../settings.ts";
import { withPublishedRecords } from "./published-records.ts";

export const releaseCommand = (): Command =>
  addSettings(new Command("release"), sharedSettings("lake"))
    .description(
      "Release a feed that is held because its rows or prices collapsed, once it proves right. The dealer's next feed is compared with it, and " +
        "`carquet ingest --replay-from <day>` accepts it. Published days do not change.",
    )
    .argument("<dealer>", "id of the dealer")
    .argument("[day]", "day of the feed, YYYY-MM-DD (default: that of the dealer's last feed)")
    .action((dealer: string, day: string | undefined, { lake }: SharedValues<"lake">) =>
      withPublishedRecords({ lake, day }, async ({ deliveries, manifest: { as_of } }) => {
        const last = await lastDayOf(deliveries, dealer, as_of);
        const feed = await releaseHeldFeed(lake, deliveries, { dealerId: dealer, day: day ?? last });
        const next =
          feed.day === last ? "The dealer's next feed is compared with it." : "The dealer has delivered since then.";
        process.stdout.write(
          `Released the feed of ${dealer} of ${feed.day}, ${feed.vins} VINs. ${next} A replay from ${feed.day} accepts it.\n`,
        );
      }),
    );

/** Returns the day of a dealer's last feed. Throws a UserError for an unknown dealer. */
async function lastDayOf(deliveries: DeliveryRecords, dealer: string, asOf: string): Promise<string> {
  const [newest] = await deliveries.deliveriesOf([dealer], asOf);
  if (newest !== undefined) return textIn(newest, "last_delivered_on");
  throw new UserError(`Unknown dealer ${printable(dealer, 60)}: expected a dealer that has delivered by ${asOf}.`);
}
