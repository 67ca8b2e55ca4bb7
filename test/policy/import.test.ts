import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  SetupError,
  codeTools,
  createRuntime,
  defineTool,
  type Effect,
  type JsonObject,
  type ManifestSpec,
  type Operation,
  type Rule,
  type Runtime,
} from 'handrail'
import { importRules, type ImportNote } from 'handrail/policy'
import { describe, expect, test } from 'vitest'
import { findBlocks, readPage } from '../support/markdown.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'

interface Lists {
  allow?: readonly string[]
  ask?: readonly string[]
  deny?: readonly string[]
}

const importLists = (permissions: Lists, project?: string) =>
  importRules({ permissions }, project === undefined ? {} : { project })

/** What a stand-in for a tool says of itself. */
const kinds = {
  look: { permission: 'readonly', sideEffect: 'read', capabilities: { fs: { read: ['*'] } } },
  change: {
    sideEffect: 'filesystem',
    scopes: [{ resource: 'handrail:file:*', action: 'write' }],
    capabilities: { fs: { write: ['*'] } },
  },
  fetch: {
    permission: 'readonly',
    sideEffect: 'network',
    scopes: [{ resource: 'handrail:host:*', action: 'connect' }],
    capabilities: { net: { hosts: ['*'] } },
  },
  plain: { permission: 'readonly', consent: { required: true } },
} satisfies Record<string, Partial<ManifestSpec>>

/** A tool of this name that does what its input names: it reads or changes the path, or reaches the host. */
function standIn(name: string, kind: keyof typeof kinds) {
  return defineTool({
    name,
    description: 'Stands in for a tool.',
    ...kinds[kind],
    input: { type: 'object', additionalProperties: true },
    plan(input) {
      const { path, host } = input as Record<string, unknown>
      const operations: Operation[] = []
      if (kind === 'look') operations.push({ kind: 'fs.read', path: String(path) })
      if (kind === 'change') operations.push({ kind: 'fs.write', path: String(path) })
      if (kind === 'fetch')
        operations.push({ kind: 'net', host: String(host), url: `https://${String(host)}/` })
      return { operations }
    },
    run: () => null,
  })
}

const looking = ['code.read_file', 'code.search', 'own.look']
const changing = ['code.write_file', 'code.edit_file', 'code.edit_notebook', 'own.change']
const plain = [
  'agent.create_sub_agent',
  'internal.load_skill',
  'mcp.github.get_issue',
  'mcp.github.delete_repo',
  'mcp.my__files.read',
  'plan.todo_write',
]
const tools = [
  ...looking.map((name) => standIn(name, 'look')),
  ...changing.map((name) => standIn(name, 'change')),
  standIn('web.fetch', 'fetch'),
  ...plain.map((name) => standIn(name, 'plain')),
]

interface Place {
  root: string
  home: string
  project: string
}

/** A home with a project in it, beside other folders. */
function makePlaces(): Place {
  const root = realpathSync(makeFolder({ 'home/app/keep': '', 'home/other/keep': '', 'else/keep': '' }))
  return { root, home: join(root, 'home'), project: join(root, 'home', 'app') }
}

async function open(lists: Lists, place: Place, own = false): Promise<Runtime> {
  const { rules } = importLists(lists, own ? undefined : place.project)
  const roots = [place.root]
  return openRuntime({
    home: place.home,
    project: place.project,
    tools,
    readRoots: roots,
    writeRoots: roots,
    policy: { rules },
    approve: personSaying('deny').approve,
  })
}

async function judge(runtime: Runtime, tool: string, input: JsonObject): Promise<Effect | undefined> {
  return (await runtime.session().preflight(tool, input)).effect
}

/** What became of each rule that is not taken over exactly: its text, what became of it, why. */
const noted = (notes: readonly ImportNote[]) =>
  notes.map(({ rule, became, reason }) => `${rule} | ${became} | ${reason}`)

