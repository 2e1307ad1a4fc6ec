/** The drawn signs of the pages: the brand, and icons of 16 px, which stand beside words or name themselves. */
import type { JSX } from "preact";

export const Brand = (): JSX.Element => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <path class="first" d="M0 0h6v20l-6-3z" />
    <path class="second" d="M7.5 0H20l-3 6H7.5z" />
    <path class="third" d="M7.5 7.5h7v5h-7z" />
    <path class="second" d="M7.5 14H17l3 6H7.5z" />
  </svg>
);

const paths = {
  search: "M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0M10.5 10.5 14 14",
  add: "M8 3v10M3 8h10",
  check: "M3 8.5 6.5 12 13 4.5",
  remove: "M4 4l8 8M12 4l-8 8",
  export: "M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10",
  link: "M6.5 9.5 9.5 6.5M7 4.5 8.5 3a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  filters: "M2 4h12M4 8h8M6.5 12h3",
} as const;

type IconName = keyof typeof paths;

export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
