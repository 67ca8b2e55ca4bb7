import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDeclared, tellAll, texts, toolFile } from '../support/declared-tools.ts'

/** A tool that tells its arguments as they arrive. */
function telling(more: Record<string, unknown>) {
  return { 'a.json': toolFile({ command: './tell.mjs', output: 'json', ...more }), 'tell.mjs': tellAll }
}

const argvOf = (data: unknown) => (data as { argv: string[] }).argv

test('each value arrives as one argument, byte for byte (DECL-3, CM-41)', async () => {
  const { runtime } = await openDeclared(
    telling({ input_schema: texts('a', 'b'), args: ['{{a}}', 'fixed', '{{b}}'] }),
    {
      limits: { repeatsPerSession: 1_000 },
    },
  )
  const session = runtime.session()
  const text = fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .filter((value) => !value.includes('\0') && !value.startsWith('-'))
  await fc.assert(
    fc.asyncProperty(text, text, async (a, b) => {
      const { data, error } = await session.call('demo.tool', { a, b })
      expect([error, argvOf(data)]).toEqual([undefined, [a, 'fixed', b]])
    }),
    {
      numRuns: 25,
      examples: [
        ['$(touch x)', 'a b\'"`;|&\n'],
        ['{{b}}', '$1'],
        ['', ' '],
      ],
    },
  )
})

test('numbers and booleans are written as JSON has them (DECL-3)', async () => {
  const input_schema = {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      part: { type: 'number' },
      all: { type: 'boolean', default: true },
    },
    required: ['count', 'part'],
  }
  const { runtime } = await openDeclared(
    telling({ input_schema, args: ['{{count}}', '{{part}}', '{{all}}'] }),
  )
  const { data } = await runtime.session().call('demo.tool', { count: 3, part: 0.5 })
  expect(argvOf(data)).toEqual(['3', '0.5', 'true'])
})

test('an option and its value stand or go together, and its value may begin with "-" (DECL-3)', async () => {
  const input_schema = {
    type: 'object',
    properties: { grep: { type: 'string' }, max: { type: 'integer' } },
    additionalProperties: false,
  }
  const args = ['log', ['--grep', '{{grep}}'], ['-n', '{{max}}'], 'end']
  const { runtime } = await openDeclared(telling({ input_schema, args }))
  const session = runtime.session()
  const run = async (input: Record<string, unknown>) => argvOf((await session.call('demo.tool', input)).data)
  expect(await run({})).toEqual(['log', 'end'])
  expect(await run({ max: -5 })).toEqual(['log', '-n', '-5', 'end'])
  expect(await run({ grep: '-v', max: 2 })).toEqual(['log', '--grep', '-v', '-n', '2', 'end'])
})

test('after "--" a value may begin with "-" (DECL-3)', async () => {
  const { runtime } = await openDeclared(telling({ input_schema: texts('a'), args: ['-x', '--', '{{a}}'] }))
  const { data } = await runtime.session().call('demo.tool', { a: '--delete' })
  expect(argvOf(data)).toEqual(['-x', '--', '--delete'])
})

test.each<[string, unknown]>([
  ['a NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800'],
])('%s is not an argument, and nothing runs (DECL-3)', async (_what, a) => {
  const { runtime } = await openDeclared(telling({ input_schema: texts('a'), args: ['{{a}}'] }))
  const { error, data } = await runtime.session().call('demo.tool', { a })
  expect(error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
  expect(data).toBeUndefined()
})

test('only what the input schema lets through reaches the program (DECL-3, SCHEMA-3)', async () => {
  const input_schema = { ...texts('a'), properties: { a: { type: 'string', pattern: '^[a-z]+$' } } }
  const { runtime } = await openDeclared(telling({ input_schema, args: ['{{a}}'] }))
  const session = runtime.session()
  for (const input of [{ a: 'B' }, {}, { a: 'b', extra: 1 }, { a: ['b'] }])
    expect((await session.call('demo.tool', input)).error).toMatchObject({ reason: 'invalid_input' })
  expect(argvOf((await session.call('demo.tool', { a: 'b' })).data)).toEqual(['b'])
})

const input_schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    maybe: { type: 'string' },
    list: { type: 'array', items: { type: 'string' } },
    any: {},
    empty: { type: ['string', 'null'] },
  },
  required: ['path', 'list', 'any', 'empty'],
}

