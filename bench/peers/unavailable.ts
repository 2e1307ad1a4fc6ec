/** The error of a peer that cannot run on this machine. The run logs it and leaves the peer out. */
import { UserError } from "../../src/base/user-error.ts";

export class PeerUnavailable extends UserError {}