describe('what rules become (PERM-11)', () => {
  test('each has an id that says where it is from, and holds in its project', () => {
    const { rules, notes, mode } = importLists(
      {
        allow: ['Bash(npm run test:*)'],
        ask: ['Bash(git push *)'],
        deny: ['Edit(~/.ssh/**)', 'WebFetch(domain:example.com)'],
      },
      '/srv/app',
    )
    const projects = ['/srv/app']
    expect(rules).toEqual([
      {
        id: 'deny Edit(~/.ssh/**) in /srv/app',
        effect: 'deny',
        tools: [
          'code.copy_path',
          'code.delete_path',
          'code.edit_file',
          'code.edit_notebook',
          'code.move_path',
          'code.write_file',
        ],
        resources: ['handrail:file:~/.ssh/**'],
        projects,
      },
      {
        id: 'deny WebFetch(domain:example.com) in /srv/app',
        effect: 'deny',
        tools: ['web.fetch'],
        resources: ['handrail:host:example.com'],
        projects,
      },
      { id: 'ask Bash(git push *) in /srv/app', effect: 'ask', commands: ['git push *'], projects },
      {
        id: 'allow Bash(npm run test:*) in /srv/app',
        effect: 'allow',
        tools: ['code.run_command', 'code.run_shell'],
        commands: ['npm run test:*'],
        projects,
      },
    ])
    expect([noted(notes), mode]).toEqual([
      ['Edit(~/.ssh/**) | wider | it holds for copies of the files to elsewhere too'],
      undefined,
    ])
  })

  test("those of the person's own settings hold in every project", () => {
    expect(importLists({ deny: ['Bash(rm *)'] }).rules).toEqual([
      { id: 'deny Bash(rm *)', effect: 'deny', commands: ['rm *'] },
    ])
  })

  test.each([
    ['default', 'default'],
    ['acceptEdits', 'accept-edits'],
    ['plan', 'plan'],
  ])("the mode %s of the person's own settings is %s", (defaultMode, mode) => {
    expect(importRules({ permissions: { defaultMode } })).toEqual({ rules: [], mode, notes: [] })
  })

  test('a mode that is not here, or that would hold in other projects too, is left out', () => {
    for (const defaultMode of ['bypassPermissions', 'dontAsk', 'toString', ''])
      expect(importRules({ permissions: { defaultMode } })).toMatchObject({
        rules: [],
        notes: [{ became: 'left_out' }],
      })
    const ofProject = importRules({ permissions: { defaultMode: 'acceptEdits' } }, { project: '/srv/app' })
    expect([ofProject.mode, noted(ofProject.notes)]).toEqual([
      undefined,
      [
        'acceptEdits | left_out | the mode of a policy holds in every project, and these settings are those of one',
      ],
    ])
  })

  test('folders and hooks are named, since they stand elsewhere', () => {
    const { notes } = importRules({
      permissions: { additionalDirectories: ['../docs', '/srv'] },
      hooks: { PreToolUse: [] },
    })
    expect(notes.map(({ pointer }) => pointer)).toEqual(['/permissions/additionalDirectories', '/hooks'])
    expect(notes[0]?.reason).toContain('"readRoots": ["../docs","/srv"]')
  })
})

test('the example of the documentation is what comes out (PERM-11)', () => {
  const [settings, rules] = findBlocks(readPage('docs/rules.md'))
    .filter(({ language }) => language === 'json')
    .map(({ code }) => JSON.parse(code) as unknown)
  expect(importRules(settings, { project: '/home/me/app' }).rules).toEqual(rules)
})

