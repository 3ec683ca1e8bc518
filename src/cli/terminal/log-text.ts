/** What a terminal shows of a log whose lines are JSON elsewhere. */

/** A terminal or a file, as far as it matters here. */
export interface LineTarget {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Makes one line of a log, or any other line, what a person reads; without its end. */
export type LogText = (line: string) => string;

/** How the log's library begins each line; whatever else a process writes is left as it is. */
const logLinePattern = /^\{"level":\d+,"time":\d+,/;

/** Whether to colour what is written there: on a terminal, unless NO_COLOR says otherwise (no-color.org). */
export function hasColours({ isTTY }: Pick<LineTarget, 'isTTY'>): boolean {
  return isTTY === true && !process.env.NO_COLOR;
}

/** @returns null where the lines stay JSON, because no person reads along: the library is not even loaded then */
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
