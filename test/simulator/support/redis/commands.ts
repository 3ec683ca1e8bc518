/** The commands of Redis that the platform's workers use, on a keyspace. Any other command is an error when it is sent. */
import { type Keyspace, Stream, type StreamId } from './keyspace.ts';
import { ErrorReply, type Reply, Status } from './reply.ts';

export type Command = (keyspace: Keyspace, words: readonly string[]) => Reply;

const ok = new Status('OK');

function pairsOf(hash: ReadonlyMap<string, string>): string[] {
  const pairs: string[] = [];
  for (const [field, value] of hash) pairs.push(field, value);
  return pairs;
}

const hashes: Readonly<Record<string, Command>> = {
  HGET: (space, words) => space.hash(words[0] ?? '').get(words[1] ?? '') ?? null,
  HMGET: (space, words) => {
    const hash = space.hash(words[0] ?? '');
    const values: Reply[] = [];
    for (let at = 1; at < words.length; at += 1) values.push(hash.get(words[at] ?? '') ?? null);
    return values;
  },
  HGETALL: (space, [key = '']) => pairsOf(space.hash(key)),
  HKEYS: (space, [key = '']) => [...space.hash(key).keys()],
  HLEN: (space, [key = '']) => space.hash(key).size,
  HEXISTS: (space, [key = '', field = '']) => Number(space.hash(key).has(field)),
  HSTRLEN: (space, [key = '', field = '']) => space.hash(key).get(field)?.length ?? 0,
  HSCAN: (space, [key = '']) => ['0', pairsOf(space.hash(key))],
  HSET: (space, words) => {
    const key = words[0] ?? '';
    const hash = space.hash(key);
    const before = hash.size;
    for (let at = 1; at + 1 < words.length; at += 2) hash.set(words[at] ?? '', words[at + 1] ?? '');
    space.keep(key, hash);
    return hash.size - before;
  },
  HSETNX: (space, [key = '', field = '', value = '']) => {
    const hash = space.hash(key);
    if (hash.has(field)) return 0;
    space.keep(key, hash.set(field, value));
    return 1;
  },
  HDEL: (space, [key = '', ...fields]) => {
    const hash = space.hash(key);
    const gone = fields.filter((field) => hash.delete(field)).length;
    space.keep(key, hash);
    return gone;
  },
  HINCRBY: (space, [key = '', field = '', by = '']) => {
    const hash = space.hash(key);
    const sum = Number(hash.get(field) ?? 0) + Number(by);
    space.keep(key, hash.set(field, String(sum)));
    return sum;
  },
};

const sets: Readonly<Record<string, Command>> = {
  ZADD: (space, [key = '', ...words]) => {
    const isOnlyNew = words[0] === 'NX';
    const pairs = isOnlyNew ? words.slice(1) : words;
    const set = space.sortedSet(key);
    const before = set.size;
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const member = pairs[at + 1] ?? '';
      if (!isOnlyNew || !set.has(member)) set.set(member, Number(pairs[at]));
    }
    space.keep(key, set);
    return set.size - before;
  },
  ZREM: (space, [key = '', ...members]) => {
    const set = space.sortedSet(key);
    const gone = members.filter((member) => set.delete(member)).length;
    space.keep(key, set);
    return gone;
  },
  ZMSCORE: (space, [key = '', ...members]) => {
    const set = space.sortedSet(key);
    return members.map((member) => {
      const score = set.get(member);
      return score === undefined ? null : String(score);
    });
  },
  ZCARD: (space, [key = '']) => space.sortedSet(key).size,
  ZRANGEBYLEX: (space, [key = '', from = '', to = '', , skipped = '0', most]) => {
    const end = most === undefined ? undefined : Number(skipped) + Number(most);
    return membersBetween(space, key, from, to).slice(Number(skipped), end);
  },
  ZREVRANGEBYLEX: (space, [key = '', to = '', from = '', , skipped = '0', most]) => {
    const end = most === undefined ? undefined : Number(skipped) + Number(most);
    return membersBetween(space, key, from, to).reverse().slice(Number(skipped), end);
  },
  ZRANGEBYSCORE: (space, [key = '', from = '', to = '', ...options]) => {
    const isWithin = (score: number) =>
      (from === '-inf' || (from.startsWith('(') ? score > Number(from.slice(1)) : score >= Number(from))) &&
      (to === '+inf' || score <= Number(to));
    const found = space
      .sortedSet(key)
      .ordered()
      .filter(([, score]) => isWithin(score))
      .slice(0, Number(options.at(-1)));
    return found.flatMap(([member, score]) =>
      options[0] === 'WITHSCORES' ? [member, String(score)] : [member],
    );
  },
  ZLEXCOUNT: (space, [key = '', from = '', to = '']) => membersBetween(space, key, from, to).length,
  ZRANGE: (space, [key = '', from = '', to = '']) => {
    if (from !== '0' || to !== '-1')
      throw new ErrorReply('ERR the simulator only supports ZRANGE from 0 to -1');
    return space
      .sortedSet(key)
      .ordered()
      .map(([member]) => member);
  },
};

