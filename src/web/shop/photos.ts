/** The photos of a listing that pages show, if the operator shows photos: over its drawing, in the same frame. */
import type { PhotoMode } from "../../http/service/service-state.ts";
import { webUrl } from "../shell/format.ts";

/** The addresses of a listing's photos, in the order of the feed. */
type PhotoUrls = readonly string[] | null | undefined;

/** The photos of a listing that pages show. */
const photosMax = 6;

/** Returns the addresses from which browsers load the photos of a listing; none if photos are off. */
export const photoSources = (urls: PhotoUrls, mode: PhotoMode): readonly string[] =>
  mode === "off"
    ? []
    : (urls ?? []).slice(0, photosMax).flatMap((url) => {
        const source = webUrl(url);
        return source?.startsWith("https:") ? source : [];
      });

/** Returns the hosts besides this service from which a page with photos loads images, as a source of the Content Security Policy. */
export const photoHostsOf = (mode: PhotoMode): string | undefined => (mode === "direct" ? "https:" : undefined);
