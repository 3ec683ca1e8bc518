/** The log of a process: JSON lines on standard output, without keys, header values and bodies. */
import { pino } from 'pino';
import type { LogLevel } from '../config/settings.ts';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** @param name of the process: `web` */
export function createLog(name: string, level: LogLevel): Log {
  return pino({ name, level, base: { name, pid: process.pid } });
}
