/** A peer cannot be had on this machine: the run leaves it out and says why. */
import { Failure } from "../../src/base/failure.ts";

export class Unavailable extends Failure {}
