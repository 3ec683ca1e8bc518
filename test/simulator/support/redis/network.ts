/**
 * The network between the simulated processes and their Redis. A process connects to a host of its own name, so a fault
 * can strike one process alone: its connections break, what is under way is done or lost, or nothing comes through for
 * a while, as for a process that is paused.
 */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Dice } from '../../../support/dice.ts';
import type { VirtualClock } from '../clock.ts';
import { installCodec, type Words } from './client-library.ts';
import type { Reply } from './reply.ts';

/** What answers a connection. */
export interface Service {
  receive(commands: readonly Words[]): void;
  close(): void;
}

/** Called for each new connection; what it sends goes back to the process. */
export type Accept = (send: (replies: readonly Reply[]) => void) => Service;

const hostSuffix = '.simulated';
const latencyMaxMs = 3;
const require = createRequire(import.meta.url);

export class Network {
  readonly #links = new Map<string, Set<Link>>();
  /** Hosts through whose cable nothing comes before a time. */
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

  /** Takes the place of `net.createConnection` and of the wire protocol. @returns puts them back */
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

  /** The process is no more: nothing that it does from now on reaches anybody. */
  remove(host: string): void {
    this.#gone.add(host);
    this.breakLinks(host);
  }

  breakLinks(host: string): void {
    for (const link of [...(this.#links.get(host) ?? [])]) link.break();
  }

  /** As when Redis ends: no connection stays, and none is taken until `up`. */
  down(): void {
    this.#isDown = true;
    for (const host of this.#links.keys()) this.breakLinks(host);
  }

  up(): void {
    this.#isDown = false;
  }

  /** Nothing of the process comes through for a while. */
  stall(host: string, forMs: number): void {
    const untilMs = this.clock.nowMs + forMs;
    this.#stalledUntilMs.set(host, untilMs);
    this.#calmFromMs = Math.max(this.#calmFromMs, untilMs);
  }

  /** As `stall`, of one connection of the process: what it sends on the others overtakes. */
  stallOneLink(host: string, forMs: number): void {
    const links = [...(this.#links.get(host) ?? [])];
    const untilMs = this.clock.nowMs + forMs;
    links[this.dice.below(Math.max(1, links.length))]?.stall(untilMs);
    this.#calmFromMs = Math.max(this.#calmFromMs, untilMs);
  }

  /** When everything comes through again. */
  get calmFromMs(): number {
    return Math.max(this.clock.nowMs, this.#calmFromMs);
  }

  #connect(host: string): Link {
    const link = new Link(
      {
        clock: this.clock,
        dice: this.dice,
        stalledUntilMs: () => this.#stalledUntilMs.get(host) ?? 0,
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
}

/** One connection, as the client library sees a socket. */
class Link extends EventEmitter {
  writable = true;
  connecting = true;
  destroyed = false;
  #service: Service | null = null;
  /** What is under way to Redis, in order. */
  readonly #sent: Words[][] = [];
  /** When the last of it was sent. */
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

  /** How long what is sent now is under way. */
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

  /** What is written at one moment mostly arrives together; as on a real network it need not. */
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

  /** Of what was under way to Redis some still arrives, in order; no answer comes back. */
  break(): void {
    const arriving = this.#sent.splice(0, this.cable.dice.below(this.#sent.length + 1));
    this.#sent.length = 0;
    const service = this.#service;
    this.destroy();
    for (const commands of arriving) service?.receive(commands);
    service?.close();
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

  /** What is under way arrives before the end does. */
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