const lists: Readonly<Record<string, Command>> = {
  RPUSH: (space, [key = '', ...texts]) => {
    const list = space.list(key);
    list.push(...texts);
    space.keep(key, list);
    return list.length;
  },
  LREM: (space, [key = '', most = '', text = '']) => {
    if (most !== '0') throw new ErrorReply('ERR the simulator only supports LREM with count 0');
    const list = space.list(key);
    const left = list.filter((one) => one !== text);
    space.keep(key, left);
    return list.length - left.length;
  },
  LPOS: (space, [key = '', text = '']) => {
    const at = space.list(key).indexOf(text);
    return at < 0 ? null : at;
  },
  LLEN: (space, [key = '']) => space.list(key).length,
  LRANGE: (space, [key = '', from = '', to = '']) => {
    const [first, last] = [integerOf(from), integerOf(to)];
    return between(space.list(key), first, last);
  },
  LINDEX: (space, [key = '', place = '']) => {
    const list = space.list(key);
    return list.length === 0 ? null : (list.at(integerOf(place)) ?? null);
  },
  LTRIM: (space, [key = '', from = '', to = '']) => {
    const [first, last] = [integerOf(from), integerOf(to)];
    space.keep(key, between(space.list(key), first, last));
    return ok;
  },
  // By bytes: with STORE, Redis' order does not depend on the server's locale.
  SORT: (space, [key = '', ...options]) => {
    const [alpha, store, target = ''] = options;
    if (options.length !== 3 || alpha !== 'ALPHA' || store !== 'STORE') {
      throw new ErrorReply('ERR the simulator only supports SORT with ALPHA and STORE');
    }
    const sorted = [...space.list(key)].sort((a, b) => (a === b ? 0 : a < b ? -1 : 1));
    space.remove(target);
    space.keep(target, sorted);
    return sorted.length;
  },
  COPY: (space, [from = '', to = '', ...options]) => {
    if (options.length > 0) throw new ErrorReply('ERR the simulator supports no options of COPY');
    if (from === to) throw new ErrorReply('ERR source and destination objects are the same');
    return Number(space.copyList(from, to));
  },
};

/** The elements from one index to another, both counted from 0, or from -1 backwards from the end. */
function between(list: readonly string[], from: number, to: number): string[] {
  const placeFrom0 = (at: number) => (at < 0 ? list.length + at : at);
  return list.slice(Math.max(0, placeFrom0(from)), Math.max(0, placeFrom0(to) + 1));
}

function integerOf(word: string): number {
  if (!/^(?:0|-?[1-9]\d*)$/.test(word)) throw new ErrorReply('ERR value is not an integer or out of range');
  return Number(word);
}

