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
  type ProcessBeat,
  type ProcessHost,
  type ProcessMessage,
  type ProcessRequest,
  publishToAll,
} from './process-messages.ts';

/** A live process has answered by then. */
const answersWaitMs = 1_000;

interface KnownProcess {
  readonly beat: ProcessBeat;
  atMs: number;
}

/** Processes with a recent heartbeat. @throws StoreUnavailableError */
export function liveProcesses(store: { readonly registry: Registry }): Promise<ProcessBeat[]> {
  return store.registry.live();
}

export class Registry {
  #subscription: Subscription | null = null;
  readonly #processes = new Map<string, KnownProcess>();
  /** `asking`: until all live processes should have answered. `lost`: the connection broke or Redis did not reply in time. */
  #state: 'asking' | 'known' | 'lost' = 'asking';
  #waiting: (() => void)[] = [];
  /** When the last message arrived, or when it became clear that there is no process. */
  #receivedMs = 0;
  /** Ids of the processes that have sent a message since the last request for heartbeats. */
  readonly #answered = new Set<string>();
  /** Number of processes that received the last request; null until Redis has replied. */
  #receivers: number | null = null;
  /** Number of the last request; results of earlier ones are ignored. */
  #round = 0;
  #isConnected = false;
  #deadline: NodeJS.Timeout | null = null;

  /** Starts to listen on the first call of `live`. */
  constructor(private readonly host: ProcessHost) {}

  /** Processes with a recent heartbeat. @throws StoreUnavailableError */
  async live(): Promise<ProcessBeat[]> {
    this.#subscription ??= this.#listen();
    this.#requestAgain(this.#subscription);
    if (this.#state === 'asking') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#state === 'lost') throw new StoreUnavailableError('Redis: no heartbeats can be received');
    const sinceMs = performance.now() - heartbeatLostMs;
    for (const [id, { atMs }] of this.#processes) if (atMs < sinceMs) this.#processes.delete(id);
    return [...this.#processes.values()].map(({ beat }) => beat);
  }

  /** Number of processes that received the last request for heartbeats, and have sent nothing since: they hang or were killed. */
  get silentCount(): number {
    return Math.max(0, (this.#receivers ?? 0) - this.#answered.size);
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
    const request: ProcessRequest = { kind: 'metrics', replyTo, except };
    const texts = new Map<string, MetricsText>();
    return await new Promise((resolve, reject) => {
      const subscription = new Subscription(this.host, replyTo, {
        message: (text) => {
          const reply = JSON.parse(text) as MetricsText;
          texts.set(reply.process, reply);
          missing.delete(reply.process);
          if (missing.size === 0) end();
        },
        subscribed: () => void client.publish(channels.asks, JSON.stringify(request)).catch(end),
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
  #requestAgain(subscription: Subscription): void {
    const isLost = this.#state === 'lost' && this.#isConnected;
    const isSilent = this.#state === 'known' && performance.now() - this.#receivedMs > heartbeatLostMs;
    if (isLost) this.#forgiveSilence();
    if (!isLost && !isSilent) return;
    void this.#request(() => {
      this.#awaitConnection();
      this.#isConnected = false;
      subscription.renew();
    });
  }

  #listen(): Subscription {
    return new Subscription(this.host, this.host.channels.beats, {
      message: (text) => this.#receive(JSON.parse(text)),
      subscribed: () => {
        this.#isConnected = true;
        this.#forgiveSilence();
        void this.#request(() => this.#settle());
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
    this.#receivers = null;
    this.#become('asking');
    this.#deadline = setTimeout(() => this.#become('lost'), answersWaitMs);
  }

  /** @param onSilence called if no process has answered in time */
  async #request(onSilence: () => void): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    this.#answered.clear();
    this.#receivers = null;
    this.#awaitAnswers(onSilence);
    try {
      const request: ProcessRequest = { kind: 'who' };
      const receivers = await publishToAll(
        this.host.client,
        this.host.channels.asks,
        JSON.stringify(request),
      );
      if (round !== this.#round) return;
      this.#receivers = receivers;
      // Redis delivered the request too late for replies to arrive in time.
      if (this.#state === 'lost' && this.#isConnected) this.#awaitAnswers(onSilence);
      this.#settleWhenAllAnswered();
    } catch {
      // The deadline will pass, and the next caller asks again.
    }
  }

  #awaitAnswers(onSilence: () => void): void {
    this.#become('asking');
    this.#deadline = setTimeout(() => {
      if (this.#answered.size > 0) this.#settle();
      else if (this.#receivers === null) this.#become('lost');
      else onSilence();
    }, answersWaitMs);
  }

  /** Missing heartbeats do not count while none can be received. */
  #forgiveSilence(): void {
    const nowMs = performance.now();
    for (const known of this.#processes.values()) {
      if (this.#receivedMs - known.atMs < heartbeatLostMs) known.atMs = nowMs;
    }
  }

  #receive(message: ProcessMessage): void {
    this.#receivedMs = performance.now();
    if (message.kind === 'left') this.#processes.delete(message.id);
    else this.#processes.set(message.beat.id, { beat: message.beat, atMs: this.#receivedMs });
    this.#answered.add(message.kind === 'left' ? message.id : message.beat.id);
    this.#settleWhenAllAnswered();
  }

  #settleWhenAllAnswered(): void {
    if (this.#state === 'asking' && this.#receivers !== null && this.#answered.size >= this.#receivers)
      this.#settle();
  }

  #settle(): void {
    this.#receivedMs = performance.now();
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
