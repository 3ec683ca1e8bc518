/** Sends the heartbeat of a process, with its state: every second, and when another process asks. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { platformVersion } from '../../config/settings/platform-version.ts';
import { Subscription } from '../redis/subscription.ts';
import type {
  MetricsText,
  ProcessBeat,
  ProcessHost,
  ProcessMessage,
  ProcessRequest,
  Role,
} from './process-messages.ts';

export const heartbeatMs = 1000;
/** Requests within this time get one common reply. */
const answerMs = 5;

/** A name for this process. Unlike its pid, none of its successors has it. */
export function newProcessId(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}

/** What the heartbeats of all processes say alike. */
export function beatOf(
  id: string,
  role: Role,
): Pick<ProcessBeat, 'id' | 'role' | 'host' | 'pid' | 'version'> {
  return { id, role, host: hostname(), pid: process.pid, version: platformVersion };
}

export interface HeartbeatSource {
  /** The state of the process; null to send nothing, because the process counts as dead. */
  beat(): ProcessBeat | null;
  /** Metrics in the Prometheus text format, collected on request. */
  metrics(): Promise<string>;
}

export class Heartbeat {
  readonly #subscription: Subscription;
  readonly #timer: NodeJS.Timeout;
  #answering: NodeJS.Timeout | null = null;

  /** Starts immediately. A lost beat is made up for by the next one. */
  constructor(
    private readonly host: ProcessHost,
    private readonly source: HeartbeatSource,
  ) {
    this.#subscription = new Subscription(host, host.channels.asks, {
      message: (text) => this.#answer(JSON.parse(text)),
      subscribed: () => this.send(),
    });
    this.#timer = setInterval(() => this.send(), heartbeatMs);
    this.send();
  }

  /** Sends a beat now. */
  send(): void {
    const beat = this.source.beat();
    if (beat !== null) this.#publish({ kind: 'beat', beat }).catch(() => {});
  }

  /** Stops, and announces that the process has ended. */
  async close(): Promise<void> {
    const beat = this.source.beat();
    this.stopSilently();
    // Without a connection, publishing would wait for one.
    if (beat !== null && this.host.client.status === 'ready')
      await this.#publish({ kind: 'left', id: beat.id }).catch(() => {});
  }

  /** Stops without an announcement, as when a process is killed. */
  stopSilently(): void {
    clearInterval(this.#timer);
    if (this.#answering !== null) clearTimeout(this.#answering);
    this.#subscription.close();
  }

  #answer(ask: ProcessRequest): void {
    if (ask.kind === 'metrics') this.#sendMetrics(ask).catch(() => {});
    else
      this.#answering ??= setTimeout(() => {
        this.#answering = null;
        this.send();
      }, answerMs);
  }

  async #sendMetrics({ replyTo, except }: Extract<ProcessRequest, { kind: 'metrics' }>): Promise<void> {
    const beat = this.source.beat();
    if (beat === null || beat.id === except) return;
    const { id, role } = beat;
    const reply: MetricsText = { process: id, role, text: await this.source.metrics() };
    await this.host.client.publish(replyTo, JSON.stringify(reply));
  }

  async #publish(news: ProcessMessage): Promise<void> {
    await this.host.client.publish(this.host.channels.beats, JSON.stringify(news));
  }
}
