/**
 * The network between the simulated processes and Redis. Each process connects to its own host name, so that a fault can
 * affect a single process: its connections break, data in flight arrives or is lost, or all data is delayed, as for a
 * paused process.
 */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Dice } from '../../../support/dice.ts';
import type { VirtualClock } from '../clock.ts';
import { installCodec, type Words } from './client-library.ts';
import type { Reply } from './reply.ts';

/** The server side of a connection. */
export interface Service {
  receive(commands: readonly Words[]): void;
  close(): void;
}

/** Called for each new connection, with a function that sends replies to the process. */
export type Accept = (send: (replies: readonly Reply[]) => void) => Service;

const hostSuffix = '.simulated';
const latencyMaxMs = 3;
/** Data of a broken connection arrives up to this much later. */
const heldMsMax = 400;
const require = createRequire(import.meta.url);

export class Network {
  readonly #links = new Map<string, Set<Link>>();
  /** Stalled hosts, with the time when data flows again. */
  readonly #stalledUntilMs = new Map<string, number>();
  #calmFromMs = 0;
  #isDown = false;
  readonly #gone = new Set<string>();

  constructor(
    private readonly clock: VirtualClock,
    private readonly dice: Dice,
    private readonly accept: Accept,
  ) {}

  urlOf(host: string): string {
    return `redis://${host}${hostSuffix}:6379`;
  }

  /** Replaces `net.createConnection` and the wire protocol. @returns restores them */
  install(): () => void {
    const net = require('node:net') as { createConnection: unknown };
    const former = net.createConnection;
    net.createConnection = ({ host }: { host: string }) => this.#connect(host.slice(0, -hostSuffix.length));
    const restoreCodec = installCodec();
    return () => {
      net.createConnection = former;
      restoreCodec();
    };
  }

  /** Cuts off a dead process: nothing that it does from now on has an effect. */
  remove(host: string): void {
    this.#gone.add(host);
    this.breakLinks(host);
  }

