/** Which addresses a webhook may connect to: public ones, and those that the setting `WEBHOOK_ALLOW` names. */
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
/** All that is public in IPv6, and what of it is not. Mapped and translated IPv4 addresses are outside. */
const public6 = ['2000::/3'];
const notPublic6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refused4 = listOf(notPublic4);
const global6 = listOf(public6);
const refused6 = listOf(notPublic6);

/** Names that every resolver gives an address of the machine, and of its network. */
const loopbackName = /(?:^|\.)localhost$/;
const localName = /(?:^|\.)(?:local|internal|lan|home\.arpa)$/;

export class AddressGuard {
  readonly #addresses: BlockList;
  readonly #names: ReadonlySet<string>;

  /** @param allowed as the setting `WEBHOOK_ALLOW`: names, addresses, CIDRs */
  constructor(allowed: readonly string[]) {
    const isName = (text: string) => isIP(text.split('/')[0] ?? '') === 0;
    this.#names = new Set(allowed.filter(isName).map((name) => name.toLowerCase()));
    this.#addresses = listOf(allowed.filter((text) => !isName(text)));
  }

  /** The host may have any address. */
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

  /** Whether a URL's host can be seen not to be public without asking anybody. */
  isPlainlyRefused(url: string): boolean {
    const host = hostOf(url);
    if (this.allowsName(host)) return false;
    if (isIP(host) !== 0) return !this.allowsAddress(host);
    if (loopbackName.test(host)) return !this.allowsAddress('127.0.0.1') && !this.allowsAddress('::1');
    // Where a network is allowed, the name may lead into it.
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
