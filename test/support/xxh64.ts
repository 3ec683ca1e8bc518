/** Strings with a chosen XXH64 (seed 0), which is easy for anyone who can choose 8 bytes of a string. */

const bits = 64n;
const mask = (1n << bits) - 1n;
const [p1, p2, p3, p4, p5] = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
];
const laneBytes = 8;
const stripeBytes = 32;

const plus = (a: bigint, b: bigint) => (a + b) & mask;
const minus = (a: bigint, b: bigint) => (a - b) & mask;
const times = (a: bigint, b: bigint) => (a * b) & mask;
const turned = (a: bigint, by: bigint) => ((a << by) | (a >> (bits - by))) & mask;
const turnedBack = (a: bigint, by: bigint) => turned(a, bits - by);

/** The multiplicative inverse of an odd number. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let step = 0; step < 6; step += 1) found = times(found, minus(2n, times(odd, found)));
  return found;
}

const [byP1, byP2, byP3] = [inverse(p1), inverse(p2), inverse(p3)];

const round = (lane: bigint, input: bigint) => times(turned(plus(lane, times(input, p2)), 31n), p1);
const withLane = (state: bigint, input: bigint) => plus(times(turned(state ^ round(0n, input), 27n), p1), p4);

/** The state after the start of a string of `length` bytes: complete lanes, with all stripes of the string among them. */
function stateAfter(beginning: Buffer, length: number): bigint {
  const stripesEnd = length - (length % stripeBytes);
  let state = p5;
  if (stripesEnd > 0) {
    const lanes = [plus(p1, p2), p2, 0n, minus(0n, p1)];
    for (let at = 0; at < stripesEnd; at += laneBytes) {
      const lane = (at / laneBytes) % lanes.length;
      lanes[lane] = round(lanes[lane] ?? 0n, beginning.readBigUInt64LE(at));
    }
    const turns = [1n, 7n, 12n, 18n];
    state = lanes.reduce((sum, lane, at) => plus(sum, turned(lane, turns[at] ?? 0n)), 0n);
    for (const lane of lanes) state = plus(times(state ^ round(0n, lane), p1), p4);
  }
  state = plus(state, BigInt(length));
  for (let at = stripesEnd; at < beginning.length; at += laneBytes) {
    state = withLane(state, beginning.readBigUInt64LE(at));
  }
  return state;
}

function unshifted(value: bigint, by: bigint): bigint {
  let found = value;
  for (let known = by; known < bits; known += by) found = value ^ (found >> by);
  return found;
}

/** The state before the end of a string with a digest. @param end fewer than 4 bytes */
function stateBefore(end: Buffer, digest: bigint): bigint {
  let state = times(unshifted(digest, 32n), byP3);
  state = times(unshifted(state, 29n), byP2);
  state = unshifted(state, 33n);
  for (const byte of end.toReversed()) state = turnedBack(times(state, byP1), 11n) ^ times(BigInt(byte), p5);
  return state;
}

/**
 * A string with a digest: the start, a counter, 8 chosen characters, the end.
 * @param digest as `digestOf` returns it
 * @param end fewer than 4 bytes
 * @param allowed matches 8 acceptable characters
 */
export function textWithDigest(
  digest: Buffer,
  { beginning, end = '', allowed }: { beginning: string; end?: string; allowed: RegExp },
): string {
  const endBytes = Buffer.from(end);
  let begun = Buffer.byteLength(beginning) + 4;
  while (begun % laneBytes !== 0 || (begun % stripeBytes) + laneBytes + endBytes.length >= stripeBytes) {
    begun += 1;
  }
  const length = begun + laneBytes + endBytes.length;
  const counterDigits = begun - Buffer.byteLength(beginning);
  const after = stateBefore(endBytes, digest.readBigUInt64LE());
  const mixed = turnedBack(times(minus(after, p4), byP1), 27n);
  const chosen = Buffer.alloc(laneBytes);
  for (let counter = 0; ; counter += 1) {
    const text = beginning + counter.toString(36).padStart(counterDigits, '0');
    const lane = mixed ^ stateAfter(Buffer.from(text), length);
    chosen.writeBigUInt64LE(times(turnedBack(times(lane, byP1), 31n), byP2));
    const characters = chosen.toString('latin1');
    if (allowed.test(characters)) return text + characters + end;
  }
}
