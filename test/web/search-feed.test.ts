/** The Atom feed of a saved search, and the pages that save, resume and delete searches. */
import assert from "node:assert/strict";