describe('paths (PERM-11)', () => {
  // What begins with "$" is a folder of the test.
  test.each<[list: 'allow' | 'deny', rule: string, path: string, matches: boolean]>([
    ['deny', 'Read(./secret)', '$project/secret', true],
    ['deny', 'Read(secret)', '$project/a/b/secret', true],
    ['deny', 'Read(secret)', '$project/secret/inside', true],
    ['deny', 'Read(secret)', '$root/else/secret', false],
    ['deny', 'Read(secret/)', '$project/a/secret/inside', true],
    ['deny', 'Read(**/secret)', '$project/a/secret', true],
    ['deny', 'Read(//**/secret)', '$root/else/a/secret', true],
    ['deny', 'Read(~/private/**)', '$home/private/a/b', true],
    ['deny', 'Read(~/private)', '$home/private/a/b', true],
    ['deny', 'Read(~/private)', '$project/private', false],
    ['deny', 'Read(/top)', '$project/top', true],
    ['deny', 'Read(/top)', '$project/a/top', false],
    ['deny', 'Read(*)', '$root/else/any', true],
    ['deny', 'Read', '$root/else/any', true],
    ['deny', 'Read(../other/x)', '$home/other/x', true],
    ['deny', 'Read([ab].key)', '$project/a.key', true],
    ['deny', 'Read(*.{key,pem})', '$project/x.pem', true],
    ['deny', 'Read({a,b/c}/x)', '$project/b/c/x', true],
    ['deny', String.raw`Read(odd\*name)`, '$project/odd*name', true],
    ['deny', 'Edit(src/**)', '$project/vendor/src/lib.js', true],
    ['allow', 'Edit(src/**)', '$project/vendor/src/lib.js', false],
    ['allow', 'Edit(src/**)', '$project/src/a/lib.js', true],
    ['allow', 'Edit(./src/**)', '$project/src/lib.js', true],
    ['allow', 'Edit(src/**)', '$project/src', false],
    ['allow', 'Edit(src)', '$project/src/lib.js', false],
    ['allow', 'Edit(src/)', '$project/src/lib.js', true],
    ['allow', 'Edit(**/src/**)', '$project/vendor/src/lib.js', true],
    ['allow', 'Edit(/docs/*.md)', '$project/docs/a.md', true],
    ['allow', 'Edit(/docs/*.md)', '$project/docs/a/b.md', false],
    ['allow', 'Edit(/docs/*.md)', '$root/docs/a.md', false],
    ['allow', 'Edit(~/notes/*.md)', '$home/notes/a.md', true],
    ['allow', 'Edit(~/notes/*.md)', '$home/notes/a.txt', false],
    ['allow', 'Edit(*)', '$project/a/b', true],
    ['allow', 'Edit(*)', '$root/else/a', false],
    ['allow', 'Edit(../other/x)', '$home/other/x', false],
    ['allow', 'Edit(src/[ab].js)', '$project/src/a.js', false],
    ['allow', 'Edit(src/*.{js,ts})', '$project/src/a.js', false],
    ['allow', 'Edit(!src/a.js)', '$project/src/a.js', false],
    ['allow', 'Write(docs/**)', '$project/docs/a', false],
  ])('%s %s and %s: %j', async (...[list, rule, path, matches]) => {
    const place = makePlaces()
    const runtime = await open({ [list]: [rule] }, place)
    const full = path.replace(/^\$(\w+)/, (_, name: keyof Place) => place[name])
    const tool = rule.startsWith('Read') ? 'code.read_file' : 'code.edit_file'
    const otherwise = tool === 'code.read_file' ? 'allow' : 'ask'
    expect(await judge(runtime, tool, { path: full })).toBe(matches ? list : otherwise)
  })

  test('those of the person begin at the home folder of that agent, or in any project', async () => {
    const place = makePlaces()
    const runtime = await open({ deny: ['Read(/secrets/**)', 'Read(own)'] }, place, true)
    expect(await judge(runtime, 'code.read_file', { path: `${place.home}/.claude/secrets/x` })).toBe('deny')
    expect(await judge(runtime, 'code.read_file', { path: `${place.project}/secrets/x` })).toBe('allow')
    expect(await judge(runtime, 'code.read_file', { path: `${place.project}/a/own` })).toBe('deny')
  })

  test('an edit rule holds for all tools that edit; one that forbids reading or writing for more, and that is said', async () => {
    const place = makePlaces()
    const path = `${place.project}/x`
    const effects = async (lists: Lists) => {
      const runtime = await open(lists, place)
      const names = [...looking, ...changing]
      return Promise.all(names.map((name) => judge(runtime, name, { path })))
    }
    expect(await effects({ allow: ['Edit(x)'] })).toEqual([
      'allow',
      'allow',
      'allow',
      'allow',
      'allow',
      'allow',
      'ask',
    ])
    expect(await effects({ allow: ['Write(x)'] })).toEqual([
      'allow',
      'allow',
      'allow',
      'allow',
      'ask',
      'ask',
      'ask',
    ])
    expect(await effects({ deny: ['Edit(x)'] })).toEqual([
      'allow',
      'allow',
      'allow',
      'deny',
      'deny',
      'deny',
      'ask',
    ])
    expect(await effects({ deny: ['Write(x)'] })).toEqual([
      'allow',
      'allow',
      'allow',
      'deny',
      'deny',
      'deny',
      'ask',
    ])
    expect(await effects({ deny: ['Read(x)'] })).toEqual(Array(7).fill('deny'))
    expect(noted(importLists({ deny: ['Read(x)', 'Write(x)'] }).notes)).toEqual([
      'Read(x) | wider | it holds for every tool that reaches the files, to write too',
      'Write(x) | wider | it holds for edits, copies, moves and deletions of the files too',
    ])
  })

  test('what a rule says of one project does not hold in another', async () => {
    const place = makePlaces()
    const { rules } = importLists({ allow: ['Edit', 'Edit(src/**)', 'Bash(npm test)'] }, place.project)
    const other = join(place.home, 'other')
    const runtime = await openRuntime({
      home: place.home,
      project: other,
      tools,
      policy: { rules },
      approve: personSaying('deny').approve,
    })
    expect(await judge(runtime, 'code.edit_file', { path: `${other}/src/a` })).toBe('ask')
  })
})

