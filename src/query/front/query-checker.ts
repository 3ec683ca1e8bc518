/** Finds the index of each query of a request, and checks the query against its fields. */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { invalidNextPageToken } from '../../search/check/pagination.ts';
import { checkQuery } from '../../search/check/query.ts';
import { itemsSubject } from '../../store/derived/subjects.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { openToken, tokenUse } from '../next-page-token.ts';
import type { BadOutcome, QueryRequest, QueryTarget } from '../query-service.ts';
import type { AnswerableQuery } from './answers.ts';
import { Targets } from './targets.ts';

/** A query without mistakes. */
export interface GoodQuery extends AnswerableQuery {
  /** Full schemas whose views are asked for; null for none. */
  readonly aliases: readonly string[] | null;
  /** See `GoodOutcome`. */
  readonly subject: string;
}

export type CheckedRequest = ({ readonly ok: true } & GoodQuery) | BadOutcome;

const forbidden: BadOutcome = { ok: false, status: 403, errors: ['Forbidden'] };

export class QueryChecker {
  readonly #targets: Targets;

  /** @param secret signs tokens */
  constructor(
    autoFields: AutoFields,
    private readonly secret: Buffer,
  ) {
    this.#targets = new Targets(autoFields);
  }

  /**
   * Checks each query, in their order.
   * @param commits number of commits by partition, as this front has heard of them
   * @throws StoreUnavailableError
   */
  async check(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    commits: readonly number[],
  ): Promise<CheckedRequest[]> {
    const commitSum = commits.reduce((sum, number) => sum + number, 0);
    return await Promise.all(requests.map((request) => this.#check(principal, request, commitSum)));
  }

  async #check(
    principal: ClientPrincipal,
    { target: wanted, body, mistakes = [] }: QueryRequest,
    commitSum: number,
  ): Promise<CheckedRequest> {
    if (mistakes.length > 0) return withMistakes(mistakes, body);
    if (!mayQuery(principal, wanted)) return forbidden;
    const resolution = await this.#targets.resolve(principal, wanted, commitSum);
    if (!resolution.ok) return { ok: false, status: 404, errors: [resolution.mistake] };
    const { kind, scope, index: name, fields } = resolution.target;
    const { schemas } = principal.tenant;
    const checked = checkQuery(body, {
      fields,
      isOpen: kind === 'auto',
      isSchemaAlias: kind === 'index' ? (alias) => schemas.has(alias) : null,
    });
    if (!checked.ok) return { ok: false, status: 400, errors: checked.errors };
    const { query, aliases, nextPageToken } = checked;
    const index = { scope, index: name };
    const isText = aliases === null;
    const good = { ok: true, index, isText, aliases, subject: itemsSubject(scope, name) } as const;
    if (nextPageToken === null) return { ...good, query };
    const after = openToken(this.secret, tokenUse(index, query), nextPageToken);
    if (after === null) return { ok: false, status: 400, errors: [invalidNextPageToken] };
    return { ...good, query: { ...query, after } };
  }
}

function mayQuery({ indexes }: ClientPrincipal, target: QueryTarget): boolean {
  return target.kind === 'index'
    ? indexes.allowsIndex(target.alias)
    : indexes.allowsType(target.sourceGroup, target.type);
}

/** The mistakes of a query whose target is not known. Only those are listed that hold for any set of fields. */
function withMistakes(mistakes: readonly string[], body: Json): BadOutcome {
  const query = isJsonObject(body) ? body : {};
  const checked = checkQuery(query, { fields: new Map(), isOpen: true, isSchemaAlias: null });
  return { ok: false, status: 400, errors: checked.ok ? mistakes : [...mistakes, ...checked.errors] };
}
