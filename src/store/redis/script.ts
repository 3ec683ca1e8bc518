/**
 * Lua scripts. Each is one file with a header that documents its purpose, arguments and result. Its folder in `scripts/` has
 * the name of the folder of `src/store` that calls it. `scripts/parts/` has common parts, which several scripts begin with.
 *
 * The first line of a script determines whether a full Redis runs it: only with `allow-oom`. Scripts that accept new data are
 * rejected; scripts that finish, keep or remove something run.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';
import { answerOf, NoReplyError, StoreUnavailableError, storeError } from './redis-errors.ts';
import { sendCommand } from './send.ts';
import { TimeLimit } from './time-limit.ts';

export type ScriptArgument = string | number | Buffer;

/** One Lua script. Replies are numbers, Buffers and arrays of them. */
export class Script<Reply> {
  readonly #text: ScriptText;

  /**
   * @param name folder and file: `entities/accept`
   * @param keyCount null: depends on the call
   * @param parts files of `scripts/parts` to put before it, in this order
   */
  constructor(
    name: string,
    private readonly keyCount: number | null,
    parts: readonly string[] = [],
  ) {
    const lua = readLua(name);
    const firstLineEnd = lua.indexOf('\n');
    const common = parts.map((part) => `\n${readLua(`parts/${part}`)}`).join('');
    this.#text = new ScriptText(lua.slice(0, firstLineEnd) + common + lua.slice(firstLineEnd));
  }

  /**
   * Sends the script immediately, after earlier commands, but before commands that the client is still collecting for a
   * pipeline.
   * @param limit its deadline becomes the last argument
   * @throws FencedError, StoreFullError, StoreUnavailableError
   */
  async run(
    client: RedisClient,
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
    limit: TimeLimit | null = null,
  ): Promise<Reply> {
    const args = [this.keyCount ?? keys.length, ...keys, ...scriptArguments];
    const command = new ScriptCommand(this.#text, args, limit);
    try {
      return (await sendCommand(client, command)) as Reply;
    } catch (error) {
      if (!isNoScript(error)) throw storeError(error);
    }
    command.forget();
    return (await answerOf(sendCommand(client, new ScriptCommand(this.#text, args, limit)))) as Reply;
  }
}

/** A script on behalf of a partition owner. It first checks that the owner's lease is from the current history. */
export class OwnerScript<Reply> {
  readonly #script: Script<Reply>;

  /** See `Script`. */
  constructor(name: string, keyCount: number, parts: readonly string[] = []) {
    this.#script = new Script(name, keyCount, ['history', 'owner', ...parts]);
  }

  /**
   * @param owner `onlyIn`: history in which the lease was taken; absent: any history
   * @throws FencedError, StoreFullError, StoreUnavailableError
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

interface TimedConnection {
  readonly client: RedisClient;
  /** Time limit of a command in milliseconds; null for none. */
  readonly commandTimeoutMs: number | null;
}

const retryMs = 50;

/**
 * A script that writes for a request, and only until its time limit. Its bytes may reach Redis long after the front has closed
 * their connection, for example because a proxy or a broken network held them. The client has got a 503 by then, and may have
 * saved something newer.
 *
 * It must be idempotent. It returns the time on Redis' clock, and its reply unless the call is late.
 */
export class TimelyScript<Reply> {
  readonly #script: Script<readonly [nowMs: number, reply?: Reply]>;

  /** See `Script`. */
  constructor(name: string, keyCount: number | null, parts: readonly string[] = []) {
    this.#script = new Script(name, keyCount, ['deadline', ...parts]);
  }

  /**
   * Redis runs the script before this ends, or never. So if a call was sent, it fails only at its time limit.
   * @param endsMs time limit on the clock of `performance.now()`
   * @throws StoreFullError, StoreUnavailableError
   */
  async run(
    { client, commandTimeoutMs }: TimedConnection,
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
    endsMs = performance.now() + (commandTimeoutMs ?? Number.POSITIVE_INFINITY),
  ): Promise<Reply> {
    const limit = new TimeLimit(endsMs);
    let failure = new StoreUnavailableError('Redis: a call arrived after its time limit');
    do {
      try {
        const [nowMs, reply] = await this.#script.run(client, keys, scriptArguments, limit);
        limit.setClock(nowMs);
        // The clock was not known, or it has changed: try again with the time of the reply.
        if (reply !== undefined) return reply;
      } catch (error) {
        if (!(error instanceof NoReplyError && limit.isSent)) throw error;
        failure = error;
        await pause(Math.min(retryMs, limit.leftMs));
      }
    } while (limit.leftMs > 0 && client.status !== 'end');
    throw failure;
  }
}

function readLua(name: string): string {
  return readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), 'utf8');
}

class ScriptText {
  readonly digest: string;
  /** Connections on which the whole script was sent, so that its digest is enough. */
  readonly loadedOn = new WeakSet<object>();

  constructor(readonly lua: string) {
    this.digest = createHash('sha1').update(lua).digest('hex');
  }
}

/** Sends the digest of a script, or its text the first time on a connection. */
class ScriptCommand extends Command {
  #connection: object | null = null;

  constructor(
    private readonly script: ScriptText,
    args: readonly ScriptArgument[],
    private readonly limit: TimeLimit | null,
  ) {
    super('evalsha', [script.digest, ...args, ...(limit === null ? [] : [''])], { replyEncoding: null });
    if (limit !== null && Number.isFinite(limit.leftMs)) this.setTimeout(limit.leftMs);
  }

  /** Called by the client whenever it writes the command, including after a redirection or on a new connection. */
  override toWritable(connection: object): string | Buffer {
    const { loadedOn, lua, digest } = this.script;
    const isLoaded = loadedOn.has(connection);
    if (!isLoaded) loadedOn.add(connection);
    this.name = isLoaded ? 'evalsha' : 'eval';
    this.args[0] = isLoaded ? digest : lua;
    if (this.limit !== null) this.args[this.args.length - 1] = this.limit.deadlineOn(connection);
    this.#connection = connection;
    return super.toWritable(connection);
  }

  /** Makes the next call send the whole script again on this command's connection. */
  forget(): void {
    if (this.#connection !== null) this.script.loadedOn.delete(this.#connection);
  }
}

/** True if the server lost the script but not the connection, as after `SCRIPT FLUSH`. */
function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
