/** Runs nginx with one worker process to serve a folder of files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../bench.ts';
import { host } from '../ports.ts';
import { findTool } from '../tools.ts';
import { startServer } from './server-process.ts';

/** @returns false when nginx is not installed, after printing why */
export async function startNginx(
  context: BenchContext,
  options: { readonly port: number; readonly root: string; readonly prefix: readonly string[] },
): Promise<boolean> {
  const nginx = findTool('nginx', 'nginx', context.say);
  if (nginx === null) return false;
  const folder = path.join(context.folder, 'nginx');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, options.port, options.root));
  const { port, prefix } = options;
  await startServer(context, {
    program: nginx,
    words: ['-c', file, '-p', folder, '-e', `${folder}/error.log`],
    port,
    prefix,
  });
  return true;
}

/** The configuration that nginx's guides recommend for static files, without an access log. */
function configuration(folder: string, port: number, root: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  return `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
${temporary}
  access_log off;
  default_type application/json;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_timeout 65;
  keepalive_requests 100000000;
  open_file_cache max=10000 inactive=60s;
  open_file_cache_valid 60s;
  server {
    listen ${host}:${port};
    root ${root};
  }
}
`;
}
