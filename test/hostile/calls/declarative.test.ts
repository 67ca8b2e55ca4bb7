import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { resultText, type RuntimeOptions } from 'handrail'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { serveHttp } from '../../../src/mcp/server/http/serve-http.ts'
import { createClient } from '../../mcp/connect.ts'
import { atEnd, keepOpen } from '../../support/at-end.ts'
import { filesIn, openDeclared, tellAll, texts, toolFile } from '../../support/declared-tools.ts'
import { makeFolder } from '../../support/project.ts'
import { firstOf, rounds } from '../../support/rounds.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Declared tools under attack, reached in one way. */
interface Target {
  readonly project: string
  /** Outside of the project; nothing may appear in it. */
  readonly outside: string
  readonly issues: readonly string[]
  call(tool: string, input: Record<string, unknown>): Promise<{ ok: boolean; text: string }>
}

type Open = (
  declare: (places: { project: string; outside: string }) => Record<string, unknown>,
  options?: RuntimeOptions,
) => Promise<Target>

const openBoth = async (declare: Parameters<Open>[0], options: RuntimeOptions = {}) => {
  const places = { project: makeFolder(), outside: makeFolder() }
  const limits = { repeatsPerSession: 10_000 }
  const opened = await openDeclared(declare(places), { limits, ...options, project: places.project })
  return { ...places, ...opened }
}

const throughLibrary: Open = async (...given) => {
  const { runtime, ...rest } = await openBoth(...given)
  const session = runtime.session()
  return {
    ...rest,
    async call(tool, input) {
      const result = await session.call(tool, input)
      return { ok: result.ok, text: resultText(result) }
    },
  }
}

const throughMcp: Open = async (...given) => {
  const { runtime, ...rest } = await openBoth(...given)
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 50, log: () => {} })
  const client = createClient({
    era: 'modern',
    onAsk: () => ({ action: 'accept', content: { decision: 'allow_once' } }),
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  atEnd(async () => {
    await client.close()
    await server.close()
  })
  return {
    ...rest,
    async call(name, input) {
      const { content, isError } = await client.callTool({ name, arguments: input })
      const text = content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
      return { ok: isError !== true, text }
    },
  }
}

/** Any letter of Unicode. The unit of fast-check for them takes seconds to make. */
const letter = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code))

/** Command lines that would leave a mark, were any shell to read them. */
const commandLines: readonly (readonly [string, string])[] = [
  ['CM-01', 'echo ok; touch {MARK}'],
  ['CM-02', 'echo ok && touch {MARK}'],
  ['CM-02', 'false || touch {MARK}'],
  ['CM-02', 'echo ok | tee {MARK}'],
  ['CM-02', 'echo ok |& tee {MARK}'],
  ['CM-02', 'touch {MARK} & echo ok'],
  ['CM-04', 'echo ok\ntouch {MARK}'],
  ['CM-04', 'echo ok\r\ntouch {MARK}\r\n'],
  ['CM-04', "'\ntouch {MARK}\n'"],
  ['CM-06', 'echo "$(touch {MARK})"'],
  ['CM-06', '"; touch {MARK}; "'],
  ['CM-06', "'$(touch {MARK})'"],
  ['CM-07', 'echo `touch {MARK}`'],
  ['CM-08', 'cat <(touch {MARK})'],
  ['CM-08', 'tee >(touch {MARK})'],
  ['CM-09', 'cat <<E\n$(touch {MARK})\nE'],
  ['CM-09', 'E\n$(touch {MARK})'],
  ['CM-10', 'a[$(touch {MARK})]'],
  ['CM-10', '$((a[$(touch {MARK})]))'],
  ['CM-12', "[[ -v 'a[$(touch {MARK})]' ]]"],
  ['CM-13', "x='$(touch {MARK})'; echo ${x@P}"],
  ['CM-13', '${IFS:-$(touch {MARK})}'],
  ['CM-15', String.raw`$'\x74ouch' {MARK}`],
  ['CM-15', String.raw`t\o'u'"c"h {MARK}`],
  ['CM-17', `${'true;'.repeat(49)} touch {MARK}`],
  ['CM-21', 'exec 3> {MARK}; echo x >&3'],
  ['CM-21', '> {MARK}'],
  ['CM-22', 'cd .. && touch {MARK}'],
  ['CM-23', 'export PAGER=touch; touch {MARK}'],
  ['CM-25', 'trap "touch {MARK}" EXIT'],
  ['CM-25', 'coproc touch {MARK}'],
  ['CM-25', 'eval touch {MARK}'],
  ['CM-25', '. {MARK}'],
  ['CM-41', '* ~ {a,b} %s %n \\ \\n !! $0 $1 $@ "{MARK}"'],
]

