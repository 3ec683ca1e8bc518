/** Explains the response to a URL, and the origin of a view (docs/reference/management.md). */

import type { ClientPrincipal, Domain } from '../../config/configuration.ts';
import { domainOf, routeAnswers } from '../../config/urls/domains.ts';
import {
  candidatePaths,
  type NormalUrl,
  normalizeUrl,
  pathInForm,
  type UrlForm,
} from '../../config/urls/url.ts';
import { stampText } from '../../contract/entity.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { formatViewId, parseViewId } from '../../contract/ids.ts';
import { explainedClaimsMax, listedClaimsMax, urlCodePointsMax } from '../../contract/limits.ts';
import { momentText } from '../../contract/publish-times.ts';
import type { ExplainUrlAnswer, ExplainViewAnswer } from '../../contract/shapes-management.ts';
import { hasMoreCodePoints } from '../../lib/code-points.ts';
import { quote } from '../../lib/message-text.ts';
import type { Claim } from '../../store/claims/claim-records.ts';
import { readClaimFields, readServed } from '../../store/claims/read-claims.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { claimField } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { explainView } from '../../trial/explain/explain-view.ts';
import { type WaitingClaim, waitingClaims } from '../../trial/explain/waiting-claims.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import { claimOnUrl } from '../delivery/served-claim.ts';
import type { Services } from '../services.ts';
import {
  CostlyTurns,
  requestedClient,
  requestedEnvironment,
  requiredText,
  throwNothing,
} from './request-values.ts';

/** `GET /management/v1/explain/url` */
export function explainUrl({ store, configuration }: Services): Handler {
  return async (call) => {
    const environment = requestedEnvironment(call);
    const client = requestedClient(call, configuration.current, environment);
    const text = requiredText(call, 'url');
    if (hasMoreCodePoints(text, urlCodePointsMax)) throw new ProblemError(problems.urlTooLong);
    const url = normalizeUrl(text);
    if (url === null) throw new ProblemError(problems.urlInvalid);
    const { read } = configuration.layouts.urlFormsOf(client.tenant.alias);
    return jsonAnswer<ExplainUrlAnswer>(200, await explain(store, client, url, read));
  };
}

interface Step {
  readonly step: string;
  readonly result: string;
}

async function explain(
  store: Store,
  client: ClientPrincipal,
  url: NormalUrl,
  urlForms: readonly UrlForm[],
): Promise<ExplainUrlAnswer> {
  const { tenant, environment, domains } = client;
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const paths = candidatePaths(url.path);
  const fields = urlForms.flatMap((form) => paths.map((path) => claimField.url(path, form)));
  const [records, lists] = await Promise.all([
    readServed(store, scope, fields),
    readClaimFields(store, scope, fields, explainedClaimsMax),
  ]);
  const claims = lists.flat();
  const served = await claimOnUrl({ store, scope, url, domains }, fields, records);
  const waiting = await waitingClaims(store, client, fields, urlForms);
  return {
    steps: [
      ...hostSteps(url, client),
      pathStep(url, urlForms),
      claimsStep(claims),
      ...waiting.map(waitingStep),
      ...(await endingSteps(store, tenant.alias, served)),
      answerStep(served),
    ],
    claims: claims.slice(0, listedClaimsMax).map((claim) => ({
      viewId: formatViewId({ environmentId: environment.id, ...claim.view }),
      url: claim.display,
      kind: claim.kind,
      since: stampText(claim.sinceStamp),
      served: isSame(claim, served),
      because: reasonOf(claim, served, url, domains),
    })),
    answer: served === null ? 404 : served.kind === 'page' ? 200 : 301,
  };
}

function hostSteps({ host }: NormalUrl, { name, domains }: ClientPrincipal): Step[] {
  const domain = domainOf(domains, host);
  const asked = host === null ? 'none: the URL is relative' : host;
  const noDomain = `no domain of the client ${quote(name)} has it, so nothing is served`;
  return [
    { step: 'host', result: asked },
    {
      step: 'domain',
      result: domain === null ? noDomain : `${domain.alias} (${domain.hostnames.join(', ')})`,
    },
  ];
}

