/** Formats log lines for a terminal. In files and pipes they stay JSON. */

/** The used members of an output stream. */
export interface LineTarget {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Formats a log line; returns any other line unchanged. */
export type LogText = (line: string) => string;

/** Beginning of each line of the logger. */
const logLinePattern = /^\{"level":\d+,"time":\d+,/;

/** True for a terminal, unless NO_COLOR is set (no-color.org). */
export function hasColours({ isTTY }: Pick<LineTarget, 'isTTY'>): boolean {
  return isTTY === true && !process.env.NO_COLOR;
}

/** @returns null if the target is not a terminal; the library is not loaded then */
export async function logTextFor(target: LineTarget): Promise<LogText | null> {
  if (target.isTTY !== true) return null;
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: hasColours(target),
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,name',
    singleLine: true,
  });
  return (line) => (logLinePattern.test(line) ? pretty(line).trimEnd() : line);
}
