import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { codeTools, defineTool, type Effect, type Rule, type Runtime } from 'handrail'
import { describe, expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { shellTool } from '../support/shell-tool.ts'
import { rounds } from '../support/rounds.ts'

async function open(rules: readonly Rule[], project = makeFolder()): Promise<Runtime> {
  const { approve } = personSaying('deny')
  return openRuntime({ project, tools: [codeTools(), shellTool], policy: { rules }, approve })
}

/** What comes out for a line, which is the same whichever tool hands it to a shell. */
async function judgeLine(runtime: Runtime, line: string): Promise<Effect | undefined> {
  const session = runtime.session()
  const own = await session.preflight('demo.shell', { line })
  const builtIn = await session.preflight('code.run_command', { argv: ['sh', '-c', line] })
  expect([line, builtIn.effect]).toEqual([line, own.effect])
  return own.effect
}

async function judgeArgv(runtime: Runtime, argv: readonly string[], cwd?: string) {
  const report = await runtime
    .session()
    .preflight('code.run_command', { argv, ...(cwd !== undefined && { cwd }) })
  return report.effect
}

const allowing = (...commands: string[]): Rule => ({ id: 'allowing', effect: 'allow', commands })
const denying = (...commands: string[]): Rule => ({ id: 'denying', effect: 'deny', commands })

describe('an allowed command (PERM-11)', () => {
  test.each<[pattern: string, allowed: readonly string[], asked: readonly string[]]>([
    [
      'npm test',
      ['npm test', 'npm  test', '"npm" test', "npm 'test'"],
      ['npm test x', 'npm', 'npm tests', 'x npm test'],
    ],
    [
      'npm run build:*',
      ['npm run build', 'npm run build --watch -x'],
      ['npm run build:all', 'npm run builder', 'npm run'],
    ],
    ['git log *', ['git log', 'git log -1 --oneline'], ['git logs', 'git push', 'git']],
    ['ls*', ['ls', 'lsof', 'ls -la'], ['als']],
    ['* --version', ['node --version', 'git --version'], ['node --version x', 'x y --version']],
    ['git * main', ['git merge main', 'git push origin main'], ['git main', 'git merge main x']],
    ['echo "*"', ['echo a', "echo 'a b'"], ['echo a b', 'echo', 'echo *', 'echo $@', 'echo a$HOME']],
  ])('%s', async (pattern, allowed, asked) => {
    const runtime = await open([allowing(pattern)])
    for (const line of allowed) expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
    for (const line of asked) expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
  })

  test('is one argument list too, in which nothing is an operator', async () => {
    const runtime = await open([allowing('echo *')])
    expect(await judgeArgv(runtime, ['echo', 'ok; touch x', '$(touch x)', '&&', 'touch'])).toBe('allow')
    expect(await judgeArgv(runtime, ['touch', 'x'])).toBe('ask')
    const exact = await open([allowing('echo a b')])
    expect(await judgeArgv(exact, ['echo', 'a', 'b'])).toBe('allow')
    expect(await judgeArgv(exact, ['echo', 'a b'])).toBe('ask')
  })

  test('is the program of that name, not one that a call put there', async () => {
    const project = makeFolder({ echo: '#!/bin/sh\ntouch mark\n', 'sub/keep': '' })
    const runtime = await open([allowing('echo *')], project)
    expect(await judgeLine(runtime, './echo ok')).toBe('ask')
    expect(await judgeLine(runtime, `${project}/echo ok`)).toBe('ask')
    const byPath = await open([allowing('./echo *')], project)
    expect(await judgeLine(byPath, './echo ok')).toBe('allow')
    expect(await judgeLine(byPath, 'echo ok')).toBe('ask')
    expect(await judgeLine(byPath, 'cd sub && ./echo ok')).toBe('ask')
  })

  test('is asked for in a folder that tools may only read, since many programs run what lies in theirs', async () => {
    const readable = makeFolder()
    const writable = makeFolder()
    const runtime = await openRuntime({
      tools: [codeTools()],
      readRoots: [readable],
      writeRoots: [writable],
      policy: { rules: [allowing('git log *')] },
      approve: personSaying('deny').approve,
    })
    for (const argv of [
      ['git', 'log'],
      ['sh', '-c', 'git log'],
    ]) {
      expect(await judgeArgv(runtime, argv)).toBe('allow')
      expect(await judgeArgv(runtime, argv, writable)).toBe('allow')
      expect(await judgeArgv(runtime, argv, readable)).toBe('ask')
    }
  })

  test('needs a rule for each command of the line, which may be different rules', async () => {
    const runtime = await open([allowing('cd *'), { ...allowing('npm test', 'wc *'), id: 'other' }])
    for (const line of [
      'cd a && npm test',
      'npm test | wc -l',
      '(cd a; npm test) || { wc; }',
      'npm test &\nwc',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
    expect(await judgeLine(runtime, 'cd a && npm test && npm publish')).toBe('ask')
  })

  test('may stand behind what changes nothing about it, and behind nothing else', async () => {
    const runtime = await open([allowing('npm test *')])
    for (const before of [
      'nice',
      'nice -n 5',
      'timeout 5',
      'timeout -k 5 10s',
      'time',
      'nohup',
      'stdbuf -oL',
      'command',
      'NODE_ENV=test',
      'CI=1 TZ=UTC nice',
    ])
      expect([before, await judgeLine(runtime, `${before} npm test`)]).toEqual([before, 'allow'])
    const more = [
      'sudo',
      'env',
      'env -i',
      'exec',
      'eval',
      'bash -c',
      'sh',
      'doas',
      'chroot /',
      'unshare',
      'setsid',
      'watch',
      'npx',
      'LD_PRELOAD=/x.so',
      'PATH=/x',
      'GIT_PAGER=x',
      'NODE_OPTIONS=-rx',
      'timeout -v',
      'nice -x',
      'trap',
      'coproc',
      '.',
      'source',
    ]
    for (const before of more)
      expect([before, await judgeLine(runtime, `${before} npm test`)]).toEqual([before, 'ask'])
  })

  test('writes and reads no file by a redirection', async () => {
    const runtime = await open([allowing('echo *')])
    for (const line of [
      'echo a > f',
      'echo a >> f',
      'echo < f',
      'echo a 2> f',
      'echo a &> f',
      'echo a >| f',
      'echo a <> f',
      'echo a > $f',
      '(echo a) > f',
      'exec 3> f; echo x >&3',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
    for (const line of [
      'echo a > /dev/null 2>&1',
      'echo a 2>/dev/null',
      'echo <<< text',
      "echo <<'E'\n$(touch x)\nE",
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
  })

  test('removes, runs and writes nothing by an option, unless the rule has it word for word', async () => {
    const runtime = await open([
      allowing(
        'sed -n *',
        'tree *',
        'man *',
        'less *',
        'find *',
        'sort *',
        'git *',
        'split *',
        'xargs *',
        'watch *',
        'flock *',
        'rg *',
      ),
    ])
    const lines = [
      'find . -delete',
      'find . -exec rm {} +',
      'find . -fprint f',
      'sort -o f a',
      'sort --outp=f a',
      'sort -uof a',
      'sort --compress-program=./x -S 1k a',
      'split --filter=./x a',
      'split --fil ./x a',
      'split -n 1 -a 2 a src/inde',
      'split --additional-suffix=.ts a',
      'git grep -O./x y',
      'git grep --open-files-in-pager=./x y',
      'git grep --open=./x y',
      'git grep -nO./x y',
      'git --no-pager grep -O./x y',
      'git -c alias.y=!./x y',
      'git -C . -c core.pager=./x log',
      'git --exec-path=. y',
      'git log --outp=f',
      'git fetch --upload-pa=./x .',
      'git clone -qu ./x . y',
      'git bisect run ./x',
      'git $Y -O./x y',
      'sed -n -i s/a/b/ f',
      'sed -n -Ei.bak s/a/b/ f',
      'sed -n --in-place s/a/b/ f',
      "sed -n '1e ./x' f",
      "sed -n 's/a/b/e' f",
      "sed -n 's|a|b|gw f' f",
      "sed -n '/a/w f' f",
      'sed -n -f x f',
      'tree -o f',
      'tree -ao f',
      'man -P ./x ls',
      'man --pager=./x ls',
      'less -of f',
      'less "+!./x" f',
      'rg --pre ./x y',
      'rg --pre=./x y',
      'rg --hostname-bin ./x y',
      'xargs ./x',
      'watch ./x',
      'flock l ./x',
    ]
    for (const line of lines) expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
    for (const line of [
      'find . -name x',
      'sort -u a',
      'git -C . grep -n x',
      'tree -a',
      'man ls',
      'less -N f',
      "sed -n '1,5p' f",
      "sed -n 's/where/when/p; /we/d' f",
      'rg -n x',
      'split -l 5 a',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
    const exact = await open([allowing('find . -delete', 'sort -o f a', 'watch ls')])
    for (const line of ['find . -delete', 'sort -o f a', 'watch ls'])
      expect([line, await judgeLine(exact, line)]).toEqual([line, 'allow'])
  })

  test('does not run another one by a wrapper that the rule names, unless the rule names both', async () => {
    const wrappers = [
      'command *',
      'nice *',
      'env *',
      'timeout *',
      'stdbuf *',
      'busybox *',
      'exec *',
      'sudo *',
    ]
    const runtime = await open([
      allowing(...wrappers, 'env CI=1 npm test *', 'sudo -n ls *', 'nice -n 5 git log *'),
    ])
    for (const line of [
      'command -p sh f',
      'nice -p sh f',
      'env sh f',
      'env A=1 ./x',
      'timeout -x 5 sh f',
      'stdbuf -oL sh f',
      'busybox sh f',
      'exec sh f',
      'sudo -n sh f',
      'nice -n 5 git log --output=f',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
    for (const line of [
      'command -v ls',
      'env',
      'env CI=1 npm test -- a',
      'sudo -n ls -l',
      'nice -n 5 git log -1',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
  })

  test('shows what it reads by programs of version control and of pieces, and no more', async () => {
    const runtime = await open([allowing('hg *', 'svn *', 'csplit *', 'xmllint *')])
    for (const line of [
      'hg log --config alias.log=!./x',
      'hg --conf=x=y log',
      'svn diff --diff-cmd ./x',
      'svn diff --config-option=config:helpers:diff-cmd=./x',
      'csplit -f sr a 1',
      'csplit --prefix=sr a 1',
      'xmllint --output f a',
      'xmllint --shell a',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
    for (const line of ['hg log -l 5', 'hg status', 'svn diff -r 5', 'csplit a 10', 'xmllint --format a'])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
  })

  test('is nothing that a rule covers together with what it does not know', async () => {
    const project = makeFolder({ 'sub/keep': '' })
    const runtime = await open([allowing('ls *')], project)
    expect(await judgeArgv(runtime, ['ls'], 'sub')).toBe('allow')
    for (const argv of [
      ['sh'],
      ['sh', 'f'],
      ['sh', '-lc', 'ls'],
      ['sh', '-c', 'ls', 'x'],
      ['bash', '-ic', 'ls'],
      ['sh', '-c', ''],
    ])
      expect([argv, await judgeArgv(runtime, argv)]).toEqual([argv, 'ask'])
  })
})

/** With a rule that allows `echo *`, each would do more than echo. */
const attacks: readonly [id: string, lines: readonly string[]][] = [
  ['CM-01', ['echo ok; touch mark', 'echo ok;touch mark', ';touch mark']],
  [
    'CM-02',
    [
      'echo ok && touch mark',
      'echo ok || touch mark',
      'echo ok | tee mark',
      'echo ok |& tee mark',
      'echo ok & touch mark',
    ],
  ],
  ['CM-04', ['echo ok\ntouch mark', 'echo ok\r\ntouch mark', 'echo ok \\\n\ntouch mark']],
  [
    'CM-06',
    [
      'echo "$(touch mark)"',
      'echo $(echo $(touch mark))',
      'echo "${x:-$(touch mark)}"',
      'echo ok $(</dev/null touch mark)',
    ],
  ],
  ['CM-07', ['echo `touch mark`', 'echo "`touch mark`"', 'echo `echo \\`touch mark\\``']],
  ['CM-08', ['cat <(touch mark)', 'echo <(touch mark)', 'echo >(touch mark)']],
  ['CM-09', ['cat <<E\n$(touch mark)\nE', 'echo <<E\n$(touch mark)\nE', 'echo <<-E\n\t`touch mark`\n\tE']],
  ['CM-10', ["x='a[$(touch mark)]'; echo $((x))", 'echo $((x))', 'echo $[x]', 'echo $((a[$(touch mark)]))']],
  [
    'CM-12',
    [
      "[[ -v 'a[$(touch mark)]' ]]",
      "[[ -v 'a[$(touch mark)]' ]] && echo ok",
      "echo ok; test -v 'a[$(touch mark)]'",
    ],
  ],
  ['CM-13', ["x='$(touch mark)'; echo ${x@P}", 'echo ${x@P}', 'echo ${!x}']],
  ['CM-15', ["$'\\x73\\x68' ./p", "$'echo' ok; $'\\x73h' p", '$"echo" ok', '$X ok', '${X:-echo} ok']],
  ['CM-21', ['exec 3> ../f; echo x >&3', 'echo x 3> ../f']],
  ['CM-22', ['cd .. && echo x > f', 'cd .. && echo x', 'pushd .. ; echo x']],
  [
    'CM-23',
    [
      'export PAGER=./p',
      'export PAGER=./p; echo ok',
      'PAGER=./p',
      'PAGER=./p echo ok',
      'alias echo=touch; echo mark',
      'echo() { touch mark; }; echo',
    ],
  ],
  [
    'CM-25',
    [
      "trap 'touch mark' EXIT",
      'trap ./p EXIT; echo',
      'coproc touch mark',
      'coproc echo { touch mark; }',
      'eval echo ok',
      'eval "touch mark"',
    ],
  ],
  ['CM-33', ['xargs ./p', 'echo ok | xargs touch', 'split --filter=./p']],
  ['CM-36', ['node -r ./e.cjs', 'NODE_OPTIONS=--require=./e.cjs echo ok']],
  [
    'CM-37',
    [
      'LD_PRELOAD=./l.so echo ok',
      'BASH_ENV=./p bash -c "echo ok"',
      'env LD_PRELOAD=./l.so echo ok',
      'ENV=./p sh -c "echo ok"',
    ],
  ],
]

test.each(attacks)('%s: a rule that allows echo allows nothing beside it (PERM-11)', async (_, lines) => {
  const runtime = await open([allowing('echo *')])
  for (const line of lines) expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
})

describe('a denied command (PERM-11)', () => {
  test('is found wherever it stands', async () => {
    const runtime = await open([allowing('*'), denying('rm *')])
    const lines = [
      'rm x',
      'echo hi && rm -rf tmp/',
      'FOO=bar rm x',
      'sudo -u root rm x',
      'env -i A=b rm x',
      'nice -n 5 timeout 3 rm x',
      'exec rm x',
      'command rm x',
      'bash -c "rm x"',
      'sh -c \'sh -c "rm x"\'',
      'eval rm x',
      "trap 'rm x' EXIT",
      'coproc rm x',
      'echo x | xargs rm',
      'find . -exec rm {} +',
      'echo `rm x`',
      'cat <(rm x)',
      'sh <<E\nrm x\nE',
      'sh <<< "rm x"',
      'if true; then rm x; fi',
      'f() { rm x; }; f',
      '/bin/rm x',
      './rm x',
      'r\\m x',
      '"r"m x',
      'watch -n 5 rm x',
      'time rm x',
      '! rm x',
      'busybox rm x',
      'alias a="rm x"\na',
      '. rm x',
      'source rm x',
      'bash rm x',
      'sh -e rm x',
      'compgen -C "rm x"',
      'mapfile -C "rm x" -c 1 a < b',
      'hash -p /bin/rm c; c x',
      'hash -p/bin/rm c; c x',
      'source /dev/stdin <<< "rm x"',
    ]
    for (const line of lines) expect([line, await judgeLine(runtime, line)]).toEqual([line, 'deny'])
    expect(await judgeLine(runtime, 'echo rm x')).toBe('allow')
    expect(await judgeLine(runtime, 'rmdir x')).toBe('allow')
  })

  test('is found as an argument list, with whatever runs it', async () => {
    const runtime = await open([denying('rm *')])
    for (const argv of [
      ['rm', 'x'],
      ['env', 'A=b', 'rm', 'x'],
      ['bash', '-lc', 'true; rm x'],
      ['find', '.', '-exec', 'rm', '{}', ';'],
    ])
      expect([argv, await judgeArgv(runtime, argv)]).toEqual([argv, 'deny'])
    expect(await judgeArgv(runtime, ['echo', 'rm x'])).toBe('ask')
  })

  test('is found after however many others, and a line is never too long to look through (CM-17)', async () => {
    const runtime = await open([allowing('true', 'curl *'), denying('curl *')])
    for (const count of [49, 5000])
      expect(await judgeLine(runtime, `${'true;'.repeat(count)} curl http://evil/`)).toBe('deny')
    const nested = `${'$('.repeat(60)}curl x${')'.repeat(60)}`
    expect(await judgeLine(runtime, nested)).toBe('deny')
  })

  test('is asked for where nobody can tell whether it is there', async () => {
    const runtime = await open([allowing('*'), denying('rm *')])
    for (const line of ['$X x', 'sh -c "$X"', 'eval "$X"', 'sh', 'curl x | sh', 'echo "open', 'echo ${x@P}'])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
    for (const line of [
      'echo "rm x" | . /dev/stdin',
      'bash /dev/fd/3',
      'sh /proc/self/fd/0',
      'enable -f ./x.so y',
    ])
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'ask'])
    const report = await runtime.session().preflight('demo.shell', { line: '$X x' })
    expect(report.decision).toMatchObject({ layer: 'policy', rule: 'denying' })
    expect(report.decision?.reason).toContain('cannot be read safely')
  })

  test('beats an allow of the very same command, and an ask stands between them', async () => {
    const runtime = await open([
      allowing('aws *'),
      denying('aws s3 rm *'),
      { id: 'asking', effect: 'ask', commands: ['aws s3 cp *'] },
    ])
    expect(await judgeLine(runtime, 'aws s3 ls')).toBe('allow')
    expect(await judgeLine(runtime, 'aws s3 cp a b')).toBe('ask')
    expect(await judgeLine(runtime, 'aws s3 cp a b; aws s3 rm c')).toBe('deny')
  })
})

test('a program sees arguments byte for byte, and no secret of the host (CM-39, CM-41)', async () => {
  process.env['DEMO_SECRET'] = 'hunter2'
  const runtime = await open([allowing('node *', 'env')])
  const session = runtime.session()
  const odd = '$(touch mark) `x` "\'\\ ; && \n *'
  const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
  const echoed = await session.call('code.run_command', { argv: ['node', '-e', script, odd] })
  expect(echoed.data).toMatchObject({ stdout: { head: JSON.stringify([odd]) } })
  const environment = await session.call('code.run_command', { argv: ['env'] })
  delete process.env['DEMO_SECRET']
  expect(environment.ok).toBe(true)
  expect(JSON.stringify(environment)).not.toContain('hunter2')
})

describe('fields of the input (PERM-11)', () => {
  const agent = defineTool({
    name: 'demo.agent',
    description: 'Starts an agent.',
    permission: 'readonly',
    input: { type: 'object', properties: { model: { type: 'string' }, turns: { type: 'number' } } },
    run: () => null,
  })
  test.each<[Record<string, string>, object, Effect]>([
    [{ model: 'big' }, { model: 'big' }, 'deny'],
    [{ model: 'big' }, { model: 'bigger' }, 'allow'],
    [{ model: 'big*' }, { model: 'bigger' }, 'deny'],
    [{ model: '*' }, {}, 'allow'],
    [{ turns: '5' }, { turns: 5 }, 'deny'],
    [{ model: '*', turns: '5' }, { model: 'x', turns: 6 }, 'allow'],
    [{ toString: '*' }, {}, 'allow'],
  ])('a rule on %j and the input %j: %s', async (input, given, effect) => {
    const runtime = await openRuntime({ tools: [agent], policy: { rules: [{ effect: 'deny', input }] } })
    expect((await runtime.session().preflight('demo.agent', given)).effect).toBe(effect)
  })
})

describe('a rule of some projects (PERM-11)', () => {
  test('holds in these and in no other, by absolute folder or from the home on', async () => {
    const home = makeFolder()
    const [here, there] = ['here', 'there'].map((name) => join(realpathSync(home), name))
    const judge = async (project: string, projects: readonly string[]) => {
      mkdirSync(project, { recursive: true })
      const rules: Rule[] = [{ effect: 'deny', tools: ['code.read_file'], projects }]
      const runtime = await openRuntime({ home, project, tools: [codeTools()], policy: { rules } })
      return (await runtime.session().preflight('code.read_file', { path: 'a' })).effect
    }
    expect(await judge(here ?? '', ['~/here', '/elsewhere'])).toBe('deny')
    expect(await judge(here ?? '', [here ?? ''])).toBe('deny')
    expect(await judge(there ?? '', ['~/here', '/elsewhere'])).toBe('allow')
    expect(await judge(there ?? '', ['~'])).toBe('allow')
  })
})

test.each<[Rule, string]>([
  [{ effect: 'deny', commands: [] }, '/policy/rules/0/commands'],
  [{ effect: 'deny', commands: [''] }, '/policy/rules/0/commands/0'],
  [
    { effect: 'deny', commands: [' ; '] },
    '/policy/rules/0/commands/0: " ; " could never match: name a command.',
  ],
  [
    { effect: 'allow', commands: ['npm test', 'a && b'] },
    '/policy/rules/0/commands/1: "a && b" could never match: each command',
  ],
  [{ effect: 'allow', commands: ['echo * > f'] }, 'Take the redirection out.'],
  [
    { effect: 'allow', commands: ['ls'], resources: ['handrail:file:/a'] },
    '/policy/rules/0/resources: An allow rule covers',
  ],
  [{ effect: 'deny', input: {} }, '/policy/rules/0/input'],
  [{ effect: 'deny', projects: ['here'] }, '/policy/rules/0/projects/0: "here" is not an absolute path'],
  [{ effect: 'deny', projects: ['{project}'] }, '"{project}" would be every project.'],
])('a rule that could never match is an issue: %j (PERM-11)', async (rule, message) => {
  await expect(openRuntime({ policy: { rules: [rule] } })).rejects.toThrow(message)
})

// --- properties -------------------------------------------------------------------------------------------------------------------

const allowedCommand = fc.constantFrom(
  'echo a',
  'echo a b',
  'npm test',
  'wc -l',
  'nice npm test',
  'CI=1 echo x',
  "echo 'x y'",
  'echo 2>&1',
)
const otherCommand = fc.constantFrom(
  'touch m',
  './echo a',
  'npm publish',
  'sudo echo a',
  'echo a > f',
  '$X',
  'PATH=. echo a',
  'eval echo',
  'sh -c "echo a"',
  'X=1',
  'env echo a',
  'exec echo a',
  '"echo a"',
  'npm "test "',
)
const operator = fc.constantFrom(' && ', ' || ', ' | ', ' ; ', ';', '\n', ' & ', ' |& ', '\n\n')

/** Allowed lines, nested in every way that a line may be and stay allowed. */
const { allowedLine } = fc.letrec<{ allowedLine: string }>((tie) => ({
  allowedLine: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    allowedCommand,
    fc.tuple(tie('allowedLine'), operator, tie('allowedLine')).map((parts) => parts.join('')),
    tie('allowedLine').map((line) => `( ${line}\n)`),
    tie('allowedLine').map((line) => `{ ${line}\n}`),
    tie('allowedLine').map((line) => `echo "$( ${line}\n)"`),
    tie('allowedLine').map((line) => `echo <(${line}\n)`),
  ),
}))

/** Ways to put one line into another. */
const place = fc.constantFrom<(line: string, other: string) => string>(
  (line, other) => `${line} && ${other}`,
  (line, other) => `${other} || ${line}`,
  (line, other) => `${line} | ${other}`,
  (line, other) => `${line}\n${other}`,
  (line, other) => `${line}; (${line}; ${other})`,
  (line, other) => `${line} & { ${other}\n}`,
  (line, other) => `echo "$(${other})" && ${line}`,
  (line, other) => `echo <(${other}) && ${line}`,
  (line, other) => `${line} && echo <<E\n$(${other})\nE`,
  (line, other) => `if true; then ${line}; ${other}; fi`,
)

/** Other ways to write a word without a space: quotes, backslashes, empty pieces. */
const quotings = fc.constantFrom<(word: string) => string>(
  (word) => word,
  (word) => `"${word}"`,
  (word) => `'${word}'`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `\\${word}`,
  (word) => `""${word}`,
  (word) => `${word.slice(0, -1)}"${word.slice(-1)}"`,
  (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`,
)

test('one more command that no rule allows makes a line not allowed, wherever it stands (PERM-11)', async () => {
  const runtime = await open([allowing('echo *', 'npm test', 'wc *')])
  await fc.assert(
    fc.asyncProperty(allowedLine, otherCommand, place, async (line, other, put) => {
      expect([line, await judgeLine(runtime, line)]).toEqual([line, 'allow'])
      const both = put(line, other)
      expect([both, await judgeLine(runtime, both)]).toEqual([both, 'ask'])
    }),
    { numRuns: rounds({ usual: 15, long: 300 }) },
  )
})

test('a denied command is found, or asked for, wherever it is put (PERM-11)', async () => {
  const runtime = await open([allowing('*'), denying('touch *')])
  await fc.assert(
    fc.asyncProperty(allowedLine, place, async (line, put) => {
      const both = put(line, 'touch m')
      expect([both, await judgeLine(runtime, both)]).toEqual([both, 'deny'])
    }),
    { numRuns: rounds({ usual: 10, long: 200 }) },
  )
})

test('how words are quoted does not change what comes out (PERM-11)', async () => {
  const runtime = await open([allowing('npm run build *', 'git log *'), denying('git log -p *', 'rm *')])
  const words = fc
    .tuple(
      fc.constantFrom('npm', 'git', 'rm'),
      fc.array(fc.constantFrom('run', 'build', 'log', '-p', 'x'), { maxLength: 4 }),
    )
    .map(([program, rest]) => [program, ...rest])
  await fc.assert(
    fc.asyncProperty(words, fc.array(quotings, { minLength: 5, maxLength: 5 }), async (plain, ways) => {
      const quoted = plain.map((word, index) => ways[index]?.(word) ?? word).join(' ')
      const [first, second] = [await judgeLine(runtime, plain.join(' ')), await judgeLine(runtime, quoted)]
      expect([quoted, second]).toEqual([quoted, first])
      expect(await judgeArgv(runtime, plain)).toBe(first)
    }),
    { numRuns: rounds({ usual: 10, long: 200 }) },
  )
})
