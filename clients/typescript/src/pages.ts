/** Pages of a collection, read one after the other while they are iterated. */

/** A page as the API returns it. */
export interface PageOf<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly next_offset: number | null; readonly next_cursor?: string | null };
}

export interface PagingOptions {
  /** The most items to return. Requests no page after that of the last item. */
  readonly itemsMax?: number;
  /** Aborts the request in progress and the iteration. */
  readonly signal?: AbortSignal;
}

/**
 * A search, which requests each page when its first item is needed. Iterate it for items, or `pages()` for whole pages; leaving the loop ends the
 * requests. Each iteration requests and charges all pages again.
 */
export class Pages<Item, Page extends PageOf<Item> = PageOf<Item>> implements AsyncIterable<Item> {
  readonly #load: (at: number | string) => Promise<Page>;
  readonly #start: number | string;
  readonly #itemsMax: number;

  /** `load` returns the page at an offset, or at a cursor; `start` is that of the first page. */
  constructor(
    load: (at: number | string) => Promise<Page>,
    start: number | string,
    itemsMax = Number.POSITIVE_INFINITY,
  ) {
    this.#load = load;
    this.#start = start;
    this.#itemsMax = itemsMax;
  }

  /** Requests pages until the last one, or until they hold `itemsMax` items. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let count = 0;
    for (let at: number | string | null = this.#start; at !== null && count < this.#itemsMax; ) {
      const page: Page = await this.#load(at);
      yield page;
      count += page.data.length;
      const { next_offset, next_cursor = null } = page.pagination;
      at = typeof at === "string" ? next_cursor : next_offset;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let count = 0;
    for await (const page of this.pages())
      for (const item of page.data) {
        if (count === this.#itemsMax) return;
        count += 1;
        yield item;
      }
  }

  /** Returns all items. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