test.each<[string, unknown, [pointer: string, message: RegExp]]>([
  ['joined with an option', ['--file={{path}}'], ['/args/0', /\["--option", "\{\{field\}\}"\]/]],
  ['joined with text', ['x{{path}}'], ['/args/0', /joins a value/]],
  ['two in one', ['{{path}}{{path}}'], ['/args/0', /joins a value/]],
  ['with blanks', ['{{ path }}'], ['/args/0', /joins a value/]],
  ['in single braces', ['{path}'], ['/args/0', /Write "\{\{path\}\}"/]],
  ['of a field that is not there', ['{{nothing}}'], ['/args/0', /no field "nothing"/]],
  ['of what every object has', ['{{constructor}}'], ['/args/0', /no field "constructor"/]],
  ['of a field that may be left out', ['{{maybe}}'], ['/args/0', /may be left out/]],
  ['of a list', ['{{list}}'], ['/args/0', /not a text, number or boolean/]],
  ['of anything', ['{{any}}'], ['/args/0', /not a text, number or boolean/]],
  ['of a text or null', ['{{empty}}'], ['/args/0', /not a text, number or boolean/]],
  ['as an option', [['{{path}}', '{{path}}']], ['/args/0/0', /joins a value/]],
  ['as the value of what is not an option', [['file', '{{path}}']], ['/args/0/0', /is not an option/]],
  ['as the value of "--"', [['--', '{{path}}']], ['/args/0/0', /is not an option/]],
  ['that is none as the value of an option', [['--file', 'fixed']], ['/args/0/1', /not a template/]],
])('a template %s is refused (DECL-3)', async (_what, args, [pointer, message]) => {
  const { issues, runtime } = await openDeclared({ 'a.json': toolFile({ input_schema, args }) })
  expect(runtime.registry.size).toBe(0)
  expect(issues).toEqual([expect.stringContaining(` ${pointer}: `)])
  expect(issues[0]).toMatch(message)
})

test('braces that are no template are text (DECL-3)', async () => {
  const args = ['{{.Names}}', '{}', '{{json .}}', '{a}', '{{']
  const { runtime } = await openDeclared(telling({ args }))
  expect(argvOf((await runtime.session().call('demo.tool')).data)).toEqual(args)
})

test('a shell command gets values as "$1", "$2" and runs them never (DECL-3)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({
      command_type: 'shell',
      command: 'printf "%s|" "$0" "$@"; for word in a b; do printf %s "$word"; done | tr a-z A-Z',
      args: ['{{a}}', 'fixed', '{{b}}'],
      input_schema: texts('a', 'b'),
    }),
  })
  const mark = join(runtime.project, 'mark')
  const a = `$(touch ${mark}); touch ${mark} #`
  const b = '*" `id`'
  const { data } = await runtime.session().call('demo.tool', { a, b })
  expect(data).toBe(`demo.tool|${a}|fixed|${b}|AB`)
  expect(existsSync(mark)).toBe(false)
})

const shell = { command_type: 'shell', input_schema: texts('a'), args: ['{{a}}'] }

