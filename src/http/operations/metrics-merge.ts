/**
 * Merges the metrics of several processes into one Prometheus text, grouped by metric. Each sample gets the labels
 * `process` and `role`, which no metric has itself.
 */

import type { MetricsText } from '../../store/processes/process-messages.ts';

interface Family {
  readonly comments: string[];
  readonly samples: string[];
}

const commentPattern = /^# (?:HELP|TYPE) (\S+)/;
const samplePattern = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (.+)$/;
/** Suffixes that samples of histograms and summaries add to the name of their metric. */
const sampleEnding = /_(?:bucket|sum|count)$/;

/** Merges all parts; '' if they have no metrics. */
export function mergeMetrics(parts: readonly MetricsText[]): string {
  const families = new Map<string, Family>();
  for (const part of parts) addText(families, part);
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function addText(families: Map<string, Family>, { process, role, text }: MetricsText): void {
  const own = `process=${JSON.stringify(process)},role=${JSON.stringify(role)}`;
  for (const line of text.split('\n')) {
    const commented = commentPattern.exec(line)?.[1];
    if (commented !== undefined) {
      const { comments } = familyOf(families, commented);
      if (comments.length < 2 && !comments.includes(line)) comments.push(line);
      continue;
    }
    const [, name, labels, value] = samplePattern.exec(line) ?? [];
    // The library writes an empty mean as `Nan`, which is invalid in the format.
    if (name === undefined || value === undefined || value === 'Nan') continue;
    const base = name.replace(sampleEnding, '');
    const family = familyOf(families, families.has(base) ? base : name);
    const all = labels === undefined || labels === '' ? '' : `,${labels}`;
    family.samples.push(`${name}{${own}${all}} ${value}`);
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const family = { comments: [], samples: [] };
  families.set(name, family);
  return family;
}
