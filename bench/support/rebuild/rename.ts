/** Part 2 of the rebuild benchmark: renames an entity that the lookups of very many pages match. */
import { getOwn } from '../../../src/contract/json.ts';
import type { BenchContext } from '../bench.ts';
import type { Entity } from '../data/sets.ts';
import { type BenchTenant, sourceGroup } from '../data/tenant.ts';
import { Client } from '../load/client.ts';
import { memoryOf, type ProcessMemory } from '../platform/memory.ts';
import { System } from '../platform/system.ts';

export interface RenameMeasurement {
  /** From the rename until every page has the new name. */
  readonly seconds: number;
  /** How long another tenant's changes took meanwhile, one after the other, from request to visible page. */
  readonly otherTenantMs: readonly number[];
  /** Memory of the worker at the end. */
  readonly memory: ProcessMemory | null;
}

const checkedEvery = 97;

const worldTenant: BenchTenant = {
  alias: 'world',
  schemas: {
    city: {
      triggers: { [sourceGroup]: ['city'] },
      route: { url: '{url}' },
      properties: {
        name: '{p.name}',
        countries: {
          type: 'array',
          input: {
            $lookup: {
              operator: 'equals',
              sourceEntityType: 'country',
              sourceEntityProperty: 'code',
              matchValue: '{p.country}',
            },
          },
          items: '{item.p.name}',
        },
      },
    },
  },
};

const otherTenant: BenchTenant = {
  alias: 'other',
  schemas: {
    note: {
      triggers: { [sourceGroup]: ['note'] },
      route: { url: '{url}' },
      properties: { text: '{p.text}' },
    },
  },
};

/** A platform where `count` pages look up one country. */
export class RenameScenario {
  private names = 0;
  private notes = 0;

  private constructor(
    private readonly system: System,
    private readonly world: Client,
    private readonly other: Client,
    private readonly count: number,
  ) {}

  static async prepare(context: BenchContext, count: number): Promise<RenameScenario> {
    const system = await System.start(context, { tenants: [worldTenant, otherTenant] });
    const world = new Client(context, system.baseUrl, worldTenant);
    const other = new Client(context, system.baseUrl, otherTenant);
    await world.save([country('Name 0')]);
    const sent = [...cities(count)];
    await world.importEntities(sent);
    await world.settle(sent);
    return new RenameScenario(system, world, other, count);
  }

  get workerMemory(): ProcessMemory | null {
    return memoryOf(this.system.workerPid);
  }

  /** Time until a change is visible while the platform is idle. */
  async idleChangeMs(): Promise<number> {
    return await this.changeNote();
  }

  async measure(): Promise<RenameMeasurement> {
    this.names += 1;
    const name = `Name ${this.names}`;
    const startedMs = performance.now();
    const version = await this.world.save([country(name)]);
    let endedMs = 0;
    const renamed = this.world.deliver(cityUrl(0), version).then(() => {
      endedMs = performance.now();
    });
    const otherTenantMs: number[] = [];
    while (endedMs === 0) otherTenantMs.push(await this.changeNote());
    await renamed;
    for (let number = 0; number < this.count; number += checkedEvery) await this.requireName(number, name);
    return { seconds: (endedMs - startedMs) / 1000, otherTenantMs, memory: this.workerMemory };
  }

  stop(): Promise<void> {
    return this.system.stop();
  }

  private async changeNote(): Promise<number> {
    this.notes += 1;
    const text = `Note ${this.notes}`;
    const startedMs = performance.now();
    const version = await this.other.save([note(text)]);
    const page = await this.other.page('/note', version);
    if (page === null || getOwn(page, 'text') !== text) throw new Error(`the note does not show ${text}`);
    return performance.now() - startedMs;
  }

  private async requireName(number: number, name: string): Promise<void> {
    const page = await this.world.page(cityUrl(number));
    const names = page === null ? null : getOwn(page, 'countries');
    if (JSON.stringify(names) !== JSON.stringify([name])) {
      throw new Error(`city ${number} shows ${JSON.stringify(names)}, not ${name}`);
    }
  }
}

function country(name: string): Entity {
  return entity('country', 'country', null, { code: 'XX', name });
}

function note(text: string): Entity {
  return entity('note', 'note', '/note', { text });
}

function* cities(count: number): Generator<Entity> {
  for (let number = 0; number < count; number += 1) {
    yield entity(`city-${number}`, 'city', cityUrl(number), { name: `City ${number}`, country: 'XX' });
  }
}

function cityUrl(number: number): string {
  return `/cities/${number}`;
}

function entity(
  originId: string,
  type: string,
  url: string | null,
  properties: Entity['properties'],
): Entity {
  return { originId, type, url, originParentId: null, redirects: [], properties };
}
