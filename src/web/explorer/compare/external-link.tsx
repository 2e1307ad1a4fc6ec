/** Links to other hosts. */
import type { ComponentChildren, JSX } from "preact";
import { webUrl } from "../../shell/format.ts";

interface ExternalLinkProps {
  /** A URL of a feed. */
  readonly url: string | null;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A link to another host; nothing if the URL is not one of the web. */
export const ExternalLink = ({ url, className, children }: ExternalLinkProps): JSX.Element | null => {
  const href = webUrl(url);
  return href === undefined ? null : (
    <a class={className} href={href} rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};
