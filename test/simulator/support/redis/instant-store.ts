/**
 * A store for checks, which reads directly from the simulated Redis, so that nothing else happens in between. It has only the
 * reading commands that checks use.
 */
import type { Command } from 'ioredis';
import type { Partitions } from '../../../../src/store/keys.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Keyspace } from './keyspace.ts';

export function instantStore(keyspace: Keyspace, partitions: Partitions): Store {
  const client = {
    keys: async (pattern: string) => {
      const part = pattern.replaceAll('*', '');
      return keyspace.names().filter((name) => part === '' || name.includes(part));
    },
    hkeys: async (key: string) => [...keyspace.hash(key).keys()].map(textOf),
    hgetall: async (key: string) => record(keyspace.hash(key), textOf),
    hgetallBuffer: async (key: string) => record(keyspace.hash(key), bytesOf),
    hmget: async (key: string, ...fields: Buffer[]) => {
      const hash = keyspace.hash(key);
      return fields.map((field) => {
        const value = hash.get(field.toString('latin1'));
        return value === undefined ? null : textOf(value);
      });
    },
    hmgetBuffer: async (key: string, ...fields: string[]) => {
      const hash = keyspace.hash(key);
      return fields.map((field) => {
        const value = hash.get(field);
        return value === undefined ? null : bytesOf(value);
      });
    },
    /** A scan, or the script that returns the id of the Redis process, which is constant here. */
    sendCommand: async ({ name, args }: Command) =>
      name === 'HSCAN'
        ? [bytesOf('0'), [...keyspace.hash(String(args[0]))].flat().map(bytesOf)]
        : bytesOf('5eed'),
    zrange: async (key: string) =>
      keyspace
        .sortedSet(key)
        .ordered()
        .map(([member]) => textOf(member)),
    lrange: async (key: string) => keyspace.list(Buffer.from(key).toString('latin1')).map(textOf),
  };
  return { client, partitions } as unknown as Store;
}

function record<T>(hash: ReadonlyMap<string, string>, decode: (text: string) => T): Record<string, T> {
  return Object.fromEntries([...hash].map(([field, value]) => [textOf(field), decode(value)]));
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Decodes a string with one byte per character. */
function textOf(text: string): string {
  return bytesOf(text).toString();
}
