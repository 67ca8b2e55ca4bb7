import { expect, test } from 'vitest'
import { nameOfSpec, readPackageCommand } from './read-package-command.ts'

const read = (line: string) => {
  const [command = '', ...args] = line.split(' ')
  const found = readPackageCommand(command, args)
  return found && [found.kind, found.specs.join(' + '), found.program ?? '', found.args.join(' ')]
}

test.each([
  ['npx -y @modelcontextprotocol/server-memory', ['npm', '@modelcontextprotocol/server-memory', '', '']],
  [
    '/usr/bin/npx --yes mcp-remote@latest https://a.example',
    ['npm', 'mcp-remote@latest', '', 'https://a.example'],
  ],
  ['npx a@^1.2 --api-key -p', ['npm', 'a@^1.2', '', '--api-key -p']],
  ['npx -y -p a -p b@2 run --x', ['npm', 'a + b@2', 'run', '--x']],
  ['npx --package=a -- run -y', ['npm', 'a', 'run', '-y']],
  ['npm exec --yes -- a --x', ['npm', 'a', '', '--x']],
  ['npm x a', ['npm', 'a', '', '']],
  ['pnpm dlx --package a run', ['npm', 'a', 'run', '']],
  ['bunx --bun a@1', ['npm', 'a@1', '', '']],
  ['yarn dlx -q a', ['npm', 'a', '', '']],
  ['uvx mcp-server-git --repository x', ['uv', 'mcp-server-git', '', '--repository x']],
  ['uvx mcp-server-time@latest', ['uv', 'mcp-server-time', '', '']],
  ['uvx mcp-server-time@1.2', ['uv', 'mcp-server-time==1.2', '', '']],
  ['uvx --from a[b]>=1.2 --with c run x', ['uv', 'a[b]>=1.2 + c', 'run', 'x']],
  ['uv tool run --python 3.12 a', ['uv', 'a', '', '']],
  ['pipx run --spec a run', ['uv', 'a', 'run', '']],
])('%s fetches and runs %j', (line, wanted) => {
  expect(read(line)).toEqual(wanted)
})

test.each([
  'node server.js',
  'npx',
  'npx -y',
  'npx -c a',
  'npx ./server',
  'npx github:a/b',
  'npx a/b',
  'npx https://a.example/b.tgz',
  'npx a@file:../b',
  'npx --registry https://a.example b',
  'npm run start',
  'npm install a',
  'bun run a',
  'uvx --from git+https://a.example/b run',
  'uvx --from . run',
  'uvx --index-url https://a.example b',
  'uv run a',
])('%s fetches nothing from a registry that is known', (line) => {
  expect(read(line)).toBeUndefined()
})

test.each([
  ['a', 'a'],
  ['@a/b@1', '@a/b'],
  ['a@latest', 'a'],
  ['a[b]>=1', 'a'],
  ['a==1.2', 'a'],
])('%s is of the package %s', (spec, name) => {
  expect(nameOfSpec(spec)).toBe(name)
})
