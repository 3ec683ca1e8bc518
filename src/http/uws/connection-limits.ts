/**
 * Limits for connections: their number stays below the limit of open files, and one connection with many requests gets only a
 * short part of a turn of the event loop.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import {
  filesReserveMax,
  filesReserveMin,
  requestsPerClockCheck,
  requestTurnMsMax,
} from '../../contract/limits.ts';
import type { Log } from '../log.ts';

/** Shortest interval between two equal log lines. */
const logEveryMs = 10_000;

/**
 * uWebSockets.js cannot handle a process that has reached its limit of open files: it retries accepting the waiting connection
 * in a busy loop, and the client gets no error. So some files are reserved, and connections beyond the limit are accepted and
 * closed immediately. The library closes idle connections after 10 s, which makes room for others.
 */
export class ConnectionLimit {
  #open = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly connectionsMax: number,
    private readonly log: Log,
  ) {}

  /** Number of open connections. */
  get open(): number {
    return this.#open;
  }

  /** Called by the library for each connection. @param change 1 if it was opened, -1 if it was closed */
  onChange(res: HttpResponse, change: number): void {
    this.#open += change;
    if (change < 0 || this.#open <= this.connectionsMax) return;
    this.#logLimit();
    res.close();
  }

  #logLimit(): void {
    const now = performance.now();
    if (now - this.#loggedAtMs < logEveryMs) return;
    this.#loggedAtMs = now;
    this.log.warn(
      { open: this.connectionsMax },
      'connections are rejected because this process has reached its limit of open files: raise it (ulimit -n) or add fronts',
    );
  }
}

/** Number of connections that this process can have, besides the files that it has open and may still need. */
export function connectionsMax(): number {
  const filesMax = filesMaxOfThisProcess();
  const reserve = Math.min(filesReserveMax, Math.max(filesReserveMin, filesMax / 10));
  return Math.max(1, Math.floor(filesMax - readdirSync('/dev/fd').length - reserve));
}

/** Node has already raised the soft limit to the maximum, and child processes inherit it. Infinity if there is no limit. */
function filesMaxOfThisProcess(): number {
  const text = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
}

/**
 * Detects when requests occupy the event loop for too long. uWebSockets.js reads up to 512 KB of a connection at a time and
 * calls the handler of every request in it. So thousands of pipelined requests would be answered before the first one of any
 * other connection.
 */
export class LongTurns {
  /** Requests since the last check of the clock. */
  #requests = 0;
  /** Time of the first check in this turn; null before it. */
  #startedMs: number | null = null;
  #isLong = false;

  /** Counts a request. @returns whether its response must wait for the next turn of the event loop */
  isLong(): boolean {
    if (this.#isLong) return true;
    this.#requests += 1;
    if (this.#requests < requestsPerClockCheck) return false;
    this.#requests = 0;
    return this.#checkClock();
  }

  #checkClock(): boolean {
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
