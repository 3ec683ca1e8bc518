/** Joins the metrics of several processes into one Prometheus text: one group per metric, a `process` label on each sample. */

export interface ProcessMetrics {
  /** Value of the label. */
  readonly process: string;
  /** Prometheus text form. */
  readonly text: string;
}

interface Family {
  readonly comments: string[];
  readonly samples: string[];
}

const commentPattern = /^# (?:HELP|TYPE) (\S+)/;
const samplePattern = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (.+)$/;
/** Samples of a histogram or summary belong to the metric without these endings. */
const sampleEnding = /_(?:bucket|sum|count)$/;

export function mergeMetrics(parts: readonly ProcessMetrics[]): string {
  const families = new Map<string, Family>();
  for (const { process, text } of parts) addText(families, process, text);
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function addText(families: Map<string, Family>, process: string, text: string): void {
  for (const line of text.split('\n')) {
    const commented = commentPattern.exec(line)?.[1];
    if (commented !== undefined) {
      const { comments } = familyOf(families, commented);
      if (comments.length < 2 && !comments.includes(line)) comments.push(line);
      continue;
    }
    const [, name, labels, value] = samplePattern.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const base = name.replace(sampleEnding, '');
    const family = familyOf(families, families.has(base) ? base : name);
    const all = labels === undefined || labels === '' ? '' : `,${labels}`;
    family.samples.push(`${name}{process=${JSON.stringify(process)}${all}} ${value}`);
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const family = { comments: [], samples: [] };
  families.set(name, family);
  return family;
}