test.each<[string, Record<string, unknown>, string]>([
  ['that is readonly and not dangerous', { permission: 'readonly', command: 'ls' }, '/permission'],
  ['with a template in its script', { command: 'echo {{a}}' }, '/command'],
  ['with an option among its arguments', { command: 'ls', args: [['-a', '{{a}}']] }, '/args/0'],
  ['with a parameter without quotes', { command: 'git log $1' }, '/command'],
  ['with all parameters without quotes', { command: 'git log $@' }, '/command'],
  ['with a variable without quotes', { command: 'x="$1"; git log ${x}' }, '/command'],
  ['that runs a parameter', { command: '"$1" --version' }, '/command'],
  ['that evaluates a parameter', { command: 'eval "echo $1"' }, '/command'],
  ['that traps a parameter', { command: 'trap "$1" EXIT' }, '/command'],
  ['that hands a parameter to a shell', { command: 'bash -c "$1"' }, '/command'],
  ['that hands a parameter to python', { command: 'python3 -c "$1"' }, '/command'],
  ['that hands a parameter to awk', { command: 'sort f | awk -F : "$1"' }, '/command'],
  ['that hands a parameter to sed', { command: 'sed -n -e "$1" f' }, '/command'],
  ['that has xargs start a parameter', { command: 'ls | xargs -n 1 "$1"' }, '/command'],
  ['that has timeout start awk', { command: 'timeout 5 awk "$1"' }, '/command'],
  ['that has xargs start a shell', { command: 'ls | env A=1 xargs -n 1 sh -c "$1"' }, '/command'],
  ['that calculates with a parameter', { command: 'echo "$(( $1 ))"' }, '/command'],
  ['that expands a parameter twice', { command: 'echo "${1@P}"' }, '/command'],
  ['that ends inside of a quote', { command: 'echo "$1' }, '/command'],
])('a shell command %s is refused (DECL-3)', async (_what, fields, pointer) => {
  const { issues, runtime } = await openDeclared({ 'a.json': toolFile({ ...shell, ...fields }) })
  expect(runtime.registry.size).toBe(0)
  expect(issues).toEqual([expect.stringContaining(` ${pointer}: `)])
})

test.each<[string, Record<string, unknown>, readonly string[]]>([
  ['sh', { command: 'sh', args: ['-c', '{{a}}'] }, ['/args/1']],
  ['bash by its path', { command: '/bin/bash', args: ['-lc', '{{a}}'] }, ['/args/1']],
  ['bash with an option and its value', { command: 'bash', args: [['-c', '{{a}}']] }, ['/args/0/1']],
  ['a restricted shell', { command: 'rbash', args: ['-c', '{{a}}'] }, ['/args/1']],
  ['another shell', { command: 'mksh', args: ['-c', '{{a}}'] }, ['/args/1']],
  ['what bash reads first', { command: 'bash', args: [['--rcfile', '{{a}}'], 'x.sh'] }, ['/args/0/1']],
  ['the shell of a user', { command: 'su', args: ['nobody', '-c', '{{a}}'] }, ['/args/2']],
  ['a recorded shell', { command: 'script', args: [['--command', '{{a}}'], 'log'] }, ['/args/0/1']],
  ['node', { command: 'node', args: ['--eval', '{{a}}'] }, ['/args/1']],
  ['perl of one machine', { command: 'perl5.36-x86_64-linux-gnu', args: ['-e', '{{a}}'] }, ['/args/1']],
  ['lua that compiles', { command: 'luajit', args: ['-e', '{{a}}'] }, ['/args/1']],
  ['a setting of php', { command: 'php', args: [['-d', '{{a}}'], 'x.php'] }, ['/args/0/1']],
  ['python', { command: 'python3.12', args: ['-c', '{{a}}'] }, ['/args/1']],
  ['perl', { command: 'perl', args: ['-ne', '{{a}}', 'file'] }, ['/args/1']],
  ['a module of python', { command: 'python3', args: ['-m', '{{a}}'] }, ['/args/1']],
  ['a module of node', { command: 'node', args: [['--require', '{{a}}'], 'x.js'] }, ['/args/0/1']],
  ['awk', { command: 'awk', args: ['{{a}}', 'ok.txt'] }, ['/args/0']],
  ['awk after options', { command: '/usr/bin/mawk', args: ['-F', ':', '-v', '{{a}}', '{{a}}'] }, ['/args/4']],
  ['awk by an option', { command: 'gawk', args: ['--source', '{{a}}', 'ok.txt'] }, ['/args/1']],
  ['sed', { command: 'sed', args: ['-n', '{{a}}', 'ok.txt'] }, ['/args/1']],
  ['sed after "--"', { command: 'sed', args: ['--', '{{a}}'] }, ['/args/1']],
  ['sed by an option', { command: 'sed', args: ['-n', ['-e', '{{a}}'], 'ok.txt'] }, ['/args/1/1']],
  ['sed by an option cut short', { command: 'sed', args: ['--expr', '{{a}}'] }, ['/args/1']],
  ['xargs', { command: 'xargs', args: ['-n', '1', '{{a}}'] }, ['/args/2']],
  ['env', { command: 'env', args: ['A=1', '{{a}}'] }, ['/args/1']],
  ['a split string of env', { command: 'env', args: ['-S', '{{a}}'] }, ['/args/1']],
  ['setpriv', { command: 'setpriv', args: ['--reuid=1', '{{a}}'] }, ['/args/1']],
  ['strace', { command: 'strace', args: ['-e', 'open', '{{a}}'] }, ['/args/2']],
  ['ionice', { command: 'ionice', args: ['-c', '3', '{{a}}'] }, ['/args/2']],
  ['chrt', { command: 'chrt', args: ['1', '{{a}}'] }, ['/args/1']],
  ['perl behind unshare', { command: 'unshare', args: ['-n', 'perl', '-e', '{{a}}'] }, ['/args/3']],
  ['timeout', { command: 'timeout', args: ['-k', '1', '5', '{{a}}'] }, ['/args/3']],
  ['awk behind timeout', { command: 'timeout', args: ['5', 'awk', '{{a}}'] }, ['/args/2']],
  ['awk of busybox', { command: 'busybox', args: ['awk', '{{a}}'] }, ['/args/1']],
  ['a shell behind two', { command: 'nice', args: ['env', 'A=1', 'bash', '-c', '{{a}}'] }, ['/args/4']],
  ['an unsafe script behind env', { command: 'env', args: ['sh', '-c', 'ls $1', 'x', '{{a}}'] }, ['/args/2']],
  ['a shell that reads the input', { command: 'sh', args: ['-e'] }, ['/args']],
  ['a shell that is told to', { command: 'bash', args: ['-es', '{{a}}'] }, ['/args']],
  ['an unsafe script', { command: 'sh', args: ['-c', 'git log $1', 'x', '{{a}}'] }, ['/args/1']],
  ['a readonly script', { command: 'sh', args: ['-c', 'ls'], permission: 'readonly' }, ['/permission']],
])('no "exec" is a shell by the back door: %s (DECL-3)', async (_what, fields, pointers) => {
  const { issues, runtime } = await openDeclared({
    'a.json': toolFile({ ...fields, input_schema: texts('a') }),
  })
  expect(runtime.registry.size).toBe(0)
  expect(issues).toHaveLength(1)
  for (const pointer of pointers) expect(issues[0]).toContain(` ${pointer}: `)
})

