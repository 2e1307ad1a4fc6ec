/** The drawn signs of the pages: the brand, and ten icons of 18 px. An icon stands for a word only if it is `heart`, `remove` or `search`. */
import type { JSX } from "preact";

export const Brand = (): JSX.Element => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <path fill="#8fc9cf" d="M0 0h6v20l-6-3z" />
    <path fill="#f8f3e6" d="M7.5 0H20l-3 6H7.5zM7.5 14H17l3 6H7.5z" />
    <path fill="#f5b93f" d="M7.5 7.5h7v5h-7z" />
  </svg>
);

const paths = {
  search: "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0M12 12l4 4",
  shop: "M3 9V4.5A1.5 1.5 0 0 1 4.5 3H9l6.5 6.5a1.5 1.5 0 0 1 0 2L11 16a1.5 1.5 0 0 1-2 0ZM6.2 6.2h.01",
  lot: "M2.5 8 9 3l6.5 5M4.5 7v8.5h9V7M7 15.5V11h4v4.5",
  market: "M2.5 15.5h13M3 12l4-4 3 2.5L15 4.5M15 8V4.5h-3.5",
  build: "M6.5 5 2.5 9l4 4M11.5 5l4 4-4 4",
  operate: "M3 10h3.5l1 2h3l1-2H15M3 10l2-6h8l2 6v5H3Z",
  heart: "M9 15S3 11.5 3 7.2A3.2 3.2 0 0 1 9 5.7 3.2 3.2 0 0 1 15 7.2C15 11.5 9 15 9 15Z",
  remove: "M5 5l8 8M13 5l-8 8",
  filter: "M3 5h12M5.5 9h7M7.5 13h3",
  check: "M3.5 9.5 7.5 13.5 14.5 5",
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 18 18" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
