/** The addresses of all processes. They listen on the loopback address, so that no network is measured, unless a benchmark says otherwise. */
export const host = '127.0.0.1';

export const ports = {
  millrace: 7200,
  nginx: 7210,
  rawUws: 7211,
  nodeHttp: 7212,
  rawUwsHeads: 7213,
  postgres: 7220,
  miniSearch: 7230,
  orama: 7231,
  postgresFront: 7232,
  sqlite: 7233,
} as const;
