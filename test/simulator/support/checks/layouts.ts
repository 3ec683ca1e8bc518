/**
 * Invariants after every script that changes the lookup layouts: their version never decreases, an earlier layout that is still
 * stored is not replaced, and every worker that owns a partition reads a stored layout.
 */
import assert from 'node:assert/strict';
import type { Configuration } from '../../../../src/config/configuration.ts';
import type { LookupLayout } from '../../../../src/schemas/lookup-layout.ts';
import { unpack } from '../../../../src/store/codec/pack.ts';
import type { LayoutStates } from '../../../../src/store/configuration/layouts.ts';
import { keys } from '../../../../src/store/keys.ts';
import type { Keyspace } from '../redis/keyspace.ts';

/** A worker, and its state. */
export interface LayoutReader {
  readonly id: string;
  readonly layouts: LayoutStates;
  readonly current: Configuration;
}

/** Layout ids by source field. */
type LayoutIds = ReadonlyMap<string, string>;

const changing = new Set(['fill', 'retire', 'publish']);

export class LayoutsCheck {
  #version = 0;
  /** Layouts that lookups read, and previous layouts that are still stored. */
  #whole: LayoutIds = new Map();
  #former: LayoutIds = new Map();

  constructor(
    private readonly keyspace: Keyspace,
    private readonly tags: readonly string[],
    private readonly readers: () => readonly LayoutReader[],
  ) {}

  /** @throws AssertionError */
  afterScript(name: string): void {
    if (!changing.has(name)) return;
    const version = Number(this.keyspace.hash(keys.layouts).get('version') ?? 0);
    assert.ok(version >= this.#version, `version of the layouts went from ${this.#version} to ${version}`);
    if (version === this.#version) return;
    const [whole, former] = [this.#stored('r|'), this.#stored('b|')];
    for (const [source, id] of this.#former) {
      assert.ok([id, undefined].includes(former.get(source)), `the former layout of ${source} is replaced`);
    }
    for (const reader of this.#owners()) {
      for (const source of new Set([...this.#whole.keys(), ...whole.keys()])) {
        checkReader(reader, source, this.#whole.get(source), whole.get(source), former.get(source));
      }
    }
    this.#version = version;
    this.#whole = whole;
    this.#former = former;
  }

  /** To be called when no work is left. @throws AssertionError */
  checkSettled(generation: number): void {
    for (const [field, value] of this.keyspace.hash(keys.layouts)) {
      assert.ok(!field.startsWith('b|'), `${field} is still kept`);
      assert.ok(!field.startsWith('f|') || Number(value) !== generation, `${field} is still noted as filled`);
    }
  }

  #stored(prefix: string): LayoutIds {
    const fields = [...this.keyspace.hash(keys.layouts)].filter(([field]) => field.startsWith(prefix));
    return new Map(
      fields.map(([field, packed]) => [
        field.slice(prefix.length),
        unpack<LookupLayout>(Buffer.from(packed, 'latin1')).id,
      ]),
    );
  }

  #owners(): LayoutReader[] {
    const ids = new Set(this.tags.map((tag) => this.keyspace.hash(keys.owner(tag)).get('worker')));
    return this.readers().filter(({ id }) => ids.has(id));
  }
}

function checkReader(
  { id, layouts, current }: LayoutReader,
  source: string,
  before: string | undefined,
  whole: string | undefined,
  former: string | undefined,
): void {
  const [tenant = '', sourceId = ''] = source.split('|');
  const read = layouts.completeOf({ tenant, sourceId })?.id;
  assert.ok(
    read === undefined || read === whole || read === former,
    `${id} reads a layout of ${source} that nobody keeps`,
  );
  if (whole === before || whole === undefined) return;
  const wanted = current.tenants.get(tenant)?.lookupLayouts.get(sourceId)?.id;
  assert.equal(wanted, whole, `lookups over ${source} read a layout that ${id} does not keep`);
}
