/**
 * What connections may take of a front: all together a few files less than its process may open, and one with many requests
 * only a little of a turn of the event loop.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import {
  filesReserveMax,
  filesReserveMin,
  requestsPerLook,
  requestTurnMsMax,
} from '../../contract/limits.ts';
import type { Log } from '../log.ts';

/** The same log line is written at most this often. */
const sayEveryMs = 10_000;

/**
 * uWebSockets.js cannot deal with a process that may open no more files. It tries again and again to take the
 * connection that waits, which keeps a core busy, and the client learns nothing. So some room is left, and connections
 * beyond the limit are taken and closed immediately. Idle connections make room by themselves: the library closes them
 * after 10 s.
 */
export class ConnectionLimit {
  #open = 0;
  #saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly connectionsMax: number,
    private readonly log: Log,
  ) {}

  /** Connections that are open. */
  get open(): number {
    return this.#open;
  }

  /** Called by the library for each connection. @param change 1: it has come; -1: it is gone */
  changed(res: HttpResponse, change: number): void {
    this.#open += change;
    if (change < 0 || this.#open <= this.connectionsMax) return;
    this.#say();
    res.close();
  }

  #say(): void {
    const now = performance.now();
    if (now - this.#saidAtMs < sayEveryMs) return;
    this.#saidAtMs = now;
    this.log.warn(
      { open: this.connectionsMax },
      'connections are rejected because this process has reached its limit of open files: raise it (ulimit -n) or add fronts',
    );
  }
}

/** How many connections this process has room for, beside the files that it has open and may still need. */
export function connectionsMax(): number {
  const filesMax = filesMaxOfThisProcess();
  const reserve = Math.min(filesReserveMax, Math.max(filesReserveMin, filesMax / 10));
  return Math.max(1, Math.floor(filesMax - readdirSync('/dev/fd').length - reserve));
}

/**
 * Node has raised the limit as far as it may, and a process that it starts inherits the limit. Infinity where there is
 * none.
 */
function filesMaxOfThisProcess(): number {
  const text = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
}

/**
 * Notices when requests keep the event loop for long. uWebSockets.js reads up to 512 KB of a connection at a time and
 * calls us for every request in it. So thousands of pipelined requests would be answered before anybody else's first.
 */
export class LongTurns {
  /** Requests since the last look at the clock. */
  #requests = 0;
  /** When the clock was first looked at in this turn; null: not yet. */
  #startedMs: number | null = null;
  #isLong = false;

  /** Counts a request. @returns whether its answer must wait for the next turn of the event loop */
  isLong(): boolean {
    if (this.#isLong) return true;
    this.#requests += 1;
    if (this.#requests < requestsPerLook) return false;
    this.#requests = 0;
    return this.#look();
  }

  #look(): boolean {
    const nowMs = performance.now();
    if (this.#startedMs === null) {
      this.#startedMs = nowMs;
      setImmediate(() => this.#end());
    } else this.#isLong = nowMs - this.#startedMs >= requestTurnMsMax;
    return this.#isLong;
  }

  #end(): void {
    this.#startedMs = null;
    this.#isLong = false;
    this.#requests = 0;
  }
}
