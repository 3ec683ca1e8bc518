const escapePattern = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const closingPattern = /^(?:#|ℹ) (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/;

/** Adds up the closing lines of several runs of node's test runner. */
export class Totals {
  private readonly sums = new Map<string, number>();
  private tail = '';

  /** Takes the next piece of a run's output. */
  read(text: string): void {
    const lines = (this.tail + text).split('\n');
    this.tail = lines.pop() ?? '';
    for (const line of lines) this.readLine(line);
  }

  endRun(): void {
    this.readLine(this.tail);
    this.tail = '';
  }

  /** The sums, written as the test runner writes its own. */
  lines(): string {
    return [...this.sums].map(([name, sum]) => `ℹ ${name} ${Math.round(sum)}`).join('\n');
  }

  private readLine(line: string): void {
    const [, name, count] = closingPattern.exec(line.replace(escapePattern, '').trim()) ?? [];
    if (name !== undefined) this.sums.set(name, (this.sums.get(name) ?? 0) + Number(count));
  }
}