const echoes = {
  'exec.json': toolFile({
    name: 'demo.exec',
    command: 'printf',
    args: ['%s', '{{text}}'],
    input_schema: texts('text'),
  }),
  'shell.json': toolFile({
    name: 'demo.shell',
    command_type: 'shell',
    command: 'printf %s "$1" | cat; : "${1:-none}"; x="$1"; test "$x" = "$1"',
    args: ['{{text}}'],
    input_schema: texts('text'),
  }),
}

describe.each(
  firstOf([
    ['the library', throughLibrary],
    ['MCP', throughMcp],
  ] as const),
)('through %s', (_door, open) => {
  const echoing = keepOpen(() => open(() => echoes))

  test.each(commandLines)('%s a value %j is a value, to a program and to a script', async (_id, line) => {
    const target = echoing()
    const mark = join(target.outside, 'mark')
    const text = line.replaceAll('{MARK}', mark)
    for (const tool of ['demo.exec', 'demo.shell'])
      expect(await target.call(tool, { text })).toEqual({ ok: true, text })
    expect([existsSync(mark), filesIn(target.project)]).toEqual([false, []])
  })

  test('CM-17 a denied program is found at the end of a long script', async () => {
    const script = `${'true; '.repeat(49)}curl http://evil.example/`
    const target = await open(() => ({ 'a.json': toolFile({ command_type: 'shell', command: script }) }), {
      policy: { rules: [{ id: 'no-curl', effect: 'deny', commands: ['curl *'] }] },
    })
    expect(await target.call('demo.tool', {})).toMatchObject({
      ok: false,
      text: expect.stringContaining('no-curl'),
    })
  })

  test.each([
    ['CM-21', 'exec 3> {OUT}/f; echo x >&3'],
    ['CM-21', 'echo x > {OUT}/f'],
    ['CM-22', 'cd .. && echo x > f && mkdir {OUT}/f'],
    ['CM-22', 'ln -s {OUT} out && touch out/f'],
    ['CM-22', 'cp -r . {OUT}/f'],
  ])('%s what a script itself writes stays inside: %s', async (_id, script) => {
    const target = await open(({ outside }) => ({
      'a.json': toolFile({ command_type: 'shell', command: script.replaceAll('{OUT}', outside) }),
    }))
    expect((await target.call('demo.tool', {})).ok).toBe(false)
    expect(filesIn(target.outside)).toEqual([])
  })

  test('CM-23 nothing of one call is left for the next but files', async () => {
    const target = await open(() => ({
      'set.json': toolFile({
        name: 'demo.set',
        command_type: 'shell',
        command: 'export PAGER=evil; umask 0; cd /; ulimit -n 9',
      }),
      'get.json': toolFile({
        name: 'demo.get',
        command_type: 'shell',
        command: 'echo "${PAGER:-none} $(pwd) $(umask) $(ulimit -n)"',
      }),
    }))
    const before = await target.call('demo.get', {})
    await target.call('demo.set', {})
    expect(await target.call('demo.get', {})).toEqual(before)
    expect(before.text).toContain(`none ${target.project}`)
  })

  /** Options that write, run or read elsewhere, given as values. */
  const options: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'CM-30',
      'sort',
      [
        '-o{OUT}/f',
        '-o',
        '--output={OUT}/f',
        '--outp={OUT}/f',
        '--o={OUT}/f',
        '--compress-program={OUT}/p',
        '-T{OUT}',
        '--files0-from=/etc/passwd',
        '-',
        '--',
      ],
    ],
    ['CM-30', 'find', ['-delete', '-exec', '-fprintf', '-fls', '-files0-from']],
    ['CM-30', 'grep', ['-f/etc/passwd', '--file=/etc/passwd', '-rn', '--include=*']],
    ['CM-30', 'tar', ['--to-command=sh', '--checkpoint-action=exec=sh', '-I{OUT}/p', '-cf{OUT}/f']],
    [
      'CM-30',
      'git',
      ['--output={OUT}/f', '-c', '--exec-path={OUT}', '--upload-pack={OUT}/p', '-O{OUT}/p', '--open={OUT}/p'],
    ],
    ['CM-30', 'curl', ['-o{OUT}/f', '-K/etc/passwd', '--config=/etc/passwd', '-T/etc/passwd']],
    ['CM-33', 'split', ['--filter=touch {OUT}/f', '--fil=touch {OUT}/f']],
    [
      'CM-36',
      'node',
      [
        '-r',
        '--require=./e.cjs',
        '--req=./e.cjs',
        '-e',
        '--eval=1',
        '-p',
        '--import=./e.mjs',
        '--env-file=/etc/passwd',
      ],
    ],
    ['CM-36', 'python3', ['-c', '-m', '-i', '-X', '-V']],
  ]

  test.each(options)('%s no value is an option of %s', async (_id, command, values) => {
    const target = await open(() => ({
      'first.json': toolFile({
        name: 'demo.first',
        command,
        args: ['{{value}}'],
        input_schema: texts('value'),
      }),
      'last.json': toolFile({
        name: 'demo.last',
        command,
        args: ['--fixed', '-x', 'fixed', '{{value}}'],
        input_schema: texts('value'),
      }),
      'shell.json': toolFile({
        name: 'demo.shell',
        command_type: 'shell',
        command: `${command} "$2" "$1"`,
        args: ['{{value}}', 'fixed'],
        input_schema: texts('value'),
      }),
    }))
    expect(target.issues).toEqual([])
    for (const each of values)
      for (const tool of ['demo.first', 'demo.last', 'demo.shell']) {
        const value = each.replaceAll('{OUT}', target.outside)
        expect(await target.call(tool, { value })).toMatchObject({
          ok: false,
          text: expect.stringContaining('argv_flag'),
        })
      }
    expect([filesIn(target.outside), filesIn(target.project)]).toEqual([[], []])
  })

  test('CM-30 in a script "--" among the arguments protects nothing, so it lets nothing through', async () => {
    const target = await open(() => ({
      'a.json': toolFile({
        command_type: 'shell',
        command: 'sort "$2"',
        args: ['--', '{{value}}'],
        input_schema: texts('value'),
      }),
    }))
    expect((await target.call('demo.tool', { value: `-o${target.outside}/f` })).text).toContain('argv_flag')
  })

  test('CM-30 after "--" an option is the name of a file', async () => {
    const target = await open(({ project }) => {
      writeFileSync(join(project, '-obad'), 'b\na\n')
      return {
        'a.json': toolFile({ command: 'sort', args: ['--', '{{path}}'], input_schema: texts('path') }),
      }
    })
    expect(await target.call('demo.tool', { path: '-obad' })).toEqual({ ok: true, text: 'a\nb\n' })
    expect((await target.call('demo.tool', { path: `-o${target.outside}/f` })).ok).toBe(false)
    expect(filesIn(target.outside)).toEqual([])
  })

  test('CM-30 values that are no options are taken', async () => {
    const target = echoing()
    for (const text of [
      'a-b',
      './-o',
      ' -o',
      '\u2013o',
      '\u2212o',
      '+x',
      '@file',
      '=',
      '\t-rf',
      '"-o"',
      '\\-o',
    ])
      for (const tool of ['demo.exec', 'demo.shell'])
        expect(await target.call(tool, { text })).toEqual({ ok: true, text })
  })

  test('CM-33 no value names the program that runs', async () => {
    const target = await open(({ project }) => {
      mkdirSync(join(project, 'bin'))
      writeFileSync(join(project, 'bin', 'echo'), '#!/bin/sh\necho evil\n', { mode: 0o755 })
      writeFileSync(join(project, 'echo'), '#!/bin/sh\necho evil\n', { mode: 0o755 })
      return {
        'a.json': toolFile({ command: '{{program}}', input_schema: texts('program') }),
        'b.json': toolFile({ name: 'demo.path', command: '{{program}}/x', input_schema: texts('program') }),
        'c.json': toolFile({
          name: 'demo.shell',
          command_type: 'shell',
          command: '"$1" x',
          args: ['{{program}}'],
          input_schema: texts('program'),
        }),
        'd.json': toolFile({
          name: 'demo.echo',
          command: 'echo',
          args: ['{{word}}'],
          input_schema: texts('word'),
        }),
      }
    })
    expect(target.issues).toHaveLength(3)
    for (const tool of ['demo.tool', 'demo.path', 'demo.shell'])
      expect((await target.call(tool, { program: 'id' })).text).toContain('tool_not_available')
    expect(await target.call('demo.echo', { word: 'good' })).toEqual({ ok: true, text: 'good\n' })
  })

  test('CM-36 CM-37 no variable of Handrail makes a program load anything', async () => {
    const evil = join(makeFolder({ 'evil.cjs': 'console.log("evil")', 'evil.sh': 'echo evil' }), 'evil')
    const variables = {
      NODE_OPTIONS: `--require=${evil}.cjs`,
      BASH_ENV: `${evil}.sh`,
      ENV: `${evil}.sh`,
      LD_PRELOAD: `${evil}.so`,
      LD_LIBRARY_PATH: evil,
      PYTHONSTARTUP: `${evil}.py`,
      PERL5OPT: '-Mevil',
      GIT_EXTERNAL_DIFF: `${evil}.sh`,
      GIT_SSH_COMMAND: `${evil}.sh`,
      PAGER: `${evil}.sh`,
      EDITOR: `${evil}.sh`,
      RIPGREP_CONFIG_PATH: evil,
      npm_config_prefix: evil,
    }
    const target = await open(() => ({
      'env.json': toolFile({ name: 'demo.env', command: 'env' }),
      'node.json': toolFile({ name: 'demo.node', command: 'node', args: ['-p', '1 + 1'] }),
      'bash.json': toolFile({ name: 'demo.bash', command: 'bash', args: ['-c', 'echo fine'] }),
      'shell.json': toolFile({ name: 'demo.shell', command_type: 'shell', command: 'echo fine' }),
    }))
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    const { text } = await target.call('demo.env', {})
    const names = text.split('\n').map((line) => line.split('=')[0])
    expect(names.filter((name) => name !== undefined && Object.hasOwn(variables, name))).toEqual([])
    expect((await target.call('demo.node', {})).text).toBe('2\n')
    expect((await target.call('demo.bash', {})).text).toBe('fine\n')
    expect((await target.call('demo.shell', {})).text).toBe('fine\n')
  })

  test('CM-39 no secret of Handrail is in what a program can see of its environment', async () => {
    vi.stubEnv('HOST_SECRET', 'swordfish-of-the-host')
    const script =
      'env; cat /proc/self/environ /proc/1/environ "/proc/$PPID/environ" 2>/dev/null; cat /proc/[0-9]*/environ 2>/dev/null; true'
    const target = await open(() => ({
      'env.json': toolFile({ name: 'demo.env', command: 'printenv' }),
      'proc.json': toolFile({ name: 'demo.proc', command: 'sh', args: ['-c', script] }),
      'node.json': toolFile({
        name: 'demo.node',
        command: 'node',
        args: ['-p', 'JSON.stringify(process.env)'],
      }),
    }))
    for (const tool of ['demo.env', 'demo.proc', 'demo.node']) {
      const { ok, text } = await target.call(tool, {})
      expect([ok, text.includes('PATH')]).toEqual([true, true])
      expect(text).not.toMatch(/swordfish|HOST_SECRET/)
    }
  })

  test('CM-41 any text arrives as one argument, byte for byte', async () => {
    const target = await open(() => ({
      'a.json': toolFile({
        command: './tell.mjs',
        output: 'json',
        args: ['a', '{{text}}', 'b'],
        input_schema: texts('text'),
      }),
      'tell.mjs': tellAll,
    }))
    const text = fc
      .string({ unit: letter, maxLength: 60 })
      .filter((value) => !value.includes('\0') && !value.startsWith('-') && value.isWellFormed())
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const { text: told } = await target.call('demo.tool', { text: value })
        expect((JSON.parse(told) as { argv: string[] }).argv).toEqual(['a', value, 'b'])
      }),
      { numRuns: rounds({ usual: 6, long: 15 }) },
    )
  })
})
