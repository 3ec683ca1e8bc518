import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { filterConditionsMax, filterPatternsMax } from '../../contract/limits.ts';
import { type GroupKind, groupKinds } from '../../contract/shapes-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import type { FilterNode } from '../filter/condition.ts';
import { checkCondition, type FilterCheck } from './condition.ts';
import { isSent, refuseUnknownMembers } from './members.ts';
import { type Mistakes, quote } from './mistakes.ts';

/**
 * The filter of a query, null for none (docs/reference/indexes-and-queries.md "Filters"). A group may hold conditions,
 * and groups of the other kind whose members are conditions. An empty group is no condition. Mistakes are collected. If
 * there are any, the result must not be used.
 */
export function checkFilter(filters: Json, table: FieldTable, mistakes: Mistakes): FilterNode | null {
  if (filters === null) return null;
  if (!isJsonObject(filters)) {
    mistakes.add('filters', `must be {"and": […]} or {"or": […]}, not ${quote(filters)}`);
    return null;
  }
  const check: FilterCheck = { table, mistakes, conditions: 0, patterns: 0 };
  const node = checkGroup(filters, 'filters', null, check);
  if (check.conditions > filterConditionsMax) {
    mistakes.add(
      'filters',
      `${check.conditions} conditions; at most ${filterConditionsMax} are allowed, use "in" for many values`,
    );
  }
  if (check.patterns > filterPatternsMax) {
    mistakes.add('filters', `${check.patterns} patterns with "*"; at most ${filterPatternsMax} are allowed`);
  }
  return node;
}

function checkGroup(
  group: JsonObject,
  place: string,
  within: GroupKind | null,
  check: FilterCheck,
): FilterNode | null {
  const and = getOwn(group, 'and') ?? null;
  const or = getOwn(group, 'or') ?? null;
  if (and === null && or === null && isCondition(group)) {
    check.mistakes.add(place, 'a condition must be inside {"and": […]} or {"or": […]}');
    return null;
  }
  refuseUnknownMembers(group, groupKinds, place, check.mistakes);
  if (and !== null && or !== null) check.mistakes.add(place, 'has both "and" and "or"; use one of them');
  if ((and === null) === (or === null)) return null;
  const kind: GroupKind = and === null ? 'or' : 'and';
  if (kind === within) {
    check.mistakes.add(
      place,
      `an "${kind}" group inside an "${kind}" group; put its conditions into the outer one`,
    );
  }
  const members = and ?? or;
  if (!Array.isArray(members)) {
    check.mistakes.add(`${place}.${kind}`, `must be an array of conditions, not ${quote(members)}`);
    return null;
  }
  const nodes: FilterNode[] = [];
  for (const [at, member] of members.entries()) {
    const node = checkMember(member, `${place}.${kind}[${at}]`, kind, within !== null, check);
    if (node !== null) nodes.push(node);
  }
  return nodes.length === 0 ? null : { kind, nodes };
}

function checkMember(
  member: Json,
  place: string,
  within: GroupKind,
  isInner: boolean,
  check: FilterCheck,
): FilterNode | null {
  if (!isJsonObject(member)) {
    check.mistakes.add(place, `must be a condition {"field", "operator", "value"}, not ${quote(member)}`);
    return null;
  }
  const isGroup = isSent(member, 'and') || isSent(member, 'or');
  if (!isGroup) return checkCondition(member, place, check);
  if (isInner) {
    check.mistakes.add(place, 'groups are nested at most two levels deep');
    return null;
  }
  return checkGroup(member, place, within, check);
}

function isCondition(group: JsonObject): boolean {
  return isSent(group, 'field') || isSent(group, 'operator');
}
