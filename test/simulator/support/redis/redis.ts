/**
 * An in-process Redis for the simulator: commands over maps, and the platform's unmodified Lua scripts. `redis.test.ts`
 * compares it with a real Redis.
 */
import { createHash } from 'node:crypto';
import type { VirtualClock } from '../clock.ts';
import { type CompiledScript, compileLua } from '../lua/compiler.ts';
import { luaLibrary } from '../lua/library.ts';
import { LuaError, type LuaFunction, LuaTable, type LuaValue } from '../lua/table.ts';
import type { Words } from './client-library.ts';
import { commands, compare, placeOf, textOf } from './commands.ts';
import { Keyspace } from './keyspace.ts';
import type { Service } from './network.ts';
import { ErrorReply, type Reply, Status } from './reply.ts';

export interface StreamEntryReply {
  readonly id: string;
  readonly fields: readonly string[];
}

export interface RedisHooks {
  /** Replaces the entries that a read of a stream returns. */
  onRead?(
    key: string,
    entries: readonly StreamEntryReply[],
    all: readonly StreamEntryReply[],
  ): readonly StreamEntryReply[];
  /** Called after a command that did not block. A script is passed as EVAL with the source that ran. */
  onCommand?(command: readonly string[], reply: Reply): void;
  /** Called before each command of a script. */
  onCall?(name: string, words: readonly string[]): void;
  /** Called after a script. */
  onScript?(source: string, keys: readonly string[], words: readonly string[], reply: Reply): void;
  /** Replaces the source of a script. */
  alter?(source: string): string;
}

/** A read of streams, each after an entry id. */
interface StreamsRead {
  readonly streams: readonly { readonly key: string; readonly afterId: string }[];
  readonly count: number;
}

interface Blocked extends StreamsRead {
  readonly connection: number;
  readonly answer: (reply: Reply) => void;
}

interface KnownScript {
  readonly source: string;
  /** The source that runs, which `alter` may have replaced. */
  readonly text: string;
  readonly run: CompiledScript;
}

const compiled = new Map<string, CompiledScript>();
/** The settings of the private Redis of `npm start`, which never loses an acknowledged write. */
const settings = new Map([
  ['appendonly', 'yes'],
  ['appendfsync', 'always'],
]);

export class SimulatedRedis {
  readonly keyspace: Keyspace;
  readonly #scripts = new Map<string, KnownScript>();
  readonly #blocked = new Set<Blocked>();
  readonly #subscribers = new Map<string, Set<(reply: Reply) => void>>();
  /** Shared by all scripts. */
  readonly #globals: Record<string, LuaValue>;
  readonly #connections = new Map<number, Connection>();
  commandsRun = 0;

