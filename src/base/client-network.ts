/** Client networks: what limits per client address count by. */

/**
 * Returns the network of an IP address: an IPv4 address itself, also when it is mapped to IPv6, and the /64 prefix of an IPv6 address,
 * because a single subscriber has at least that many addresses.
 */
export function clientNetwork(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const tailCount = tail === undefined || tail === "" ? 0 : tail.split(":").length;
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - tailCount);
  const all = [...groups, ...Array<string>(zeros).fill("0"), ...(tailCount === 0 ? [] : (tail ?? "").split(":"))];
  return `${all.slice(0, 4).join(":")}::/64`;
}
