/** Field types of the auto-indexed entity types in a batch. */

import { autoFieldsMax, shardSliceMs } from '../../contract/limits.ts';
import { groupBy } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { recordShown, shownFields } from '../../search/fields/infer.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import type { Output } from './output.ts';

type FieldTypes = ReadonlyMap<string, FieldType>;

const noTypes: FieldTypes = new Map();

export class AutoTypes {
  private constructor(private readonly types: ReadonlyMap<string, FieldTypes>) {}

  /** Decides the types of fields that are new in the outputs, or have values of another type. @throws StoreUnavailableError */
  static decide(autoFields: AutoFields, outputs: readonly Output[]): Promise<AutoTypes> {
    return AutoTypes.#of(outputs, async (tenant, sourceId, type, ofType) => {
      const known = autoFields.known(tenant, sourceId, type);
      return autoFields.decide(tenant, sourceId, type, await candidatesOf(ofType, known));
    });
  }

  /** Reads the types that have been decided, and decides none. @throws StoreUnavailableError */
  static read(autoFields: AutoFields, outputs: readonly Output[]): Promise<AutoTypes> {
    return AutoTypes.#of(outputs, (tenant, sourceId, type) => autoFields.read(tenant, sourceId, type));
  }

  /** The types that the outputs would decide if they were stored; decides none. @throws StoreUnavailableError */
  static foresee(autoFields: AutoFields, outputs: readonly Output[]): Promise<AutoTypes> {
    return AutoTypes.#of(outputs, async (tenant, sourceId, type, ofType) => {
      const types = new Map(await autoFields.read(tenant, sourceId, type));
      for (const [name, shown] of await candidatesOf(ofType, types)) {
        if (types.has(name) || types.size < autoFieldsMax) types.set(name, shown);
      }
      return types;
    });
  }

  static async #of(
    outputs: readonly Output[],
    typesOf: (
      tenant: string,
      sourceId: string,
      type: string,
      ofType: readonly Output[],
    ) => Promise<FieldTypes | null>,
  ): Promise<AutoTypes> {
    const found = new Map<string, FieldTypes>();
    for (const [key, ofType] of groupBy(outputs.filter(isAutoIndexed), typeKey)) {
      const [first] = ofType;
      if (first?.turn.entity == null) continue;
      const { tenant, sourceId, entity } = first.turn;
      const types = await typesOf(tenant, sourceId, entity.type, ofType);
      if (types !== null) found.set(key, types);
    }
    return new AutoTypes(found);
  }

  /** False for an item that is not built, because its source has no room for the entity type. */
  admits(output: Output): boolean {
    return !isAutoIndexed(output) || this.types.has(typeKey(output));
  }

  /** None for an item of an index, whose schema has the types. */
  of(output: Output): FieldTypes {
    return (isAutoIndexed(output) ? this.types.get(typeKey(output)) : null) ?? noTypes;
  }
}

function isAutoIndexed({ builder }: Output): boolean {
  return builder.kind === 'item' && builder.schema === null;
}

function typeKey({ turn }: Output): string {
  return `${turn.tenant}:${turn.sourceId}:${turn.entity?.type ?? ''}`;
}

/** Fields without a type, up to one more than an entity type has room for, and fields whose values have another type. */
async function candidatesOf(
  outputs: readonly Output[],
  known: FieldTypes | null,
): Promise<Map<string, FieldType>> {
  const candidates = new Map<string, FieldType>();
  const slice = new Slice(shardSliceMs);
  for (const { turn } of outputs) {
    const shown = await slice.run(shownFields(turn.entity?.properties ?? {}, known));
    for (const field of shown) {
      // A field with a type can always get another one. The number of other fields is unlimited.
      const isKnown = known?.has(field[0]) === true;
      if (isKnown || candidates.size <= autoFieldsMax) recordShown(field, candidates);
    }
  }
  return candidates;
}