function pathStep({ path }: NormalUrl, urlForms: readonly UrlForm[]): Step {
  const compared = candidatePaths(path).flatMap((one) => urlForms.map((form) => pathInForm(one, form)));
  return { step: 'path', result: [...new Set(compared)].join(' or ') };
}

function claimsStep(claims: readonly Claim[]): Step {
  const many = claims.length >= explainedClaimsMax ? `at least ${claims.length}` : String(claims.length);
  const counted = claims.length === 1 ? '1 view claims' : `${many} views claim`;
  return { step: 'claims', result: `${claims.length === 0 ? 'no view claims' : counted} this path` };
}

function waitingStep({ alias, originId, atMs }: WaitingClaim): Step {
  const result = `the view ${alias} of ${originId} will be published at ${momentText(atMs)}`;
  return { step: 'schedule', result };
}

/** A step with the end of publication, if the served entity has one. */
async function endingSteps(store: Store, tenant: string, served: Claim | null): Promise<Step[]> {
  const [entity] = served === null ? [] : await readEntities(store, tenant, [served.view]);
  const at = momentText(entity?.times?.unpublishAt);
  if (served === null || at === null) return [];
  const { alias, originId } = served.view;
  return [{ step: 'schedule', result: `the view ${alias} of ${originId} is published until ${at}` }];
}

function answerStep(served: Claim | null): Step {
  if (served === null) return { step: 'answer', result: '404: no claim applies' };
  const { originId, alias } = served.view;
  return {
    step: 'answer',
    result:
      served.kind === 'page'
        ? `200: the view ${alias} of ${originId}`
        : `301: a redirect of the view ${alias} of ${originId} to ${served.redirect ?? ''}`,
  };
}

function isSame(claim: Claim, served: Claim | null): boolean {
  if (served === null) return false;
  const { view, host, kind, display } = claim;
  return (
    view.sourceId === served.view.sourceId &&
    view.originId === served.view.originId &&
    view.alias === served.view.alias &&
    host === served.host &&
    kind === served.kind &&
    display === served.display
  );
}

function hasQuery({ display }: Claim): boolean {
  return normalizeUrl(display)?.path.includes('?') ?? false;
}

/** The reason why a claim is served or not, checked in the order of precedence. */
function reasonOf(claim: Claim, served: Claim | null, url: NormalUrl, domains: readonly Domain[]): string {
  if (!routeAnswers(claim.host, url.host, domains)) {
    return claim.host === null
      ? 'not served: the requested host is in no domain of the client'
      : `not served: its host ${claim.host} is not in the domain of the requested host`;
  }
  if (served === null) return 'not served';
  if (isSame(claim, served)) return 'it is the first claim that applies';
  if (hasQuery(served) && !hasQuery(claim)) return 'a claim with the query string of the URL comes first';
  if (claim.kind !== served.kind) return 'a page comes before a redirect';
  if (claim.host === null && served.host !== null) return 'a claim on the host comes before one on all hosts';
  return served.sinceStamp === claim.sinceStamp
    ? 'claims of the same time are ordered by schema alias'
    : 'a later claim comes first';
}

const viewIdRule = 'must be the id of a view: gid://Environment/…/Source/…/Entity/…/View/…';

/** `GET /management/v1/explain/view` */
export function explainViewById({ store, configuration }: Services): Handler {
  const turns = new CostlyTurns();
  return async (call) => {
    const id = requiredText(call, 'id');
    const view = parseViewId(id);
    if (view === null) throw new ProblemError(problems.parameterInvalid('id', viewIdRule));
    const { tenant } = call.manager;
    const environment =
      tenant.environments.find((one) => one.id === view.environmentId) ??
      throwNothing(`There is no environment ${quote(view.environmentId)}`);
    const explained = await turns.run(tenant.alias, () =>
      explainView(store, { configuration: configuration.current, tenant, environment, view }),
    );
    return typeof explained === 'string'
      ? throwNothing(explained)
      : jsonAnswer<ExplainViewAnswer>(200, explained);
  };
}
