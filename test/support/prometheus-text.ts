/**
 * Parses Prometheus' text format 0.0.4 as strictly as its server does, and more: it throws for anything that Prometheus would
 * reject or store wrongly.
 */
import assert from 'node:assert/strict';

export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*/;
const types = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);
const endings: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * @returns families by name
 * @throws AssertionError that names the line
 */
export function parsePrometheusText(text: string): Map<string, MetricFamily> {
  assert.ok(text.endsWith('\n'), 'the last line ends with a line feed');
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  const series = new Set<string>();
  let current = '';
  const open = (name: string, line: string) => {
    const known = families.get(name);
    assert.ok(known === undefined || current === name, `${name} is in two groups: ${line}`);
    current = name;
    const family = known ?? { type: '', help: '', samples: [] };
    families.set(name, family);
    return family;
  };
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      const family = open(name, line);
      assert.equal(family.samples.length, 0, `after its samples: ${line}`);
      if (kind === 'HELP') {
        assert.equal(family.help, '', `a second help: ${line}`);
        family.help = rest;
      } else {
        assert.ok(family.type === '' && types.has(rest), line);
        family.type = rest;
      }
      continue;
    }
    assert.ok(
      line !== '' && !line.startsWith('#'),
      `neither a comment nor a sample: ${JSON.stringify(line)}`,
    );
    const sample = parseSample(line);
    const family = families.get(current);
    assert.ok(family !== undefined && family.type !== '' && family.help !== '', `no help and type: ${line}`);
    const names = (endings[family.type] ?? ['']).map((ending) => current + ending);
    assert.ok(names.includes(sample.name), `not of ${current}: ${line}`);
    const identity = JSON.stringify([sample.name, [...sample.labels].sort()]);
    assert.ok(!series.has(identity), `duplicate series: ${line}`);
    series.add(identity);
    family.samples.push(sample);
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family);
  return families;
}

function parseSample(line: string): Sample {
  const name = metricName.exec(line)?.[0] ?? '';
  assert.notEqual(name, '', line);
  const labels = new Map<string, string>();
  let rest = line.slice(name.length);
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    while (!rest.startsWith('}')) {
      const label = labelName.exec(rest)?.[0] ?? '';
      const value = /^="((?:[^"\\\n]|\\["\\n])*)"/.exec(rest.slice(label.length));
      assert.ok(label !== '' && value !== null, `invalid label: ${line}`);
      assert.ok(!labels.has(label), `the label ${label} is not unique: ${line}`);
      labels.set(label, value[1] ?? '');
      rest = rest.slice(label.length + value[0].length);
      assert.ok(rest.startsWith(',') || rest.startsWith('}'), line);
      if (rest.startsWith(',')) rest = rest.slice(1);
    }
    rest = rest.slice(1);
  }
  const [, number = ''] = /^ (\S+)$/.exec(rest) ?? [];
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number);
  assert.ok(number !== '' && (number === 'NaN' || !Number.isNaN(value)), `not a number: ${line}`);
  return { name, labels, value };
}

/** Buckets increase, end with +Inf, and that equals the count. */
function checkHistogram(name: string, { samples }: { readonly samples: readonly Sample[] }): void {
  const bySeries = new Map<string, { buckets: [number, number][]; count: number | null }>();
  for (const { name: sampleName, labels, value } of samples) {
    const others = JSON.stringify([...labels].filter(([label]) => label !== 'le').sort());
    const one = bySeries.get(others) ?? { buckets: [], count: null };
    bySeries.set(others, one);
    const le = labels.get('le');
    if (sampleName === `${name}_bucket`) one.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
    if (sampleName === `${name}_count`) one.count = value;
  }
  for (const [which, { buckets, count }] of bySeries) {
    const sorted = buckets.toSorted(([a], [b]) => a - b);
    assert.equal(sorted.at(-1)?.[0], Infinity, `${name}${which} has no bucket +Inf`);
    assert.equal(sorted.at(-1)?.[1], count, `${name}${which}: the last bucket is not the count`);
    sorted.forEach(([, value], at) => {
      assert.ok(at === 0 || value >= (sorted[at - 1]?.[1] ?? 0), `${name}${which} falls`);
    });
  }
}
