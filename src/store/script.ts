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

/** One Lua script. Replies come as numbers, Buffers and arrays of them. */
export class Script<Reply> {
  readonly #lua: string;
  /** @param keyCount the same at every call: the client needs it to pipeline calls by slot. */
  constructor(
    private readonly name: string,
    private readonly keyCount: number,
  ) {
    this.#lua = readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
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