describe('tools, hosts and fields (PERM-11)', () => {
  test.each<
    [list: 'allow' | 'ask' | 'deny', rule: string, tool: string, input: JsonObject, matches: boolean]
  >([
    ['allow', 'WebFetch(domain:example.com)', 'web.fetch', { host: 'example.com' }, true],
    ['allow', 'WebFetch(domain:example.com)', 'web.fetch', { host: 'api.example.com' }, false],
    ['allow', 'WebFetch(domain:*.example.com)', 'web.fetch', { host: 'api.example.com' }, true],
    ['allow', 'WebFetch(domain:example.*)', 'web.fetch', { host: 'example.org' }, true],
    ['deny', 'WebFetch(domain:example.*)', 'web.fetch', { host: 'example.co.uk' }, true],
    ['allow', 'WebFetch(https://example.com/*)', 'web.fetch', { host: 'example.com' }, false],
    ['deny', 'WebFetch(https://example.com/*)', 'web.fetch', { host: 'example.com' }, true],
    ['deny', 'WebFetch(domain:example.com:8080)', 'web.fetch', { host: 'example.com' }, true],
    ['deny', '*', 'plan.todo_write', {}, true],
    ['allow', '*', 'plan.todo_write', {}, false],
    ['deny', 'Todo*', 'plan.todo_write', {}, true],
    ['deny', 'Web*', 'plan.todo_write', {}, false],
    ['deny', 'mcp__*', 'mcp.github.get_issue', {}, true],
    ['deny', 'm*', 'mcp.github.get_issue', {}, true],
    ['deny', 'mcp__*', 'plan.todo_write', {}, false],
    ['deny', 'mcp__*__delete*', 'mcp.github.delete_repo', {}, true],
    ['allow', 'mcp__github', 'mcp.github.get_issue', {}, true],
    ['allow', 'mcp__github__*', 'mcp.github.get_issue', {}, true],
    ['allow', 'mcp__github__get_*', 'mcp.github.get_issue', {}, true],
    ['allow', 'mcp__github__get_*', 'mcp.github.delete_repo', {}, false],
    ['allow', 'mcp__git*', 'mcp.github.get_issue', {}, false],
    ['allow', 'mcp__*__get_issue', 'mcp.github.get_issue', {}, false],
    ['allow', 'mcp__my__files__read', 'mcp.my__files.read', {}, false],
    ['deny', 'mcp__my__files__read', 'mcp.my__files.read', {}, true],
    ['deny', 'mcp__my__files', 'mcp.my__files.read', {}, true],
    ['deny', 'mcp__github__get_issue(x)', 'mcp.github.get_issue', {}, true],
    ['allow', 'mcp__github__get_issue(x)', 'mcp.github.get_issue', {}, false],
    ['deny', 'Agent(model:big)', 'agent.create_sub_agent', { model: 'big' }, true],
    ['deny', 'Agent(model:*)', 'agent.create_sub_agent', {}, false],
    ['deny', 'Task(explorer)', 'agent.create_sub_agent', { agent_definition_id: 'explorer' }, true],
    [
      'deny',
      'Agent(subagent_type:explorer)',
      'agent.create_sub_agent',
      { agent_definition_id: 'other' },
      false,
    ],
    ['deny', 'Skill(deploy)', 'internal.load_skill', { name: 'deploy' }, true],
    ['deny', 'Skill(deploy:*)', 'internal.load_skill', { name: 'deploy' }, true],
    ['allow', 'Skill(deploy *)', 'internal.load_skill', { name: 'deploy' }, true],
    ['allow', 'Skill(deploy)', 'internal.load_skill', { name: 'deploy' }, false],
    ['allow', 'TodoWrite', 'plan.todo_write', {}, true],
    ['deny', 'TodoWrite(x)', 'plan.todo_write', {}, true],
    ['allow', 'TodoWrite(x)', 'plan.todo_write', {}, false],
  ])('%s %s and %s with %j: %j', async (...[list, rule, tool, input, matches]) => {
    const runtime = await open({ [list]: [rule] }, makePlaces())
    expect(await judge(runtime, tool, input)).toBe(matches ? list : 'ask')
  })
})