  constructor(
    private readonly clock: VirtualClock,
    private readonly hooks: RedisHooks = {},
  ) {
    this.keyspace = new Keyspace(() => clock.nowMs);
    const call: LuaFunction = (name, ...taken) => [toLua(this.#call(wordOf(name), taken.map(wordOf)))];
    const error_reply: LuaFunction = (message) => [LuaTable.of([], [['err', message]])];
    const redis = LuaTable.of([], Object.entries({ call, error_reply }));
    this.#globals = { ...luaLibrary, redis };
  }

  /** Opens a connection. */
  accept(send: (replies: readonly Reply[]) => void): Service {
    const number = this.#connections.size + 1;
    const connection = new Connection(this, number, send);
    this.#connections.set(number, connection);
    return connection;
  }

  /** Drops its script cache, like a restart. */
  forgetScripts(): void {
    this.#scripts.clear();
  }

  /**
   * @param connection number of the client's connection
   * @param answer called immediately, or when a blocking read ends
   * @returns cancels a blocking command
   */
  execute(words: readonly string[], connection: number, answer: (reply: Reply) => void): (() => void) | null {
    this.commandsRun += 1;
    const name = words[0]?.toUpperCase() ?? '';
    const rest = words.slice(1);
    switch (name) {
      case 'XREAD':
        return this.#read(rest, connection, answer);
      case 'CLIENT':
        answer(this.#client(rest, connection));
        return null;
      case 'SUBSCRIBE':
        return this.#subscribe(rest, answer);
      case 'PUBLISH':
        answer(this.#publish(rest));
        return null;
      default:
        answer(this.#executeWithHook(name, rest));
        this.#serveBlocked();
        return null;
    }
  }

  #executeWithHook(name: string, words: readonly string[]): Reply {
    const reply = this.#answer(name, words);
    if (this.hooks.onCommand === undefined) return reply;
    const [script = '', ...rest] = words;
    const digest = name === 'EVAL' ? digestOf(script) : script;
    const text = name.startsWith('EVAL') ? this.#scripts.get(digest)?.text : undefined;
    this.hooks.onCommand(text === undefined ? [name, ...words] : ['EVAL', text, ...rest], reply);
    return reply;
  }

  #call(name: string, words: readonly string[]): Reply {
    this.hooks.onCall?.(name, words);
    return this.#plain(name, words);
  }

  #answer(name: string, words: readonly string[]): Reply {
    try {
      if (name === 'EVAL' || name === 'EVALSHA') return this.#script(name, words);
      return this.#plain(name, words);
    } catch (error) {
      if (error instanceof ErrorReply) return error;
      throw error;
    }
  }

  #plain(name: string, words: readonly string[]): Reply {
    if (name === 'TIME') {
      const { redisMs } = this.clock;
      const seconds = Math.floor(redisMs / 1000);
      return [String(seconds), String(Math.floor((redisMs - seconds * 1000) * 1000))];
    }
    if (name === 'CONFIG') return [words[1] ?? '', settings.get(words[1] ?? '') ?? ''];
    const command = commands[name];
    if (command === undefined) throw new ErrorReply(`ERR unknown command '${name}'`);
    return command(this.keyspace, words);
  }

  #script(name: string, given: readonly string[]): Reply {
    const script = given[0] ?? '';
    const known = name === 'EVAL' ? this.#learn(script) : this.#scripts.get(script);
    if (known === undefined) throw new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
    const keysEnd = 2 + Number(given[1]);
    const keys = given.slice(2, keysEnd);
    const words = given.slice(keysEnd);
    const reply = this.#run(known.run, keys, words);
    this.hooks.onScript?.(known.source, keys, words, reply);
    return reply;
  }

