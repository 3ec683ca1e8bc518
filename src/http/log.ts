/** The log of a process. It never contains keys, header values or bodies. */
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config/settings/table.ts';

export interface Log {
  /** False if `debug` writes nothing, so that callers can skip collecting its fields. */
  readonly writesDebug: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * @param name of the process: `web`
 * @param target receives each line as JSON; standard output by default
 */
export function createLog(name: string, level: LogLevel, target?: DestinationStream): Log {
  const options = { name, level, base: { name, pid: process.pid } };
  const log = target === undefined ? pino(options) : pino(options, target);
  return Object.assign(log, { writesDebug: log.isLevelEnabled('debug') });
}