describe('commands (PERM-11)', () => {
  test.each<[Lists, argv: readonly string[], Effect]>([
    [{ allow: ['Bash(npm run test:*)'] }, ['npm', 'run', 'test', '--watch'], 'allow'],
    [{ allow: ['Bash(npm run test:*)'] }, ['npm', 'run', 'testing'], 'ask'],
    [{ allow: ['Bash(ls *)'] }, ['sh', '-c', 'ls -la; rm x'], 'ask'],
    [{ allow: ['Bash(ls *)', 'Bash(wc:*)'] }, ['sh', '-c', 'ls -la | wc -l'], 'allow'],
    [{ allow: ['Bash'] }, ['sh', '-c', 'ls -la | wc -l'], 'allow'],
    [{ allow: ['Bash(*)'] }, ['sh', '-c', 'ls > f'], 'ask'],
    [{ allow: ['Bash'], deny: ['Bash(rm *)'] }, ['sh', '-c', 'ls; sudo rm x'], 'deny'],
    [{ allow: ['Bash'], ask: ['Bash(git push *)'] }, ['git', 'push', 'origin'], 'ask'],
    [{ deny: ['Bash(git *)'], allow: ['Bash(git log)'] }, ['git', 'log'], 'deny'],
    [{ deny: ['Bash'] }, ['ls'], 'deny'],
    [{ deny: ['Bash(*)'] }, ['ls'], 'deny'],
    [{ allow: ['Bash()'] }, ['ls'], 'ask'],
    [{ deny: ['Bash()'] }, ['ls'], 'deny'],
    [{ deny: ['Bash(rm *'] }, ['ls'], 'deny'],
    [{ allow: ['Bash(ls *'] }, ['ls', 'x'], 'ask'],
    [{ deny: ['Bash(;;)'] }, ['ls'], 'deny'],
    [{ deny: ['Bash(echo * > /etc/*)'] }, ['echo', 'a'], 'deny'],
    [{ deny: ['Bash(curl * | sh)'] }, ['sh', '-c', 'curl x | sh'], 'deny'],
    [{ allow: ['Bash(^ls.*$)', 'Bash(/ls/)'] }, ['ls'], 'ask'],
  ])('%j and %j: %s', async (lists, argv, effect) => {
    const { rules } = importLists(lists)
    const runtime = await openRuntime({
      tools: [codeTools()],
      policy: { rules },
      approve: personSaying('deny').approve,
    })
    expect(await judge(runtime, 'code.run_command', { argv: [...argv] })).toBe(effect)
  })
})

