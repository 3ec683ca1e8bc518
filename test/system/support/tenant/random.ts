/** A tenant with random schemas, and the expected results of these. */
import type { SourceEntity } from '../../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../../src/contract/json.ts';
import type { World } from '../data/entities.ts';
import type { Random } from '../random.ts';
import {
  fullSchemaText,
  indexText,
  type Language,
  partialText,
  valuesFile,
  valuesModule,
} from './code-files.ts';
import { ExpectedTenant, type RandomSchema, type TenantSource } from './expected.ts';
import { lookupOf } from './lookup-parts.ts';
import { membersOf } from './parts.ts';
import { Reference, type Tree } from './render.ts';
import { groupValues, names, type Piece, property, rootSubject, scalarText, types } from './scene.ts';

/** Equal in all tenants: only the key distinguishes them. */
export const environments = [
  { id: 'e0000000-0000-4000-8000-000000000001', alias: 'production' },
  { id: 'e0000000-0000-4000-8000-000000000002', alias: 'stage' },
] as const;

const viewAliases = ['s0', 's1', 's2', 's3'];
const groups = ['main', 'side'];

/** The schemas of a tenant, which its twins share. */
interface Mappings {
  readonly schemas: Map<string, RandomSchema>;
  readonly partials: Map<string, Piece>;
  index: RandomSchema | null;
  isAutoIndexed: boolean;
}

/** The language of a schema. */
export type LanguageOf = (alias: string) => Language;

const inJson: LanguageOf = () => 'json';

export class RandomTenant {
  readonly #mappings: Mappings;

  constructor(
    readonly alias: string,
    private readonly random: Random,
    mappings?: Mappings,
  ) {
    this.#mappings = mappings ?? this.#randomMappings();
  }

