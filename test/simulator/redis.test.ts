/** The simulator depends on its Redis, so the commands of schedules are also sent to a real one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { sendRaw } from '../../src/store/redis/send.ts';
import { TestRedis } from '../support/redis.ts';
import { runs } from '../support/runs.ts';
import { commands } from './support/redis/commands.ts';
import { Keyspace } from './support/redis/keyspace.ts';
import { ErrorReply, type Reply, Status } from './support/redis/reply.ts';
import { Simulation } from './support/simulation.ts';

const redis = await TestRedis.start();

/** Commands whose replies depend on the time, the connection, the setup, or on how much `~` trims. */
const leftOut = new Set(['CLIENT', 'CONFIG', 'EVALSHA', 'INFO', 'QUIT', 'TIME', 'XINFO']);

interface Asked {
  readonly command: readonly string[];
  readonly reply: Reply;
}

type Plain = null | number | string | readonly Plain[];

/** Replies without a defined order, or that may contain such lists. */
const withoutOrder = new Set(['HGETALL', 'HKEYS', 'HSCAN', 'KEYS', 'EVAL']);

/** Bytes as strings, errors as their first word. */
function plain(reply: unknown, isOrdered: boolean): Plain {
  if (reply === null || typeof reply === 'number') return reply;
  if (typeof reply === 'string') return reply;
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  if (reply instanceof Status) return reply.text;
  if (reply instanceof Error) return `error ${reply.message.split(' ')[0]}`;
  assert.ok(Array.isArray(reply), `a reply of type ${typeof reply}`);
  const list = reply.map((one) => plain(one, isOrdered));
  return !isOrdered && list.every((one) => typeof one === 'string') ? list.sort() : list;
}

/** Replaces the time and the server data in a script by those of the simulation. */
function inTime([name = '', ...words]: readonly string[], nowMs: number): string[] {
  const seconds = Math.floor(nowMs / 1000);
  const time = `{ '${seconds}', '${Math.floor((nowMs - seconds * 1000) * 1000)}' }`;
  return [
    name,
    ...words.map((word) =>
      word
        .replaceAll("redis.call('TIME')", time)
        .replaceAll("redis.call('INFO', 'replication')", "'master_replid:5eed'")
        .replaceAll("redis.call('INFO', 'server')", "'run_id:5eed'"),
    ),
  ];
}

function answerOf(client: Redis, [name = '', ...words]: readonly string[]): Promise<unknown> {
  const bytes = words.map((word) => Buffer.from(word, 'latin1'));
  return sendRaw(client, name, bytes).catch((error: Error) => new ErrorReply(error.message));
}

test('simulated Redis: a real Redis returns the same replies, command by command', async (context) => {
  let compared = 0;
  for (let seed = 1; seed <= runs(3); seed += 1) {
    const asked: Asked[] = [];
    await Simulation.run({
      seed,
      partitions: 2,
      schedules: 8,
      onCommand: (command, reply, nowMs) => asked.push({ command: inTime(command, nowMs), reply }),
    });
    // Not earlier, because the network is simulated during a simulation.
    const client = new Redis(redis.url, { protocol: 2 });
    context.after(() => client.disconnect());
    await client.flushall();
    for (const { command, reply } of asked) {
      const [name = ''] = command;
      if (leftOut.has(name)) continue;
      const found = await answerOf(client, command);
      const isOrdered = !withoutOrder.has(name);
      assert.deepEqual(
        plain(found, isOrdered),
        plain(reply, isOrdered),
        `schedule ${seed}: ${command.join(' ').slice(0, 600)}`,
      );
      compared += 1;
    }
  }
  context.diagnostic(`${compared} commands`);
});

/** Lists, other types, a sorted set, and missing keys; any of them may become a list. */
const keysOfLists = ['a', 'b', 'c'];
const keysBesides = ['hash', 'text', 'nothing'];
const allKeys = [...keysOfLists, ...keysBesides, 'bounds'];
const key = fc.constantFrom(...allKeys);
/** Strings whose byte order differs from that of any language. */
const text = fc.constantFrom('', '\0', 'B', 'a', 'ab', 'é', '\xff', '10', '9');
const place = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: -9, max: 9 }).map(String) },
  fc.constantFrom('-0', '1.5', '+1', ''),
);
const limit = fc.tuple(fc.constantFrom('[', '('), text).map((words) => words.join(''));
const low = fc.oneof(limit, fc.constant('-'));
const high = fc.oneof(limit, fc.constant('+'));

/** A command whose words are fixed strings or arbitraries. */
function command(...words: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string[]> {
  return fc.tuple(...words.map((word) => (typeof word === 'string' ? fc.constant(word) : word)));
}

/** The commands of `scripts/parts/ordered-lists.lua`, in any order. */
const commandOfLists = fc.oneof(
  { weight: 4, arbitrary: command('RPUSH', key, text, text, text) },
  command('RPUSH', key, text),
  command('LREM', key, '0', text),
  command('LPOS', key, text),
  command('LLEN', key),
  command('LRANGE', key, place, place),
  command('LINDEX', key, place),
  command('LTRIM', key, place, place),
  command('SORT', fc.constantFrom(...keysOfLists, ...keysBesides), 'ALPHA', 'STORE', key),
  command('COPY', fc.constantFrom(...keysOfLists, 'nothing'), key),
  command('DEL', key),
  { weight: 2, arbitrary: command('PEXPIRE', key, '3600000') },
  command('ZADD', 'bounds', '0', text),
  command('ZREM', 'bounds', text),
  command('ZRANGEBYLEX', 'bounds', low, high, 'LIMIT', '0', '1'),
  command('ZREVRANGEBYLEX', 'bounds', high, low, 'LIMIT', '0', '1'),
);
const keysOfOtherKinds = [
  ['HSET', 'hash', 'field', 'value'],
  ['SET', 'text', 'value'],
  ['ZADD', 'bounds', '0', 'a', '0', 'é'],
];
const wholeState = allKeys.flatMap((name) => [
  ['LRANGE', name, '0', '-1'],
  ['ZRANGE', name, '0', '-1'],
  ['HGETALL', name],
  ['GET', name],
]);

test('simulated Redis: a real Redis stores the same lists', async () => {
  const client = new Redis(redis.url, { protocol: 2 });
  const property = fc.asyncProperty(
    fc.array(commandOfLists, { maxLength: 60, size: 'max' }),
    async (given) => {
      const all = [...keysOfOtherKinds, ...given, ...wholeState];
      let nowMs = 0;
      const keyspace = new Keyspace(() => nowMs);
      await client.flushall();
      const found = await Promise.all(all.map((one) => answerOf(client, one)));
      for (const [at, one] of all.entries()) {
        const simulated = plain(answerIn(keyspace, one), true);
        assert.deepEqual(simulated, plain(found[at], true), `${at}: ${one.join(' ')}`);
      }
      const endless = await Promise.all(allKeys.map((name) => client.pttl(name)));
      nowMs = Number.POSITIVE_INFINITY;
      assert.deepEqual(
        keyspace.names().sort(),
        allKeys.filter((_, at) => endless[at] === -1).sort(),
        'keys that stay',
      );
    },
  );
  await fc.assert(property, { numRuns: runs(200) }).finally(() => client.disconnect());
});

function answerIn(keyspace: Keyspace, [name = '', ...words]: readonly string[]): Reply {
  try {
    return commands[name]?.(keyspace, words) ?? null;
  } catch (error) {
    if (error instanceof ErrorReply) return error;
    throw error;
  }
}
