/** The frame of a listing: the drawn car of its body type in its paint, and over it the photo that the dealer has, if the operator shows photos. */
import type { ComponentChildren, JSX } from "preact";
import type { PhotoMode } from "../../http/service/photos.ts";
import { webUrl } from "../shell/format.ts";
import { CarDrawing } from "./car-drawing.tsx";

/** A listing and its photos, in the order of the feed. */
interface PhotographedListing {
  readonly id: string;
  readonly photo_urls?: readonly string[] | null;
}

/** The photos of a listing that pages show. */
const photosMax = 6;

/** Returns the addresses from which browsers load the photos of a listing; none if photos are off. */
export function photoSources({ id, photo_urls: urls }: PhotographedListing, mode: PhotoMode): readonly string[] {
  const sources = (urls ?? []).slice(0, photosMax).map((url, index) => {
    const found = webUrl(url);
    if (mode === "off" || found === undefined) return undefined;
    if (mode === "proxy") return `/photos/${id}/${index + 1}`;
    return found.startsWith("https:") ? found : undefined;
  });
  return sources.filter((source) => source !== undefined);
}

/** Returns the hosts besides this service from which a page with photos loads images, as a source of the Content Security Policy. */
export const photoHostsOf = (mode: PhotoMode): string | undefined => (mode === "direct" ? "https:" : undefined);

interface PhotoProps {
  readonly source: string;
  readonly id?: string;
  readonly alt?: string;
}

/** A photo over the drawn car, which a script uncovers if the photo does not load. */
export const Photo = ({ source, id, alt = "" }: PhotoProps): JSX.Element => (
  <img class="photo" id={id} src={source} alt={alt} loading="lazy" decoding="async" referrerpolicy="no-referrer" />
);

interface FrameProps {
  readonly listing: PhotographedListing & { readonly body_type?: string | null };
  readonly photos: PhotoMode;
  /** What stands over the frame. */
  readonly children?: ComponentChildren;
}

/** The frame on a card: the first photo, over the drawn car, which takes the paint of the element around it. */
export const Frame = ({ listing, photos, children }: FrameProps): JSX.Element => {
  const [source] = photoSources(listing, photos);
  return (
    <div class="shot">
      <CarDrawing bodyType={listing.body_type} />
      {source === undefined ? null : <Photo source={source} />}
      {children}
    </div>
  );
};
