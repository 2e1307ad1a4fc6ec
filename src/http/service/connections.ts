/**
 * Limits open connections, in total and per client address, so that no client locks out the others. Connections beyond a limit get
 * answers to health checks only. They are few, and the oldest is closed for the next one, so that a health check always gets in.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { clientNetwork } from "../../base/client-network.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware } from "../context.ts";

/** Open connections, if the limit of file descriptors allows as many. */
const openMax = 10_000;

/** Further connections, which only health checks are answered on; the oldest of them is closed for the next one. */
export const healthConnectionsMax = 64;

export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** The most of one client address, or of one /64 network of IPv6; no limit if absent. At most half of all. */
  readonly perAddressMax?: number;
  /** Further connections, for health checks. */
  readonly healthMax: number;
}

export class Connections {
  private open = 0;
  private readonly openByNetwork = new Map<string, number>();
  /** Connections beyond a limit, by peer, oldest first. */
  private readonly excess = new Map<string, Socket>();
  private readonly perAddressMax: number;

  constructor(private readonly limits: ConnectionLimits) {
    const { connectionsMax: max, perAddressMax } = limits;
    this.perAddressMax = perAddressMax === undefined ? max : Math.min(perAddressMax, Math.ceil(max / 2));
  }

  /** The number of open connections, without those beyond a limit. */
  get count(): number {
    return this.open;
  }

  add(socket: Socket): void {
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const network = clientNetwork(socket.remoteAddress);
    const openOfNetwork = this.openByNetwork.get(network) ?? 0;
    if (this.open >= this.limits.connectionsMax || openOfNetwork >= this.perAddressMax) {
      this.addExcess(socket);
      return;
    }
    this.open += 1;
    this.openByNetwork.set(network, openOfNetwork + 1);
    socket.once("close", () => {
      this.open -= 1;
      const left = (this.openByNetwork.get(network) ?? 0) - 1;
      if (left > 0) this.openByNetwork.set(network, left);
      else this.openByNetwork.delete(network);
    });
  }

  /** Returns true if a connection is beyond a limit. A TLS socket has the peer of the connection below it. */
  isExcess(socket: Socket): boolean {
    return this.excess.size > 0 && this.excess.has(peerOf(socket));
  }

  private addExcess(socket: Socket): void {
    const peer = peerOf(socket);
    this.excess.set(peer, socket);
    socket.once("close", () => this.excess.get(peer) === socket && this.excess.delete(peer));
    const [oldest] = this.excess.values();
    if (this.excess.size > this.limits.healthMax) oldest?.destroy();
  }
}

export const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Refuses requests on connections beyond a limit with `overloaded`. Health checks are answered before this middleware. */
export const refuseExcess =
  (connections: Connections): Middleware =>
  (context, next) => {
    if (connections.isExcess(context.req.socket)) throw refuse("overloaded", {});
    return next();
  };

/**
 * Returns how many connections fit into a limit of file descriptors: three quarters of it, less those for health checks; the other
 * quarter is for files. At most `openMax`, also if the limit is unknown.
 */
export function connectionsWithin(descriptorLimit: number | undefined): number {
  if (descriptorLimit === undefined) return openMax;
  const fitting = Math.floor(descriptorLimit * 0.75) - 2 * healthConnectionsMax;
  return Math.max(16, Math.min(openMax, fitting));
}

/** Returns the soft limit of open file descriptors of this process, which Linux reports; undefined if it is unknown or unlimited. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