  breakLinks(host: string): void {
    for (const link of [...(this.#links.get(host) ?? [])]) link.break();
  }

  /** Redis goes down: all connections break, and new ones are refused until `up`. */
  down(): void {
    this.#isDown = true;
    for (const links of this.#links.values()) for (const link of [...links]) link.break(false);
  }

  up(): void {
    this.#isDown = false;
  }

  /** Delays all data of the process for a while. */
  stall(host: string, forMs: number): void {
    const untilMs = this.clock.nowMs + forMs;
    this.#stalledUntilMs.set(host, untilMs);
    this.#calmFromMs = Math.max(this.#calmFromMs, untilMs);
  }

  /** Like `stall`, for one connection of the process, so that data on its other connections arrives first. */
  stallOneLink(host: string, forMs: number): void {
    const links = [...(this.#links.get(host) ?? [])];
    const untilMs = this.clock.nowMs + forMs;
    links[this.dice.below(Math.max(1, links.length))]?.stall(untilMs);
    this.#calmFromMs = Math.max(this.#calmFromMs, untilMs);
  }

  /** When data flows again. */
  get calmFromMs(): number {
    return Math.max(this.clock.nowMs, this.#calmFromMs);
  }

  #connect(host: string): Link {
    const link = new Link(
      {
        clock: this.clock,
        dice: this.dice,
        stalledUntilMs: () => this.#stalledUntilMs.get(host) ?? 0,
        hold: (untilMs) => {
          this.#calmFromMs = Math.max(this.#calmFromMs, untilMs);
        },
      },
      () => this.#links.get(host)?.delete(link),
    );
    const links = this.#links.get(host) ?? new Set();
    this.#links.set(host, links.add(link));
    link.open(() => (this.#isDown || this.#gone.has(host) ? null : this.accept));
    return link;
  }
}

interface Cable {
  readonly clock: VirtualClock;
  readonly dice: Dice;
  stalledUntilMs(): number;
  /** Notes that data may arrive until then. */
  hold(untilMs: number): void;
}

/** One connection, as the client library sees a socket. */
class Link extends EventEmitter {
  writable = true;
  connecting = true;
  destroyed = false;
  #service: Service | null = null;
  /** Data in flight to Redis, in order. */
  readonly #sent: Words[][] = [];
  /** When the last data was sent. */
  #sentAtMs = 0;
  #sentUntilMs = 0;
  #receivedUntilMs = 0;
  #stalledUntilMs = 0;

  constructor(
    private readonly cable: Cable,
    private readonly onClosed: () => void,
  ) {
    super();
  }

  stall(untilMs: number): void {
    this.#stalledUntilMs = untilMs;
  }

  /** Latency of data sent now. */
  #travelMs(): number {
    const { clock, dice, stalledUntilMs } = this.cable;
    const stalledMs = Math.max(0, stalledUntilMs() - clock.nowMs, this.#stalledUntilMs - clock.nowMs);
    return stalledMs + dice.below(latencyMaxMs * 10) / 10;
  }

  open(accept: () => Accept | null): void {
    this.cable.clock.after(this.#travelMs(), () => {
      if (this.destroyed) return;
      const accepted = accept();
      if (accepted === null) {
        this.emit('error', new Error('connect ECONNREFUSED'));
        this.destroy();
        return;
      }
      this.connecting = false;
      this.#service = accepted((replies) => this.#reply(replies));
      this.emit('connect');
    });
  }

  cork(): void {}

  uncork(): void {}

  /** Data written at the same time usually arrives together, but not always, as on a real network. */
  write(command: Words): boolean {
    if (this.destroyed) return false;
    const { clock, dice } = this.cable;
    const last = this.#sent.at(-1);
    if (last !== undefined && this.#sentAtMs === clock.nowMs && dice.chance(80)) {
      last.push(command);
      return true;
    }
    this.#sent.push([command]);
    this.#sentAtMs = clock.nowMs;
    this.#sentUntilMs = Math.max(this.#sentUntilMs, clock.nowMs + this.#travelMs());
    clock.after(this.#sentUntilMs - clock.nowMs, () => {
      const arrived = this.#sent.shift();
      if (arrived !== undefined) this.#service?.receive(arrived);
    });
    return true;
  }

  #reply(replies: readonly Reply[]): void {
    this.#receivedUntilMs = Math.max(this.#receivedUntilMs, this.cable.clock.nowMs + this.#travelMs());
    this.cable.clock.after(this.#receivedUntilMs - this.cable.clock.nowMs, () => {
      if (!this.destroyed) this.emit('data', replies);
    });
  }

  /**
   * Some of the data in flight to Redis still arrives, in order, and some of the rest arrives much later. No reply is received.
   * @param mayHold false if nothing can arrive any more
   */
  break(mayHold = true): void {
    const { clock, dice } = this.cable;
    const arriving = this.#sent.splice(0, dice.below(this.#sent.length + 1));
    const held = this.#sent.splice(0);
    const service = this.#service;
    this.destroy();
    for (const commands of arriving) service?.receive(commands);
    service?.close();
    if (!mayHold || held.length === 0 || dice.chance(50)) return;
    const heldMs = dice.below(heldMsMax);
    this.cable.hold(clock.nowMs + heldMs);
    clock.after(heldMs, () => {
      for (const commands of held) service?.receive(commands);
    });
  }

  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.writable = false;
    this.connecting = false;
    const service = this.#service;
    this.#service = null;
    this.onClosed();
    this.cable.clock.after(0, () => {
      service?.close();
      this.emit('close');
    });
    return this;
  }

  /** Data in flight arrives before the end of the connection. */
  end(): this {
    this.writable = false;
    this.cable.clock.after(Math.max(0, this.#sentUntilMs - this.cable.clock.nowMs), () => this.destroy());
    return this;
  }

  resume(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }
}
