/** Addresses that webhooks may connect to: public ones, and those in the setting `WEBHOOK_ALLOW`. */
import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose registries (RFC 6890 and its updates), and multicast. */
const notPublic4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** The public range of IPv6, and exceptions within it. Mapped and translated IPv4 addresses are outside the range. */
const public6 = ['2000::/3'];
const notPublic6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refused4 = listOf(notPublic4);
const global6 = listOf(public6);
const refused6 = listOf(notPublic6);

/** Names that resolve to the machine itself, and to its network. */
const loopbackName = /(?:^|\.)localhost$/;
const localName = /(?:^|\.)(?:local|internal|lan|home\.arpa)$/;

export class AddressGuard {
  readonly #addresses: BlockList;
  readonly #names: ReadonlySet<string>;

  /** @param allowed from the setting `WEBHOOK_ALLOW`: names, addresses, CIDRs */
  constructor(allowed: readonly string[]) {
    const isName = (text: string) => isIP(text.split('/')[0] ?? '') === 0;
    this.#names = new Set(allowed.filter(isName).map((name) => name.toLowerCase()));
    this.#addresses = listOf(allowed.filter((text) => !isName(text)));
  }

  /** True if the host may have any address. */
  allowsName(host: string): boolean {
    return this.#names.has(host.toLowerCase());
  }

  /** @param address IPv4 or IPv6 without brackets */
  allowsAddress(address: string): boolean {
    const plain = address.split('%')[0] ?? '';
    const family = isIP(plain);
    if (family === 0) return false;
    if (this.#addresses.check(plain, family === 4 ? 'ipv4' : 'ipv6')) return true;
    if (family === 4) return !refused4.check(plain, 'ipv4');
    return global6.check(plain, 'ipv6') && !refused6.check(plain, 'ipv6');
  }

  /** True if a URL's host is evidently not public, without a DNS lookup. */
  isPlainlyRefused(url: string): boolean {
    const host = hostOf(url);
    if (this.allowsName(host)) return false;
    if (isIP(host) !== 0) return !this.allowsAddress(host);
    if (loopbackName.test(host)) return !this.allowsAddress('127.0.0.1') && !this.allowsAddress('::1');
    // If any network is allowed, the name may resolve to an address in it.
    return localName.test(host) && this.#addresses.rules.length === 0;
  }
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list;
}
