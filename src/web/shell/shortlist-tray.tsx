/** The shortlist of the browser at the foot of a page: empty and hidden until `client/shortlist.ts` fills it from its template. */
import type { JSX } from "preact";
import { CarDrawing } from "../explorer/car-drawing.tsx";
import { Icon } from "./icons.tsx";

export const ShortlistTray = (): JSX.Element => (
  <aside class="tray" id="shortlist" aria-label="Shortlist" data-kept-box hidden>
    <b>Shortlist</b>
    <ul data-kept-list>
      <template>
        <li>
          <a class="plain" href="/">
            <CarDrawing bodyType={undefined} />
            <span class="vh" data-shows="name" />
            <span data-shows="price" />
          </a>
          <button type="button" class="plain" data-keep="">
            <Icon name="remove" />
          </button>
        </li>
      </template>
    </ul>
    <p class="small" role="status" />
    <button type="button" class="btn s quiet" data-copy-link="">
      <Icon name="link" />
      Copy link
    </button>
    <a class="btn s prime" href="/compare" data-shortlist>
      Compare <span data-shortlist-count />
    </a>
  </aside>
);
