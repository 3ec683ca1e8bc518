import type { Column } from '../columns/column.ts';
import type { TextScale } from '../shard-answer.ts';
import { DocTable } from './doc-table.ts';
import type { Field } from './field.ts';

/** The docs of a shard, and its fields by name. A built-in name comes before a field with the same name. */
export class Tables {
  readonly docs = new DocTable();
  readonly fields = new Map<string, Field>();

  /** Estimated bytes of memory. */
  get bytes(): number {
    let { bytes } = this.docs;
    for (const field of this.fields.values()) bytes += field.bytes;
    return bytes;
  }

  /** The column of a field; undefined when no doc has the field. */
  column(name: string): Column | undefined {
    return this.docs.builtIn(name) ?? this.fields.get(name)?.column;
  }

  /** How texts of the field are compared in facets. */
  scaleOf(name: string): TextScale | undefined {
    const kind = this.docs.builtIn(name) === undefined ? this.fields.get(name)?.traits.kind : undefined;
    return kind === 'long' || kind === 'date' ? kind : undefined;
  }
}
