/** The log of a process. Its lines never hold keys, header values or bodies. */
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config/settings/table.ts';

export interface Log {
  /** False when `debug` writes nothing. Then nothing should be gathered for it. */
  readonly writesDebug: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * @param name of the process: `web`
 * @param target takes each line, which is JSON; absent: standard output
 */
export function createLog(name: string, level: LogLevel, target?: DestinationStream): Log {
  const options = { name, level, base: { name, pid: process.pid } };
  const log = target === undefined ? pino(options) : pino(options, target);
  return Object.assign(log, { writesDebug: log.isLevelEnabled('debug') });
}
