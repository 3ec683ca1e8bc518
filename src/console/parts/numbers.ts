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
