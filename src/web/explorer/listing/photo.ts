/** The photo of a listing by its number, for signed-in visitors: from the address that the listing states, through the cache of the service. */
import type { Middleware } from "../../../http/context.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { lookUpListing } from "../../../query/look-ups.ts";
import { webUrl } from "../../shell/format.ts";
import { visitorOf } from "../../shell/visitor.ts";

const daySeconds = 86_400;

export const listingPhoto =
  (services: SiteServices): Middleware =>
  async (context) => {
    const visitor = await visitorOf(context, services, "photo");
    const { listing_id: id = "", number = "" } = context.params ?? {};
    const url =
      visitor === undefined || services.photos.mode !== "proxy" ? undefined : await addressOf(services, id, number);
    const photo = url === undefined ? undefined : await services.photos.read(url);
    context.set("Cache-Control", photo === undefined ? "no-store" : `private, max-age=${daySeconds}`);
    context.set("Content-Security-Policy", "default-src 'none'; sandbox");
    context.status = photo === undefined ? 404 : 200;
    context.set("Content-Type", photo?.type ?? "text/plain; charset=utf-8");
    context.body = photo?.content ?? "No such photo.\n";
  };

/** Returns the address of a listing's photo, from 1; undefined without it. */
const addressOf = ({ current }: SiteServices, id: string, number: string): Promise<string | undefined> =>
  current.use(async (version) => {
    const { row } = await lookUpListing(id, ["photo_urls"], version);
    const url: unknown =
      Array.isArray(row.photo_urls) && /^[1-9]\d?$/.test(number) ? row.photo_urls[Number(number) - 1] : null;
    return typeof url === "string" ? webUrl(url) : undefined;
  });
