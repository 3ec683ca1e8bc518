import { useEffect, useState } from 'preact/hooks';

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const moment = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

/** How often a relative time is updated. */
const everyMs = 30_000;

/** Relative time, with the exact time on hover. */
export function Time({ at }: { readonly at: string }) {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTurn((turn) => turn + 1), everyMs);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{at}</span>;
  return (
    <time dateTime={at} title={`${exact.format(date)} (${at})`}>
      {relativeText((date.getTime() - Date.now()) / 1000)}
    </time>
  );
}

/** A scheduled time, absolute and relative. */
export function Moment({ at }: { readonly at: string }) {
  return (
    <>
      {moment.format(new Date(at))} (<Time at={at} />)
    </>
  );
}

/** The date, with the exact time on hover. */
export function Day({ at }: { readonly at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${exact.format(date)} (${at})`}>
      {day.format(date)}
    </time>
  );
}

function relativeText(seconds: number): string {
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative.format(Math.round(seconds / length), unit);
}

const wholeNumbers = new Intl.NumberFormat('en');
const smallNumbers = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export function numberText(value: number): string {
  return (Math.abs(value) >= 100 ? wholeNumbers : smallNumbers).format(
    Math.abs(value) >= 100 ? Math.round(value) : value,
  );
}

const sizeUnits = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < sizeUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${numberText(value)} ${sizeUnits[unit]}`;
}

export function millisecondsText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${numberText(ms / 1000)} s` : `${numberText(ms / 60_000)} min`;
}

/** `3 views`, `1 view`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${numberText(count)} ${count === 1 ? singular : plural}`;
}
