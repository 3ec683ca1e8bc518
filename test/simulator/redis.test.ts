/** The simulator rests on its Redis: what schedules ask of it is asked of a real one too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { sendRaw } from '../../src/store/redis/send.ts';
import { TestRedis } from '../support/redis.ts';
import { runs } from '../support/runs.ts';
import { ErrorReply, type Reply, Status } from './support/redis/reply.ts';
import { Simulation } from './support/simulation.ts';

const redis = await TestRedis.start();

/** What depends on the moment, on the connection, on how it was set up, or on how much `~` trims. */
const leftOut = new Set(['CLIENT', 'CONFIG', 'EVALSHA', 'INFO', 'QUIT', 'TIME', 'XINFO']);

interface Asked {
  readonly command: readonly string[];
  readonly reply: Reply;
}

type Plain = null | number | string | readonly Plain[];

/** Replies that have no order of their own, or may hold such lists. */
const withoutOrder = new Set(['HGETALL', 'HKEYS', 'HSCAN', 'KEYS', 'EVAL']);

/** Bytes as text, errors by their first word. */
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

/** A script that asks for the time or the server is told what the simulation told it. */
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

test('a real Redis answers what the simulated one answers, command by command', async (context) => {
  let compared = 0;
  for (let seed = 1; seed <= runs(3); seed += 1) {
    const asked: Asked[] = [];
    await Simulation.run({
      seed,
      partitions: 2,
      schedules: 8,
      onCommand: (command, reply, nowMs) => asked.push({ command: inTime(command, nowMs), reply }),
    });
    // Not before: during a simulation the network is that of the simulation.
    const client = new Redis(redis.url, { protocol: 2 });
    context.after(() => client.disconnect());
    await client.flushall();
    for (const { command, reply } of asked) {
      const [name = '', ...words] = command;
      if (leftOut.has(name)) continue;
      const found: unknown = await sendRaw(
        client,
        name,
        words.map((word) => Buffer.from(word, 'latin1')),
      ).catch((error: Error) => new ErrorReply(error.message));
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
