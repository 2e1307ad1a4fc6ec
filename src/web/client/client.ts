/** The entry of the browser modules. Every page works without them. */
import { correctAddress } from "./address.ts";
import { enhanceCopyButtons } from "./copy.ts";
import { enhanceRanges } from "./ranges.ts";
import { enhanceViews } from "./views.ts";

// Shows the controls that need scripts, and hides those that scripts replace.
document.documentElement.classList.add("js");
correctAddress();
enhanceCopyButtons();
enhanceRanges();
enhanceViews();