test.each<[string, readonly unknown[]]>([
  ['awk', ['-F', '{{a}}', 'BEGIN { x = 1 } { print $x }', '{{a}}']],
  ['awk', [['-v', '{{a}}'], '{ print }', '{{a}}']],
  ['awk', ['-f', 'sum.awk', '{{a}}']],
  ['sed', ['-n', '-e', 'p', '{{a}}']],
  ['sed', ['-nEe', 's/a/b/', '--', '{{a}}']],
  ['sed', ['--expression=p', '{{a}}']],
  ['sed', ['-i.bak', 's/a/b/', '{{a}}']],
  ['xargs', ['-0', 'grep', '{{a}}']],
  ['env', ['A=1', 'grep', '{{a}}']],
  ['timeout', ['{{a}}', 'make', '{{a}}']],
  ['timeout', ['5', 'awk', '{ print }', '{{a}}']],
  ['sh', ['./script.sh', '{{a}}']],
  ['node', ['script.js', '{{a}}']],
])('a value that is not a code is taken by %s %j (DECL-3)', async (command, args) => {
  const { issues, runtime } = await openDeclared({
    'a.json': toolFile({ command, args, input_schema: texts('a') }),
  })
  expect([issues, runtime.registry.size]).toEqual([[], 1])
})

test('a readonly shell command is taken where it is tagged dangerous, and then a person is asked (DECL-3)', async () => {
  const asked: string[] = []
  const { runtime } = await openDeclared(
    {
      'a.json': toolFile({
        command_type: 'shell',
        command: 'echo fine',
        permission: 'readonly',
        tags: ['dangerous'],
      }),
    },
    {
      async approve({ tool, preview }) {
        asked.push(`${tool}: ${preview?.title}`)
        return { decision: 'allow_once' }
      },
    },
  )
  expect((await runtime.session().call('demo.tool')).data).toBe('fine\n')
  expect(asked).toEqual(["demo.tool: Run sh -c 'echo fine' demo.tool"])
})