describe('rules that cannot be taken over (PERM-11)', () => {
  test('each is named with its place, what became of it and why', () => {
    const allow = [
      '',
      '(x)',
      '/^Bash$/',
      'Bash(ls',
      'Bash)',
      'Bash()',
      'Bash(a && b)',
      'Bash(a > f)',
      'Bsh(ls)',
      'Read(!x)',
      'Read(a/../../b)',
      'W*',
      'mcp__',
      'Edit(src/*.{a,b})',
    ]
    const { rules, notes } = importLists({ allow })
    expect(rules).toEqual([])
    expect(notes.map(({ pointer, rule, became }) => [pointer, rule, became])).toEqual(
      allow.map((rule, index) => [`/permissions/allow/${index}`, rule, 'left_out']),
    )
    expect(noted(notes)).toEqual(
      expect.arrayContaining([
        'Bsh(ls) | left_out | no tool is called "Bsh"; perhaps "Bash" is meant',
        'Bash(ls | left_out | its parentheses do not match',
        'Bash() | left_out | its specifier is empty',
      ]),
    )
    for (const { reason } of notes) expect(reason).toMatch(/^[^.]/)
  })

  test('a deny of a redirection holds whatever the file, and that is said', () => {
    expect(noted(importLists({ deny: ['Bash(echo * > /etc/*)', 'Bash(echo a)'] }).notes)).toEqual([
      'Bash(echo * > /etc/*) | wider | files that are redirected to are not looked at, so it holds with any',
    ])
  })

  test('where they deny or ask, they do so for the whole tool', () => {
    const { rules, notes } = importLists({
      deny: ['Read(', 'Glob(!x)', 'WebFetch(x)', 'Task()'],
      ask: ['Bash(ls))'],
    })
    expect(rules.map(({ effect, tools: names, ...more }) => [effect, names, Object.keys(more)])).toEqual([
      ['deny', ['code.glob', 'code.list_dir', 'code.lsp', 'code.read_file', 'code.search'], ['id']],
      ['deny', ['code.glob'], ['id']],
      ['deny', ['web.fetch'], ['id']],
      ['deny', ['agent.create_sub_agent'], ['id']],
      ['ask', ['code.run_command', 'code.run_shell'], ['id']],
    ])
    for (const note of notes) {
      expect(note.became).toBe('wider')
      expect(note.reason).toContain('so it holds for every call of the tool')
    }
    expect(notes).toHaveLength(5)
  })

  test('a rule that is there twice is one, and of two that contradict each other the stricter one wins and is named', () => {
    const { rules, notes } = importLists({
      allow: ['Bash(rm *)', 'TodoWrite', 'Edit(a/**)', 'Edit(a/**)', ' Edit(a/**) '],
      ask: ['Bash(rm *)', 'TodoWrite'],
      deny: ['Bash(rm *)', 'Bash(rm *)'],
    })
    expect(rules.map(({ id }) => id)).toEqual(['deny Bash(rm *)', 'ask TodoWrite', 'allow Edit(a/**)'])
    expect(noted(notes)).toEqual([
      'Bash(rm *) | left_out | "deny Bash(rm *)" speaks of the same calls and wins',
      'Bash(rm *) | left_out | "deny Bash(rm *)" speaks of the same calls and wins',
      'TodoWrite | left_out | "ask TodoWrite" speaks of the same calls and wins',
    ])
  })

  test.each<[unknown, readonly string[]]>([
    [undefined, ['']],
    [[], ['']],
    ['Bash', ['']],
    [{ permissions: 'all' }, ['/permissions']],
    [
      { permissions: { allow: 'Bash', deny: [1, 'Read', null], ask: {} } },
      ['/permissions/deny/0', '/permissions/deny/2', '/permissions/ask', '/permissions/allow'],
    ],
    [
      { permissions: { defaultMode: 1, additionalDirectories: [{}] } },
      ['/permissions/additionalDirectories/0', '/permissions/defaultMode'],
    ],
  ])('settings of another shape are refused with every issue: %j', (settings, pointers) => {
    let thrown: unknown
    try {
      importRules(settings)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(SetupError)
    expect((thrown as SetupError).issues.map(({ pointer }) => pointer)).toEqual(pointers)
  })

  test('settings without permissions come to nothing', () => {
    expect(importRules({})).toEqual({ rules: [], notes: [] })
    expect(importRules({ model: 'big', permissions: {} })).toEqual({ rules: [], notes: [] })
  })
})

// --- properties -------------------------------------------------------------------------------------------------------------------

const toolName = fc.oneof(
  fc.constantFrom(
    'Bash',
    'Read',
    'Edit',
    'Write',
    'Glob',
    'WebFetch',
    'Agent',
    'Skill',
    'Task',
    'mcp__a__b',
    'mcp__*',
    'mcp__a',
    '*',
    'Web*',
    'Unknown',
  ),
  fc.string({ maxLength: 6 }),
)
const specifier = fc.oneof(
  fc.constantFrom(
    '*',
    '**',
    '',
    'npm run x:*',
    'git *',
    'a && b',
    'domain:*.x.com',
    'domain:x',
    'model:a',
    '~/x',
    '//x/**',
    './x',
    '/x/',
    '../x',
    'a;',
    '"',
    '>',
    '!x',
    '[',
    '{a',
    '\\',
  ),
  fc.string({ maxLength: 10 }),
)
const ruleText = fc.oneof(
  toolName,
  fc.tuple(toolName, specifier).map(([name, inside]) => `${name}(${inside})`),
  fc.string({ maxLength: 12 }),
)
const ruleTexts = fc.array(ruleText, { maxLength: 8 })

/** What a rule is about, whatever it says of it. */
const matchersOf = (rule: Rule) => JSON.stringify({ ...rule, id: undefined, effect: undefined })

test('whatever stands in the lists, what comes out has no issue, and each rule is there, or one that is stricter, or it is named (PERM-11)', async () => {
  const project = makeFolder()
  await fc.assert(
    fc.asyncProperty(
      fc.record({ allow: ruleTexts, ask: ruleTexts, deny: ruleTexts }),
      fc.boolean(),
      async (lists, own) => {
        const of = own ? undefined : '/srv/app'
        const { rules, notes } = importLists(lists, of)
        const runtime = await createRuntime({ project, policy: { rules } })
        await runtime.close()
        const named = new Set(notes.map(({ pointer }) => pointer))
        for (const [list, texts] of Object.entries(lists))
          for (const [index, text] of texts.entries()) {
            const [alone] = importLists({ [list]: [text] }, of).rules
            const taken = alone !== undefined && rules.some((rule) => matchersOf(rule) === matchersOf(alone))
            expect([text, taken || named.has(`/permissions/${list}/${index}`)]).toEqual([text, true])
          }
        const strongest = new Set(importLists({ deny: lists.deny }, of).rules.map(matchersOf))
        for (const rule of rules)
          if (rule.effect !== 'deny') expect([...strongest]).not.toContain(matchersOf(rule))
      },
    ),
    { numRuns: rounds({ usual: 8, long: 150 }) },
  )
})

/** What an ignore file would say of a path, written apart from the code under test: a regular expression. */
function ignores(pattern: string, path: string, anywhere: boolean): boolean {
  const body = pattern.replace(/^\.?\//, '')
  const source = body
    .split('/')
    .map((segment) =>
      segment === '**'
        ? '.*'
        : segment.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]'),
    )
    .join('/')
    .replaceAll('.*/', '(?:.*/)?')
    .replaceAll('/.*', '/.+')
  return new RegExp(`^${anywhere && !pattern.startsWith('/') ? '(?:.*/)?' : ''}${source}$`).test(path)
}

const segment = fc.constantFrom('a', 'b', 'src', 'x.ts', '.env')
const pathPattern = fc
  .tuple(
    fc.constantFrom('', '/', './'),
    fc.array(fc.oneof(segment, fc.constantFrom('*', '**', 'a*', '*.ts', '?')), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([start, segments]) => start + segments.join('/'))
const relativePath = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))

test('no path is allowed that the rule did not allow, and none passes that it denied (PERM-11)', async () => {
  const place = makePlaces()
  await fc.assert(
    fc.asyncProperty(
      pathPattern,
      fc.array(relativePath, { minLength: 4, maxLength: 8 }),
      async (pattern, paths) => {
        const allowing = await open({ allow: [`Edit(${pattern})`] }, place)
        const denying = await open({ deny: [`Edit(${pattern})`] }, place)
        for (const path of paths) {
          const input = { path: `${place.project}/${path}` }
          if ((await judge(allowing, 'code.edit_file', input)) === 'allow')
            expect([pattern, path, ignores(pattern, path, pattern === '*' || pattern === '**')]).toEqual([
              pattern,
              path,
              true,
            ])
          if (ignores(pattern, path, true))
            expect([pattern, path, await judge(denying, 'code.edit_file', input)]).toEqual([
              pattern,
              path,
              'deny',
            ])
        }
        await allowing.close()
        await denying.close()
      },
    ),
    { numRuns: rounds({ usual: 6, long: 100 }) },
  )
})
