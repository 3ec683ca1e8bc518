import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Domain } from '../../../src/config/configuration.ts';
import { domainOf, routeAnswers } from '../../../src/config/urls/domains.ts';
import { canonicalHost } from '../../../src/config/urls/url.ts';

const shop: Domain = { alias: 'shop', hostnames: ['shop.example.com', 'shop.example.org'] };
const site: Domain = { alias: 'site', hostnames: ['www.example.com', '*'] };
const both = [shop, site];

test('domains: a host belongs to the domain that names it, whatever its port', () => {
  assert.equal(domainOf(both, 'shop.example.org'), shop);
  assert.equal(domainOf(both, 'shop.example.org:8080'), shop);
  assert.equal(domainOf(both, 'www.example.com'), site);
});

test('domains: hostname * accepts relative URLs and any host not named by another domain', () => {
  assert.equal(domainOf(both, null), site);
  assert.equal(domainOf(both, 'anything.test'), site);
  assert.equal(domainOf([shop], null), null);
  assert.equal(domainOf([shop], 'anything.test'), null);
});

test('domains: relative routes answer on every hostname of the domains of the client', () => {
  for (const asked of [null, 'shop.example.com', 'www.example.com', 'anything.test']) {
    assert.ok(routeAnswers(null, asked, both), String(asked));
  }
  assert.ok(!routeAnswers(null, 'www.example.com', [shop]));
  assert.ok(!routeAnswers(null, null, [shop]));
});

test('domains: absolute routes answer only on the hostnames of the domain that includes theirs', () => {
  assert.ok(routeAnswers('shop.example.com', 'shop.example.com', both));
  assert.ok(routeAnswers('shop.example.com', 'shop.example.org', both));
  assert.ok(!routeAnswers('shop.example.com', 'www.example.com', both));
  assert.ok(!routeAnswers('shop.example.com', null, both));
  assert.ok(routeAnswers('www.example.com', null, both));
  assert.ok(!routeAnswers('www.example.com', 'shop.example.com', [shop]));
});

test('domains: hosts have one normal form', () => {
  const cases: [string, string | null][] = [
    ['WWW.Example.COM', 'www.example.com'],
    ['example.com.', 'example.com'],
    ['MÜNCHEN.de', 'xn--mnchen-3ya.de'],
    ['localhost', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::0001]', '[::1]'],
    ['', null],
    ['*', null],
    ['*.example.com', null],
    ['https://example.com', null],
    ['example.com:80', null],
    ['example.com/a', null],
    ['a b', null],
    ['1.2.3.999', null],
    ['a'.repeat(300), null],
    ['[::g]', null],
    ['.', null],
  ];
  for (const [text, expected] of cases) assert.equal(canonicalHost(text), expected, text);
});
