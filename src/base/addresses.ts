/** Addresses of the internet, and those that are not part of it. */
import { BlockList, isIP, isIPv6 } from "node:net";

/** Networks that are not part of the internet, or lead to other addresses, by the registries of IANA. */
const reserved = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  reserved.addSubnet(network, prefix, isIPv6(network) ? "ipv6" : "ipv4");

/** The addresses of IPv6 that are routed; mapped, translated, local and multicast ones are not among them. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  if (!isIPv6(address)) return !reserved.check(address, "ipv4");
  return globalUnicast.check(address, "ipv6") && !reserved.check(address, "ipv6");
}

/** Returns the host name or address of a URL. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
