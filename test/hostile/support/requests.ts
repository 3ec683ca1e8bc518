/** Generates requests for every endpoint of the route table: path, parameters, headers and body, each valid or invalid. */
import { isJsonObject, type Json, setOwn } from '../../../src/contract/json.ts';
import type { ParameterDefinition, RouteDefinition } from '../../../src/http/route-definition.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import type { Random } from '../../system/support/random.ts';
import { anyJson, bodies, handle, originId, text, url } from './bodies.ts';
import type { Loot } from './loot.ts';
import { mutateBytes, mutateToken } from './mutate.ts';
import { apiKeys, entityTypes, viewIdOf } from './site.ts';
import { Supply } from './supply.ts';
import { awkwardTexts } from './words.ts';

export interface HostileRequest {
  readonly route: RouteDefinition;
  readonly bytes: Buffer;
  /** False if the whole request was mutated, so that the server may see any request, or none. */
  readonly isFramed: boolean;
  /** False if the path may lead to another endpoint, or to none. */
  readonly isRouted: boolean;
}

type Field = readonly [name: string, value: string];

const sourceKeyShare = 0.96;

export class RequestMaker {
  readonly #texts: Supply<string>;
  readonly #originIds: Supply<string>;
  readonly #handles: Supply<string>;
  readonly #urls: Supply<string>;
  readonly #anyJson: Supply<Json>;
  readonly #bodies: ReadonlyMap<string, Supply<Json>>;

  constructor(
    private readonly random: Random,
    private readonly loot: Loot,
  ) {
    this.#texts = new Supply(text, random);
    this.#originIds = new Supply(originId, random);
    this.#handles = new Supply(handle, random);
    this.#urls = new Supply(url, random);
    this.#anyJson = new Supply(anyJson, random);
    this.#bodies = new Map(Object.entries(bodies).map(([name, body]) => [name, new Supply(body, random)]));
  }

