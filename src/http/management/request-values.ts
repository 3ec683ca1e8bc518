/** Reads the parameters of management requests, and finds the environment, source or client that they name. */
import type {
  ClientPrincipal,
  Configuration,
  Environment,
  Source,
  Tenant,
} from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { costlyCallsWaitingMax } from '../../contract/limits.ts';
import { quote } from '../../lib/message-text.ts';
import { Turns } from '../../lib/turns.ts';
import type { Call } from '../call.ts';
import { requestedText } from '../request-parameters.ts';

/** Whether a query parameter is `true`; false when it is absent. @throws ProblemError `parameterInvalid` */
export function requestedFlag(call: Call, name: string): boolean {
  const value = requestedText(call, name)?.toLowerCase() ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw new ProblemError(problems.parameterInvalid(name, 'must be true or false'));
}

/** A required query parameter. @throws ProblemError `parameterInvalid` if it is absent */
export function requiredText(call: Call, name: string): string {
  const value = requestedText(call, name);
  if (value === null) throw new ProblemError(problems.parameterInvalid(name, 'is required'));
  return value;
}

/** A decoded path parameter. @throws ProblemError `parameterInvalid` */
export function pathText(call: Call, index: number, name: string): string {
  try {
    return decodeURIComponent(call.parameters[index] ?? '');
  } catch {
    throw new ProblemError(problems.parameterInvalid(name, 'must be percent-encoded UTF-8'));
  }
}

/**
 * The environment that the parameter `environment` names by alias or id. It is optional if the tenant has only one.
 * @throws ProblemError 404, or 422 if it is absent and there are several
 */
export function requestedEnvironment(call: Call): Environment {
  return environmentNamed(call.manager.tenant, requestedText(call, 'environment'));
}

/** As `requestedEnvironment`. @throws ProblemError 404, or 422 if it is absent and there are several */
export function environmentNamed({ environments }: Tenant, name: string | null): Environment {
  const [only] = environments;
  if (name === null && environments.length === 1 && only !== undefined) return only;
  if (name === null) {
    const aliases = environments.map(({ alias }) => alias).join(', ');
    throw new ProblemError(problems.parameterInvalid('environment', `is required: one of ${aliases}`));
  }
  const found = environments.find(({ alias, id }) => alias === name || id === name);
  return found ?? throwNothing(`There is no environment ${quote(name)}`);
}

/** The alias of a source group, which is optional if the tenant has only one. @throws ProblemError 422 */
export function groupNamed({ sourceGroups }: Tenant, name: string | null): string {
  const [only, ...others] = sourceGroups.keys();
  if (name !== null) return name;
  if (only !== undefined && others.length === 0) return only;
  const aliases = [...sourceGroups.keys()].join(', ');
  throw new ProblemError(problems.parameterInvalid('sourceGroup', `is required: one of ${aliases}`));
}

/** The source that a source group uses in an environment. @throws ProblemError 404 */
export function sourceOf(tenant: Tenant, sourceGroup: string, environment: Environment): Source {
  if (!tenant.sourceGroups.has(sourceGroup)) throwNothing(`There is no source group ${quote(sourceGroup)}`);
  return (
    tenant.sourceIn(sourceGroup, environment.id) ??
    throwNothing(`The environment ${environment.alias} uses no source of the group ${sourceGroup}`)
  );
}

/**
 * The client that the parameter `client` names, by default the first with the scope `delivery`.
 * @throws ProblemError 404
 */
export function requestedClient(
  call: Call,
  configuration: Configuration,
  environment: Environment,
): ClientPrincipal {
  const name = requestedText(call, 'client');
  const clients = configuration.clients.filter(
    (client) => client.tenant.alias === call.manager.tenant.alias && client.environment.id === environment.id,
  );
  const found =
    name === null
      ? clients.find(({ scopes }) => scopes.has('delivery'))
      : clients.find((client) => client.name === name);
  const what = name === null ? 'no client with the scope "delivery"' : `no client ${quote(name)}`;
  return found ?? throwNothing(`The environment ${environment.alias} has ${what}`);
}

/** @throws ProblemError 404 with this message */
export function throwNothing(what: string): never {
  throw new ProblemError(problems.nothingThere(what));
}

/**
 * Runs expensive management calls one after the other, so that many of them hardly slow down readers. Tenants take turns. If
 * too many calls of a tenant wait, further ones fail with `unavailable`.
 */
export class CostlyTurns extends Turns {
  /** @param atOnceMax concurrent calls, each of another tenant */
  constructor(atOnceMax = 1) {
    super({
      atOnceMax,
      ofOwnerMax: 1,
      waitingMax: costlyCallsWaitingMax,
      refusal: () => new ProblemError(problems.unavailable),
    });
  }
}