  /** A tenant with another name, which always has the same schemas, also after edits. */
  twin(alias: string): RandomTenant {
    return new RandomTenant(alias, this.random, this.#mappings);
  }

  #randomMappings(): Mappings {
    const schemas = new Map(viewAliases.map((alias) => [alias, this.#randomSchema(alias)]));
    schemas.set('chain', this.#chain());
    const partials = new Map(['aCard', 'bCard'].map((alias) => [alias, this.#randomPartial()]));
    return { schemas, partials, index: this.#randomIndex(), isAutoIndexed: true };
  }

  get aliases(): string[] {
    return [...viewAliases, 'chain', 'extra'];
  }

  get isAutoIndexed(): boolean {
    return this.#mappings.isAutoIndexed;
  }

  get hasIndex(): boolean {
    return this.#mappings.index !== null;
  }

  get sources(): readonly TenantSource[] {
    const source = (number: number, group: string, aliases: readonly string[]): TenantSource => ({
      id: `50000000-0000-4000-8000-00000000000${number}`,
      group,
      environments: environments.filter(({ alias }) => aliases.includes(alias)).map(({ id }) => id),
      key: `source-key-${number}-of-${this.alias}`,
    });
    return [
      source(1, 'main', ['production']),
      source(2, 'main', ['stage']),
      source(3, 'side', ['production', 'stage']),
    ];
  }

  clientKey(environmentId: string): string {
    return `client-key-of-${this.alias}-${environmentId}`;
  }

  /** Makes one random edit of the schemas. @returns its description */
  edit(): string {
    const { random } = this;
    const alias = random.pick(viewAliases);
    switch (random.below(8)) {
      case 0:
      case 1:
        this.#mappings.schemas.set(alias, this.#randomSchema(alias));
        return `schema ${alias} anew`;
      case 2: {
        const old = this.#mappings.schemas.get(alias);
        if (old !== undefined)
          this.#mappings.schemas.set(alias, { ...old, triggers: this.#randomTriggers() });
        return `other triggers of ${alias}`;
      }
      case 3: {
        const old = this.#mappings.schemas.get(alias);
        if (old !== undefined) this.#mappings.schemas.set(alias, { ...old, ...this.#randomRoute() });
        return `another route of ${alias}`;
      }
      case 4: {
        const partial = random.pick(['aCard', 'bCard', 'cCard']);
        if (this.#mappings.partials.has(partial) && random.chance(0.4))
          this.#mappings.partials.delete(partial);
        else this.#mappings.partials.set(partial, this.#randomPartial());
        return `partial ${partial}`;
      }
      case 5:
        if (this.#mappings.schemas.has('extra')) this.#mappings.schemas.delete('extra');
        else this.#mappings.schemas.set('extra', this.#randomSchema('extra'));
        return 'schema extra comes or goes';
      case 6:
        this.#mappings.index =
          this.#mappings.index !== null && random.chance(0.3) ? null : this.#randomIndex();
        return 'another index';
      default:
        this.#mappings.isAutoIndexed = !this.#mappings.isAutoIndexed;
        return 'auto-indexing';
    }
  }

  /** Schemas in JavaScript are strings. */
  files(languageOf: LanguageOf = inJson): Record<string, Json> {
    const folder = `tenants/${this.alias}`;
    const { schemas, partials, index } = this.#mappings;
    const groupsOfSources = Object.fromEntries(this.sources.map(({ id, group }) => [id, group]));
    const files: Record<string, Json> = {
      [`${folder}/tenant.json`]: this.#tenantJson(),
    };
    if (languageOf !== inJson) files[`${folder}/${valuesFile}`] = valuesModule(groupsOfSources);
    for (const [alias, schema] of schemas) {
      const language = languageOf(alias);
      if (language === 'json') files[`${folder}/schemas/${alias}.json`] = schemaJson(alias, schema);
      else files[`${folder}/schemas/${alias}.full.${language}`] = schemaText(alias, schema, language);
    }
    for (const [alias, piece] of partials) {
      const language = languageOf(alias);
      if (language === 'json') files[`${folder}/partials/${alias}.json`] = { properties: piece.json };
      else files[`${folder}/schemas/${alias}.partial.${language}`] = partialText(piece, language);
    }
    if (index === null) return files;
    const language = languageOf('things');
    const fields = fieldsOf(index);
    if (language === 'json') {
      const { triggers, body } = index;
      files[`${folder}/indexes/things.json`] = {
        triggers: triggers as unknown as Json,
        properties: body.json,
        index: { fields },
      };
    } else files[`${folder}/schemas/things.index.${language}`] = indexText(index, fields, language);
    return files;
  }

  #tenantJson(): Json {
    return {
      environments: environments.map(({ id, alias }) => ({ id, alias })),
      sourceGroups: groups.map((alias) => ({
        alias,
        autoIndex: alias === 'main' && this.#mappings.isAutoIndexed,
        sources: this.sources
          .filter(({ group }) => group === alias)
          .map(({ id, environments: ids, key }) => ({
            id,
            name: id,
            environments: environments
              .filter((environment) => ids.includes(environment.id))
              .map((environment) => environment.alias),
            apiKeys: [key],
          })),
      })),
      domains: [{ alias: 'site', hostnames: ['*'] }],
      environmentClients: environments.map(({ id, alias }) => ({
        name: alias,
        environment: alias,
        domains: ['site'],
        apiKeys: [this.clientKey(id)],
      })),
    };
  }

  #randomTriggers(): RandomSchema['triggers'] {
    const { random } = this;
    const chosen = groups.map((group) => [group, random.some(types, 0.6)] as const);
    const triggers = Object.fromEntries(chosen.filter(([, list]) => list.length > 0));
    return Object.keys(triggers).length > 0 ? triggers : { main: ['a'] };
  }

  #randomRoute(): Pick<RandomSchema, 'url' | 'handles'> {
    return { url: this.random.pick(['own', 'made', null] as const), handles: this.random.chance(0.6) };
  }

  #randomSchema(alias: string): RandomSchema {
    const below = alias === 'extra' ? viewAliases : viewAliases.slice(viewAliases.indexOf(alias) + 1);
    const limits = { aliases: below, groups, depth: 2, mayRefer: true, mayUsePartials: true };
    return {
      triggers: this.#randomTriggers(),
      ...this.#randomRoute(),
      body: membersOf(this.random, rootSubject, limits, this.random.between(1, 4)),
    };
  }

  /** Views that refer to each other in cycles. */
  #chain(): RandomSchema {
    return {
      triggers: { main: types, side: types },
      url: null,
      handles: false,
      body: {
        json: { who: '{originId}', next: { type: 'reference', alias: 'chain', originId: '{p.next}' } },
        code: "{ who: entity.originId, next: context.reference('chain').byOriginId(text(entity.properties.next)) }",
        compute: (scene) => {
          const next = property(scene.root, 'next');
          const { environmentId, asking } = scene;
          return {
            who: scene.root.entity.originId,
            next: next === null ? null : chainReference(environmentId, asking.sourceId, next),
          };
        },
      },
    };
  }

  #randomPartial(): Piece {
    const limits = { aliases: [], groups, depth: 1, mayRefer: false, mayUsePartials: false };
    return membersOf(this.random, rootSubject, limits, this.random.between(1, 2));
  }

  #randomIndex(): RandomSchema {
    const { random } = this;
    const lookup = lookupOf(random, rootSubject, groups, null);
    const { whenAsked, builder } = lookup.code;
    return {
      triggers: this.#randomTriggers(),
      url: null,
      handles: false,
      body: {
        json: {
          name: '{p.name}',
          label: '{type} {p.group}',
          related: { type: 'array', input: { $lookup: lookup.json }, items: '{item.originId}' },
        },
        code: `{
          name: text(entity.properties.name),
          label: entity.type + ' ' + (text(entity.properties.group) ?? ''),
          related: (${whenAsked} ? await ${builder} : []).map(({ originId }) => originId),
        }`,
        compute: (scene) => ({
          name: scalarText(property(scene.root, 'name')),
          label: `${scene.root.entity.type} ${scalarText(property(scene.root, 'group')) ?? ''}`,
          related: lookup.find(scene).map(({ entity }) => entity.originId),
        }),
      },
    };
  }

  /** A random state of an entity. */
  randomEntity(originId: string, random: Random): SourceEntity {
    const properties: JsonObject = { note: random.below(1_000_000) };
    if (random.chance(0.9)) properties.name = random.pick(names);
    if (random.chance(0.9)) properties.group = random.pick(groupValues);
    if (random.chance(0.9)) properties.rank = random.pick<Json>([0, 1, 2, 3, 4.5, 5.5, -1, '2', 'x', null]);
    if (random.chance(0.8)) {
      properties.tags = random.chance(0.8)
        ? random.some([...names, ...groupValues], 0.25)
        : random.pick(names);
    }
    if (random.chance(0.7)) properties.next = `e${random.below(30)}`;
    return {
      originId,
      type: random.pick(types),
      url: random.chance(0.7) ? `/pages/${random.below(20)}` : null,
      originParentId: random.chance(0.6) ? `e${random.below(8)}` : null,
      redirects: random.chance(0.3) ? [`/old/${random.below(20)}`, `/pages/${random.below(20)}`] : [],
      properties,
    };
  }

  expected(world: World): ExpectedTenant {
    return new ExpectedTenant(
      this.sources,
      new Map(this.#mappings.schemas),
      new Map(this.#mappings.partials),
      this.#mappings.index,
      world,
    );
  }
}

function chainReference(environmentId: string, sourceId: string, next: Json): Tree {
  return new Reference({ environmentId, sourceId, originId: scalarText(next) ?? '', alias: 'chain' });
}

function schemaJson(alias: string, { triggers, url, handles, body }: RandomSchema): Json {
  return {
    triggers: triggers as unknown as Json,
    route: {
      ...(url === null ? {} : { url: url === 'own' ? '{url}' : `/${alias}/{originId}` }),
      ...(handles ? { handles: ['{p.name}', `${alias}-{originId}`] } : {}),
    },
    properties: body.json,
  };
}

function schemaText(alias: string, schema: RandomSchema, language: Language): string {
  const { url, handles } = schema;
  const made = url === 'own' ? 'entity.url' : `'/${alias}/' + entity.originId`;
  const routes = [
    ...(url === null ? [] : [`context.url(${made});`]),
    ...(handles
      ? ['context.handle(text(entity.properties.name));', `context.handle('${alias}-' + entity.originId);`]
      : []),
  ];
  return fullSchemaText(schema, routes, language);
}

function fieldsOf({ body }: RandomSchema): Record<string, { type: string }> {
  return Object.fromEntries(Object.keys(body.json).map((name) => [name, { type: indexType(name) }]));
}

function indexType(name: string): string {
  return { name: 'text', label: 'keyword', related: 'keyword[]' }[name] ?? 'keyword';
}