  next(): HostileRequest {
    const { random } = this;
    const route = random.pick(routeTable.filter(({ tag }) => tag !== 'operations' || random.chance(0.1)));
    const path = this.#path(route);
    const query = this.#query(route);
    const body = this.#body(route);
    const fields = [...this.#headers(route), ...framing(route, body)];
    const line = `${route.method.toUpperCase()} ${path.text}${query} HTTP/1.1`;
    const head = [line, 'Host: www.example.com', ...fields.map(([name, value]) => `${name}: ${value}`)];
    const whole = Buffer.concat([
      Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'),
      body ?? Buffer.alloc(0),
    ]);
    const isFramed = !random.chance(0.05);
    return {
      route,
      bytes: isFramed ? whole : mutateBytes(random, whole),
      isFramed,
      isRouted: path.isRouted,
    };
  }

  #path({ path, parameters }: RouteDefinition): { text: string; isRouted: boolean } {
    let isRouted = true;
    const written = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const parameter = parameters.find((one) => one.name === name);
      const value = this.#pathText(parameter);
      if (value === '' || value === 'source') isRouted = false;
      return value;
    });
    return { text: written, isRouted };
  }

  #pathText(parameter: ParameterDefinition | undefined): string {
    const value = this.#pathValue(parameter?.name ?? '');
    switch (this.random.below(8)) {
      case 0:
        return rawInPath(value);
      case 1:
        return rawInPath(mutateToken(this.random, percentEncoded(value)));
      case 2:
        return [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      default:
        return percentEncoded(value);
    }
  }

  #pathValue(name: string): string {
    const usual: Readonly<Record<string, readonly string[]>> = {
      indexAlias: ['things', 'sourceGroupAlias'],
      sourceGroupAlias: ['cms'],
      sourceEntityType: entityTypes,
    };
    if (name === 'originId') return this.#originIds.next();
    return this.random.chance(0.9) ? this.random.pick(usual[name] ?? ['x']) : this.#texts.next();
  }

  #query(route: RouteDefinition): string {
    const { random } = this;
    const parts: string[] = [];
    for (const parameter of [
      ...route.parameters.filter((one) => one.in === 'query'),
      ...undocumented(route),
    ]) {
      const count = parameter.shape.type === 'array' ? random.below(4) : random.below(20) < 9 ? 1 : 0;
      for (let left = random.chance(0.03) ? 2 : count; left > 0; left -= 1) {
        parts.push(`${parameter.name}=${this.#encoded(this.#parameterValue(parameter))}`);
      }
    }
    if (random.chance(0.05))
      parts.push(`${this.#encoded(this.#texts.next())}=${this.#encoded(this.#texts.next())}`);
    return parts.length === 0 ? '' : `?${parts.join('&')}`;
  }

  #parameterValue({ name, shape }: ParameterDefinition): string {
    const { random, loot } = this;
    if (random.chance(0.08)) return this.#texts.next();
    switch (name) {
      case 'url':
        return this.#urls.next();
      case 'id':
        return random.chance(0.8) ? viewIdOf(this.#originIds.next()) : this.#texts.next();
      case 'handle':
        return this.#handles.next();
      case 'after':
      case 'before':
        return mutateToken(random, loot.pick(random, random.chance(0.9) ? 'cursor' : 'continuation'));
      case 'continuationToken':
        return mutateToken(random, loot.pick(random, random.chance(0.9) ? 'continuation' : 'cursor'));
      default:
        return shape.type === 'integer'
          ? String(random.between(95, 505))
          : random.pick(['true', 'false', '1']);
    }
  }

  #encoded(value: string): string {
    return this.random.chance(0.9) ? percentEncoded(value) : rawInQuery(mutateToken(this.random, value));
  }

  #headers(route: RouteDefinition): Field[] {
    const { random } = this;
    const fields: Field[] = [];
    if (route.access.kind === 'source' || route.access.kind === 'client') {
      fields.push(['X-Api-Key', this.#apiKey(route.access.kind)]);
    }
    for (const { name, prefixed } of route.headers) {
      if (!random.chance(0.25)) continue;
      fields.push([prefixed ? `X-Service-${name}` : name, headerValue(this.#headerText(name))]);
    }
    if (random.chance(0.02)) fields.push(['X-Large', 'x'.repeat(random.pick([1000, 5000, 60_000]))]);
    if (random.chance(0.02)) for (let n = 0; n < 60; n += 1) fields.push([`X-${n}`, 'y']);
    return fields;
  }

  #apiKey(kind: 'source' | 'client'): string {
    if (this.random.chance(sourceKeyShare)) return apiKeys[kind];
    return headerValue(
      this.random.pick([
        apiKeys.source,
        apiKeys.client,
        mutateToken(this.random, apiKeys[kind]),
        this.#texts.next(),
      ]),
    );
  }

  #headerText(name: string): string {
    const { random, loot } = this;
    if (random.chance(0.1)) return this.#texts.next();
    switch (name) {
      case 'Min-Version':
        return mutateToken(random, loot.pick(random, 'version'));
      case 'X-Continuation-Token':
        return mutateToken(random, loot.pick(random, 'continuation'));
      case 'If-None-Match':
        return mutateToken(random, loot.pick(random, 'etag'));
      case 'Accept-Encoding':
        return random.pick([
          'br',
          'gzip',
          'identity',
          'gzip;q=0, br;q=0.1',
          '*',
          ';;;,,q=',
          'br'.repeat(500),
        ]);
      case 'Force-Type':
        return random.pick(['true', '1', 'yes']);
      case 'Type':
        return random.pick(entityTypes);
      case 'Url':
        return this.#urls.next();
      case 'Redirects':
        return [this.#urls.next(), this.#urls.next()].join(random.pick([',', ' , ', ',,']));
      default:
        return this.#texts.next();
    }
  }

  #body(route: RouteDefinition): Buffer | null {
    const { random } = this;
    if (route.body === undefined) return null;
    const value = random.chance(0.95) ? this.#bodies.get(route.name)?.next() : this.#anyJson.next();
    const bytes = Buffer.from(JSON.stringify(this.#withToken(value ?? null)));
    return random.chance(0.15) ? mutateBytes(random, bytes) : bytes;
  }

  /** Sometimes puts a token of an earlier response into a query. */
  #withToken(body: Json): Json {
    const { random, loot } = this;
    if (!isJsonObject(body) || !isJsonObject(body.pagination ?? null) || !random.chance(0.3)) return body;
    const pagination = { ...(body.pagination as object) };
    setOwn(pagination as never, 'nextPageToken', mutateToken(random, loot.pick(random, 'page')));
    return { ...body, pagination: pagination as Json };
  }
}

function framing(route: RouteDefinition, body: Buffer | null): Field[] {
  return route.body === undefined || body === null ? [] : [['Content-Length', String(body.length)]];
}

/** A parameter that the route table does not have. */
function undocumented({ name }: RouteDefinition): ParameterDefinition[] {
  if (name !== 'live') return [];
  return [{ name: awkwardTexts[0] ?? '', in: 'query', shape: {}, description: '' }];
}

/** Like `encodeURIComponent`, but an unpaired surrogate becomes U+FFFD, as careless clients send it. */
export function percentEncoded(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
}

/** One byte per character, without those that would end the path or the line. */
function rawInPath(value: string): string {
  return bytesWithout(value, ' /?#');
}

function rawInQuery(value: string): string {
  return bytesWithout(value, ' #');
}

function headerValue(value: string): string {
  return bytesWithout(value, '');
}

/** One byte per character; control characters and the named ones become `-`. */
function bytesWithout(value: string, named: string): string {
  const characters = [...Buffer.from(value).toString('latin1')];
  const isLeftOut = (character: string) =>
    character < ' ' || character === '\x7f' || named.includes(character);
  return characters.map((character) => (isLeftOut(character) ? '-' : character)).join('');
}
