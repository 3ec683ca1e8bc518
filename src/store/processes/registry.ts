/**
 * Tracks the processes that share the store by their heartbeats (`heartbeat.ts`). A process that starts to listen requests
 * heartbeats and receives them within milliseconds. Nothing is stored, and only the listener's own clock is used.
 */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { heartbeatLostMs, metricsWaitMs } from '../../contract/limits.ts';
import { StoreUnavailableError, storeError } from '../redis/redis-errors.ts';
import { Subscription } from '../redis/subscription.ts';
import {
  type MetricsText,
  type ProcessAsk,
  type ProcessBeat,
  type ProcessHost,
  type ProcessNews,
  publishToAll,
} from './process-messages.ts';

/** A live process has answered by then. */
const answersWaitMs = 1_000;

interface Heard {
  readonly beat: ProcessBeat;
  atMs: number;
}

/** Processes with a recent heartbeat. @throws StoreUnavailableError */
export function liveProcesses(store: { readonly registry: Registry }): Promise<ProcessBeat[]> {
  return store.registry.live();
}

export class Registry {
  #subscription: Subscription | null = null;
  readonly #heard = new Map<string, Heard>();
  /** `asking`: until all live processes should have answered. `lost`: the connection broke or Redis did not reply in time. */
  #state: 'asking' | 'known' | 'lost' = 'asking';
  #waiting: (() => void)[] = [];
  /** When the last message arrived, or when it became clear that there is no process. */
  #heardMs = 0;
  /** Ids of the processes that have sent a message since the last request. */
  readonly #answered = new Set<string>();
  /** Number of processes that received the last request; null until Redis has replied. */
  #asked: number | null = null;
  /** Number of the last request; results of earlier ones are ignored. */
  #round = 0;
  #isConnected = false;
  #deadline: NodeJS.Timeout | null = null;

  /** Starts to listen on the first call of `live`. */
  constructor(private readonly host: ProcessHost) {}

  /** Processes with a recent heartbeat. @throws StoreUnavailableError */
  async live(): Promise<ProcessBeat[]> {
    this.#subscription ??= this.#listen();
    this.#askAgain(this.#subscription);
    if (this.#state === 'asking') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#state === 'lost') throw new StoreUnavailableError('Redis: no heartbeat can be heard');
    const sinceMs = performance.now() - heartbeatLostMs;
    for (const [id, { atMs }] of this.#heard) if (atMs < sinceMs) this.#heard.delete(id);
    return [...this.#heard.values()].map(({ beat }) => beat);
  }

  /**
   * The metrics of all other processes; those that do not reply in time are left out.
   * @param except id of the calling process
   * @throws StoreUnavailableError
   */
  async metrics(except: string): Promise<MetricsText[]> {
    const missing = new Set((await this.live()).map(({ id }) => id).filter((id) => id !== except));
    if (missing.size === 0) return [];
    const { client, channels } = this.host;
    const replyTo = `${channels.asks}:${randomBytes(8).toString('hex')}`;
    const ask: ProcessAsk = { kind: 'metrics', replyTo, except };
    const texts = new Map<string, MetricsText>();
    return await new Promise((resolve, reject) => {
      const subscription = new Subscription(this.host, replyTo, {
        message: (text) => {
          const reply = JSON.parse(text) as MetricsText;
          texts.set(reply.process, reply);
          missing.delete(reply.process);
          if (missing.size === 0) end();
        },
        subscribed: () => void client.publish(channels.asks, JSON.stringify(ask)).catch(end),
      });
      const timer = setTimeout(() => end(), metricsWaitMs);
      const end = (error?: unknown) => {
        clearTimeout(timer);
        subscription.close();
        if (error === undefined) resolve([...texts.values()]);
        else reject(storeError(error));
      };
    });
  }

  close(): void {
    this.#isConnected = false;
    this.#subscription?.close();
    this.#become('lost');
  }

  /**
   * Asks again after silence: a process with a heartbeat receives at least its own, so either all processes are gone or the
   * connection is dead. Also asks again if Redis did not reply in time, because the connection may still be the same, so that
   * nothing else would ask.
   */
  #askAgain(subscription: Subscription): void {
    const isLost = this.#state === 'lost' && this.#isConnected;
    const isSilent = this.#state === 'known' && performance.now() - this.#heardMs > heartbeatLostMs;
    if (isLost) this.#excuseSilence();
    if (!isLost && !isSilent) return;
    void this.#ask(() => {
      this.#awaitConnection();
      this.#isConnected = false;
      subscription.renew();
    });
  }

  #listen(): Subscription {
    return new Subscription(this.host, this.host.channels.beats, {
      message: (text) => this.#hear(JSON.parse(text)),
      subscribed: () => {
        this.#isConnected = true;
        this.#excuseSilence();
        void this.#ask(() => this.#know());
      },
      lost: () => {
        // Failed attempts to connect are reported in the same way.
        if (this.#isConnected) this.#awaitConnection();
        else this.#become('lost');
        this.#isConnected = false;
      },
    });
  }

  /** A broken connection usually recovers quickly, so callers wait for it. */
  #awaitConnection(): void {
    this.#round += 1;
    this.#asked = null;
    this.#become('asking');
    this.#deadline = setTimeout(() => this.#become('lost'), answersWaitMs);
  }

  /** @param onSilence called if no process has answered in time */
  async #ask(onSilence: () => void): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    this.#answered.clear();
    this.#asked = null;
    this.#awaitAnswers(onSilence);
    try {
      const ask: ProcessAsk = { kind: 'who' };
      const asked = await publishToAll(this.host.client, this.host.channels.asks, JSON.stringify(ask));
      if (round !== this.#round) return;
      this.#asked = asked;
      // Redis delivered the request too late for replies to arrive in time.
      if (this.#state === 'lost' && this.#isConnected) this.#awaitAnswers(onSilence);
      this.#knowWhenAllAnswered();
    } catch {
      // The deadline will pass, and the next caller asks again.
    }
  }

  #awaitAnswers(onSilence: () => void): void {
    this.#become('asking');
    this.#deadline = setTimeout(() => {
      if (this.#answered.size > 0) this.#know();
      else if (this.#asked === null) this.#become('lost');
      else onSilence();
    }, answersWaitMs);
  }

  /** Missing heartbeats do not count while none can be received. */
  #excuseSilence(): void {
    const nowMs = performance.now();
    for (const heard of this.#heard.values()) {
      if (this.#heardMs - heard.atMs < heartbeatLostMs) heard.atMs = nowMs;
    }
  }

  #hear(news: ProcessNews): void {
    this.#heardMs = performance.now();
    if (news.kind === 'left') this.#heard.delete(news.id);
    else this.#heard.set(news.beat.id, { beat: news.beat, atMs: this.#heardMs });
    if (this.#state !== 'asking') return;
    this.#answered.add(news.kind === 'left' ? news.id : news.beat.id);
    this.#knowWhenAllAnswered();
  }

  #knowWhenAllAnswered(): void {
    if (this.#state === 'asking' && this.#asked !== null && this.#answered.size >= this.#asked) this.#know();
  }

  #know(): void {
    this.#heardMs = performance.now();
    this.#become('known');
  }

  #become(state: 'asking' | 'known' | 'lost'): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#deadline = null;
    this.#state = state;
    if (state === 'asking') return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
