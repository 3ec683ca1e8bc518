import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairShares, TenantTurns } from '../../src/sandbox/tenant-turns.ts';

test('fair shares: the least used tenant is next, and nobody saves up time while idle', () => {
  const shares = new FairShares();
  const order: string[] = [];
  const take = (waiting: readonly string[], ms: number) => {
    const name = shares.next(waiting);
    order.push(name);
    shares.charge(name, ms);
  };
  for (let round = 0; round < 4; round += 1) take(['slow'], 1_000);
  // It arrives late, and alternates with the other instead of getting four turns in a row.
  for (let round = 0; round < 4; round += 1) take(['slow', 'late'], 1_000);
  assert.deepEqual(order.slice(4).sort(), ['late', 'late', 'slow', 'slow']);
  order.length = 0;
  for (let round = 0; round < 6; round += 1) {
    const name = shares.next(['slow', 'quick']);
    order.push(name);
    shares.charge(name, name === 'slow' ? 1_000 : 200);
  }
  assert.ok(order.filter((name) => name === 'quick').length >= 4, order.join());
});

test('turns: a bounded number at a time, then by processor time', async () => {
  const turns = new TenantTurns(1);
  const order: string[] = [];
  await turns.begin('slow');
  const ask = (tenant: string) => turns.begin(tenant).then(() => order.push(tenant));
  const waits = [ask('slow'), ask('quick')];
  assert.deepEqual(order, []);
  turns.end('slow', 1_000);
  await waits[1];
  assert.deepEqual(order, ['quick']);
  turns.end('quick', 10);
  await waits[0];
  assert.deepEqual(order, ['quick', 'slow']);
});
