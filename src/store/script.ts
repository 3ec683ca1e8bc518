/** Lua scripts: each is one file in `scripts/`, whose header says what it does, takes and returns. */
import { readFileSync } from 'node:fs';
import { type RedisClient, storeError } from './connection.ts';

export type ScriptArgument = string | number | Buffer;
type ScriptCall = (argumentsList: readonly ScriptArgument[]) => Promise<unknown>;

const scripts: Script<unknown>[] = [];

/**
 * Makes every script a command of a new client. Done before its first command, since a pipeline knows the commands
 * that there were when it was begun.
 */
export function defineScripts(client: RedisClient): void {
  for (const script of scripts) script.define(client);
}

/**
 * In which history the Redis is that runs the script: each start of one that may forget (`Store.mayForget`), and each
 * failover of a cluster, begins another.
 */
export const historyLua = `
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end`;

const ownerLua = `${historyLua}
local onlyIn = table.remove(ARGV)
if onlyIn ~= '' and onlyIn ~= history() then
  return redis.error_reply('FENCED Redis was restarted and may have forgotten what this rests on')
end`;

const firstLine = '#!lua';

/** One Lua script. Replies come as numbers, Buffers and arrays of them. */
export class Script<Reply> {
  readonly #lua: string;
  /**
   * @param keyCount the same at every call: the client needs it to pipeline calls by slot
   * @param before Lua that comes before that of the file
   */
  constructor(
    private readonly name: string,
    private readonly keyCount: number,
    before = '',
  ) {
    const lua = readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
    this.#lua = firstLine + before + lua.slice(firstLine.length);
    scripts.push(this);
  }

  /** Makes the script a command of a client. */
  define(client: RedisClient): void {
    client.defineCommand(this.#command, { lua: this.#lua, numberOfKeys: this.keyCount });
  }

  get #command(): string {
    return `millrace_${this.name}`;
  }

  /** @throws FencedError, StoreUnavailableError */
  async run(
    client: RedisClient,
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
  ): Promise<Reply> {
    try {
      return (await this.#call(client, [...keys, ...scriptArguments])) as Reply;
    } catch (error) {
      throw storeError(error);
    }
  }

  async #call(client: RedisClient, callArguments: ScriptArgument[]): Promise<unknown> {
    const call = (client as unknown as Record<string, ScriptCall | undefined>)[`${this.#command}Buffer`];
    if (call === undefined) throw new TypeError(`script ${this.name} is not defined on this client`);
    // One list: a call may have more arguments than a function's stack can hold. The client itself sends the whole
    // script again to a Redis that has forgotten it.
    return await call.call(client, callArguments);
  }
}

/** A script in the name of a partition's owner: first of all it refuses one whose lease is of another history. */
export class OwnerScript<Reply> {
  readonly #script: Script<Reply>;

  /** As `Script`. */
  constructor(name: string, keyCount: number) {
    this.#script = new Script(name, keyCount, ownerLua);
  }

  /**
   * @param owner `onlyIn`: history in which it took its lease; absent: any will do
   * @throws FencedError, StoreUnavailableError
   */
  run(
    client: RedisClient,
    { onlyIn = '' }: { readonly onlyIn?: string | undefined },
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
  ): Promise<Reply> {
    return this.#script.run(client, keys, [...scriptArguments, onlyIn]);
  }
}
