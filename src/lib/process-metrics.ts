/** Prometheus metrics of one process. */
import { Counter, Gauge, Registry } from 'prom-client';

export class ProcessMetrics {
  readonly registry = new Registry();

  /** Only ever grows. */
  counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.registry] });
  }

  counterBy<Label extends string>(labels: readonly Label[], name: string, help: string): Counter<Label> {
    return new Counter({ name, help, labelNames: labels, registers: [this.registry] });
  }

  /** A counter with its value elsewhere, read together with the metrics. */
  countOf(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Goes up and down. */
  gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  gaugeBy<Label extends string>(labels: readonly Label[], name: string, help: string): Gauge<Label> {
    return new Gauge({ name, help, labelNames: labels, registers: [this.registry] });
  }

  /** A value that is read when the metrics are. */
  gaugeOf(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** As `gaugeOf`, one value for each value of a label. */
  gaugeOfEach(
    label: string,
    name: string,
    help: string,
    read: () => readonly (readonly [string, number])[],
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [value, figure] of read()) this.set({ [label]: value }, figure);
      },
    });
  }

  /** As `gaugeOf`, one value for each partition, in their order. */
  gaugeOfPartitions(name: string, help: string, read: () => readonly number[]): void {
    new Gauge({
      name,
      help,
      labelNames: ['partition'],
      registers: [this.registry],
      collect() {
        for (const [partition, value] of read().entries()) this.set({ partition }, value);
      },
    });
  }

  /** In the Prometheus text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