/** Members of a sorted set with equal scores; limits are `[a` or `(a`, or `-` and `+`. */
function membersBetween(space: Keyspace, key: string, from: string, to: string): string[] {
  const [low, high] = [from.slice(1), to.slice(1)];
  const members = space
    .sortedSet(key)
    .ordered()
    .map(([member]) => member);
  return members.filter(
    (member) =>
      (from === '-' || (from.startsWith('[') ? member >= low : member > low)) &&
      (to === '+' || (to.startsWith('[') ? member <= high : member < high)),
  );
}

const plain: Readonly<Record<string, Command>> = {
  QUIT: () => ok,
  PING: () => new Status('PONG'),
  INFO: () => 'loading:0\r\nmaster_replid:5eed\r\nrun_id:5eed\r\nredis_version:7.2.0\r\nmaxmemory:0\r\n',
  DEL: (space, names) => names.filter((key) => space.remove(key)).length,
  EXISTS: (space, names) => names.filter((key) => space.has(key)).length,
  GET: (space, [key = '']) => space.text(key) ?? null,
  SET: (space, [key = '', text = '', option, time]) => {
    space.setText(key, text);
    if (option?.toUpperCase() === 'EX') space.expire(key, Number(time) * 1000);
    if (option?.toUpperCase() === 'PX') space.expire(key, Number(time));
    return ok;
  },
  PEXPIRE: (space, [key = '', ms = '']) => Number(space.expire(key, Number(ms))),
  KEYS: (space, [pattern = '']) => {
    const matcher = new RegExp(`^${pattern.replaceAll(/[{}.]/g, '\\$&').replaceAll('*', '.*')}$`, 's');
    return space.names().filter((key) => matcher.test(key));
  },
};

const streams: Readonly<Record<string, Command>> = {
  XADD: (space, [key = '', ...rest]) => {
    const stream = space.stream(key) ?? new Stream();
    const words = [...rest];
    let longest = Number.POSITIVE_INFINITY;
    if (words[0]?.toUpperCase() === 'MAXLEN') {
      words.shift();
      if (words[0] === '~') words.shift();
      longest = Number(words.shift());
    }
    const [id = '', ...fields] = words;
    const place = id === '*' ? ([stream.last[0] + 1, 0] as const) : placeOf(id);
    if (compare(place, stream.last) <= 0) {
      throw new ErrorReply(
        'ERR The ID specified in XADD is equal or smaller than the target stream top item',
      );
    }
    stream.entries.push({ id: place, fields });
    stream.last = place;
    while (stream.entries.length > longest) stream.entries.shift();
    space.keep(key, stream);
    space.grown.add(key);
    return textOf(place);
  },
  // `~` may trim or not; trimming immediately is the harder case.
  XTRIM: (space, [key = '', strategy = '', ...rest]) => {
    const stream = space.stream(key);
    if (stream === undefined) return 0;
    const limit = rest.at(-1) ?? '';
    const before = stream.entries.length;
    stream.entries =
      strategy.toUpperCase() === 'MINID'
        ? stream.entries.filter(({ id }) => compare(id, placeOf(limit)) >= 0)
        : stream.entries.slice(-Number(limit));
    return before - stream.entries.length;
  },
  XINFO: (space, [, key = '']) => {
    const stream = space.stream(key);
    if (stream === undefined) throw new ErrorReply('ERR no such key');
    return ['length', stream.entries.length, 'last-generated-id', textOf(stream.last)];
  },
};

export const commands: Readonly<Record<string, Command>> = {
  ...hashes,
  ...sets,
  ...lists,
  ...plain,
  ...streams,
};

export function placeOf(id: string): StreamId {
  const [ms = '', sequence = '0'] = id.split('-');
  return [Number(ms), Number(sequence)];
}

export function textOf([ms, sequence]: StreamId): string {
  return `${ms}-${sequence}`;
}

export function compare(a: StreamId, b: StreamId): number {
  return a[0] - b[0] || a[1] - b[1];
}
