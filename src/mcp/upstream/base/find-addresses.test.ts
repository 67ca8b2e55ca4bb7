import { expect, test } from 'vitest'
import { findUnreached } from './find-addresses.ts'

const program = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  ({ kind: 'stdio', command: 'it', args, env, cwd: undefined, read: [], write: [] }) as const

test.each([
  [['postgresql://user:word@localhost:5432/x'], {}, [], ['localhost:5432']],
  [['postgres://db.example/x'], {}, [], ['db.example:5432']],
  [['postgres://db.example/x'], {}, ['db.example'], ['db.example:5432']],
  [['postgres://db.example/x'], {}, ['*.example:5432'], []],
  [['--url=https://api.example/v1', 'http://127.0.0.1'], {}, ['*'], ['127.0.0.1:80']],
  [['https://api.example/v1'], {}, [], ['api.example']],
  [['redis://[::1]:6380'], {}, [], ['[::1]:6380']],
  [[], { MYSQL_HOST: '127.0.0.1', MYSQL_PORT: '3306' }, [], ['127.0.0.1:3306']],
  [[], { MYSQL_HOST: 'DB.example', MYSQL_PORT: '3306' }, ['db.example:3306'], []],
  [[], { CONNECTION: 'mongodb://localhost:27017/db' }, ['*'], ['localhost:27017']],
  [
    ['file:///srv/x', 'mongodb+srv://a.example/x', '/srv/x:y', '${URL}'],
    { A_HOST: 'x', A_PORT: 'y' },
    [],
    [],
  ],
])('of what %j and %j name, %j does not let it reach %j (MCP-1)', (...[args, env, hosts, unreached]) => {
  expect(findUnreached(program(args, env as Record<string, string>), hosts)).toEqual(unreached)
})
