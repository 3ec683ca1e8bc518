/** Makes the lines of a log readable on a terminal. Elsewhere they stay JSON. */

/** The part of a terminal or a file that matters here. */
export interface LineTarget {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Turns one line of a log, or any other line, into text for people, without a line end. */
export type LogText = (line: string) => string;

/** The log's library begins each line so. Any other line of a process is left as it is. */
const logLinePattern = /^\{"level":\d+,"time":\d+,/;

/** True when output is to be coloured: on a terminal, unless NO_COLOR is set (no-color.org). */
export function hasColours({ isTTY }: Pick<LineTarget, 'isTTY'>): boolean {
  return isTTY === true && !process.env.NO_COLOR;
}

/** @returns null where no person reads along, so the lines stay JSON. The library is not even loaded then */
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
