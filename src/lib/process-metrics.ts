/** Prometheus metrics of one process. */
import { Counter, Gauge, Registry } from 'prom-client';

export class ProcessMetrics {
  readonly registry = new Registry();

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

  gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  gaugeBy<Label extends string>(labels: readonly Label[], name: string, help: string): Gauge<Label> {
    return new Gauge({ name, help, labelNames: labels, registers: [this.registry] });
  }

  /** A gauge that reads its value when the metrics are collected. */
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

  /** Like `gaugeOf`, with a value for each value of a label. */
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
        for (const [value, number] of read()) this.set({ [label]: value }, number);
      },
    });
  }

  /** Like `gaugeOf`, with a value for each partition, in order. */
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
