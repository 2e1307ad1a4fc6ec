/** Loads the page "New feed" when it is first used: the modules that read feeds and sources are not those of a service. */
import type { SiteServices } from "../../http/service/service-state.ts";
import type { VisitorForm } from "../shell/forms.tsx";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";

/** The most bytes of an uploaded file with its form, and of the choices of a file with many columns. */
export const uploadBytesMax = 16 * 2 ** 20;
export const choicesBytesMax = 2 ** 18;

const load = () => import("./new-feed-page.tsx");

export const newFeedPage: PageHandler = async (visit) => (await load()).uploadPage(visit);

/** Returns the handlers of uploaded files. */
export function draftsOf(services: SiteServices) {
  let handlers: Promise<ReturnType<Awaited<ReturnType<typeof load>>["draftHandlers"]>> | undefined;
  const loaded = () => {
    handlers ??= load().then(({ draftHandlers }) => draftHandlers(services));
    return handlers;
  };
  return {
    upload: async (form: VisitorForm) => (await loaded()).upload(form),
    show: async (visit: PageVisit) => (await loaded()).show(visit),
    submit: async (form: VisitorForm) => (await loaded()).submit(form),
  };
}
