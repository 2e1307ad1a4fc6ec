/** A peer cannot be had on this machine: the run leaves it out and says why. */
import { UserError } from "../../src/base/user-error.ts";

export class Unavailable extends UserError {}