  #learn(source: string): KnownScript {
    const text = this.hooks.alter?.(source) ?? source;
    const run = compiled.get(text) ?? compileLua(text);
    compiled.set(text, run);
    const script = { source, text, run };
    this.#scripts.set(digestOf(source), script);
    return script;
  }

  #run(script: CompiledScript, keys: readonly string[], words: readonly string[]): Reply {
    this.#globals.KEYS = new LuaTable([...keys]);
    this.#globals.ARGV = new LuaTable([...words]);
    try {
      return fromLua(script(this.#globals));
    } catch (error) {
      if (error instanceof LuaError) return new ErrorReply(`ERR ${error.message}`);
      throw error;
    }
  }

  #client([name = '', ...words]: readonly string[], connection: number): Reply {
    switch (name.toUpperCase()) {
      case 'ID':
        return connection;
      case 'INFO':
        return `id=${connection} addr=${connection}`;
      case 'KILL':
        return this.#connections.get(Number(words[1]))?.kill() === true ? 1 : 0;
      case 'UNBLOCK':
        return this.#unblock(words[0]);
      default:
        return new Status('OK');
    }
  }

  #unblock(id = ''): number {
    const waiting = [...this.#blocked].filter((blocked) => blocked.connection === Number(id));
    for (const blocked of waiting) {
      this.#blocked.delete(blocked);
      blocked.answer(null);
    }
    return Math.min(1, waiting.length);
  }

  #read(words: readonly string[], connection: number, answer: (reply: Reply) => void): (() => void) | null {
    const after = (name: string) => words.findIndex((word) => word.toUpperCase() === name) + 1;
    const named = words.slice(after('STREAMS'));
    const half = named.length / 2;
    const streams = named.slice(0, half).map((key, at) => ({ key, afterId: named[half + at] ?? '' }));
    const read = { streams, count: Number(words[after('COUNT')]) };
    const found = this.#readNow(read);
    if (found !== null || after('BLOCK') === 0) {
      answer(found);
      return null;
    }
    const blocked: Blocked = { ...read, connection, answer };
    this.#blocked.add(blocked);
    this.clock.after(Number(words[after('BLOCK')]), () => {
      if (this.#blocked.delete(blocked)) answer(null);
    });
    return () => this.#blocked.delete(blocked);
  }

  #readNow({ streams, count }: StreamsRead): Reply {
    const found = streams.flatMap(({ key, afterId }) => this.#entriesAfter(key, afterId, count) ?? []);
    return found.length === 0 ? null : found;
  }

  /** The reply for one stream, in a list; null if there are no entries after the id. */
  #entriesAfter(key: string, afterId: string, count: number): Reply[] | null {
    const all = this.keyspace.stream(key)?.entries ?? [];
    const from = placeOf(afterId);
    const found = all.filter(({ id }) => compare(id, from) > 0).slice(0, count);
    if (found.length === 0) return null;
    const plainEntries = (entries: typeof found) =>
      entries.map(({ id, fields }) => ({ id: textOf(id), fields }));
    const given = this.hooks.onRead?.(key, plainEntries(found), plainEntries(all)) ?? plainEntries(found);
    return [[key, given.map(({ id, fields }) => [id, fields])]];
  }

  #serveBlocked(): void {
    if (this.keyspace.grown.size === 0) return;
    for (const blocked of [...this.#blocked]) {
      // As in Redis, a blocked read only returns the first stream that has entries.
      const grown = blocked.streams.filter(({ key }) => this.keyspace.grown.has(key));
      for (const { key, afterId } of grown) {
        const found = this.#entriesAfter(key, afterId, blocked.count);
        if (found === null) continue;
        this.#blocked.delete(blocked);
        blocked.answer(found);
        break;
      }
    }
    this.keyspace.grown.clear();
  }

  #subscribe([channel = '']: readonly string[], answer: (reply: Reply) => void): () => void {
    const subscribers = this.#subscribers.get(channel) ?? new Set();
    this.#subscribers.set(channel, subscribers.add(answer));
    answer(['subscribe', channel, 1]);
    return () => subscribers.delete(answer);
  }

  #publish([channel = '', message = '']: readonly string[]): Reply {
    const subscribers = this.#subscribers.get(channel) ?? new Set();
    for (const send of subscribers) send(['message', channel, message]);
    return subscribers.size;
  }
}

class Connection implements Service {
  readonly #cancels: (() => void)[] = [];
  #isKilled = false;

  constructor(
    private readonly redis: SimulatedRedis,
    private readonly number: number,
    private readonly send: (replies: readonly Reply[]) => void,
  ) {}

  receive(commands: readonly Words[]): void {
    if (this.#isKilled) return;
    const replies: Reply[] = [];
    let isNow = true;
    for (const words of commands) {
      const cancel = this.redis.execute(words, this.number, (reply) => {
        if (isNow) replies.push(reply);
        else this.send([reply]);
      });
      if (cancel !== null) this.#cancels.push(cancel);
    }
    isNow = false;
    if (replies.length > 0) this.send(replies);
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
  }

  /** Ignores what arrives from now on. @returns false if it was killed before */
  kill(): boolean {
    const wasKilled = this.#isKilled;
    this.#isKilled = true;
    this.close();
    return !wasKilled;
  }
}

const digests = new Map<string, string>();

function digestOf(source: string): string {
  const digest = digests.get(source) ?? createHash('sha1').update(source, 'latin1').digest('hex');
  digests.set(source, digest);
  return digest;
}

function wordOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new ErrorReply('ERR Lua redis lib command arguments must be strings or integers');
}

function toLua(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (typeof reply === 'number' || typeof reply === 'string') return reply;
  if (reply instanceof ErrorReply) throw reply;
  if (!(reply instanceof Status)) return new LuaTable(reply.map(toLua));
  const table = new LuaTable();
  table.set('ok', reply.text);
  return table;
}

function fromLua(value: LuaValue): Reply {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  if (typeof value === 'string') return value;
  if (!(value instanceof LuaTable)) throw new LuaError('a script cannot return a function');
  const [error, status] = [value.get('err'), value.get('ok')];
  if (typeof error === 'string') return new ErrorReply(error);
  if (typeof status === 'string') return new Status(status);
  const end = value.list.indexOf(undefined);
  return value.list.slice(0, end < 0 ? undefined : end).map(fromLua);
}
